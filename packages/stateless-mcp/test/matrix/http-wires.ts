import { request } from 'node:http';
import { Readable } from 'node:stream';
import { fetchHandler, type HttpOptions } from '../../src/http/index.ts';
import { serveHttp } from '../../src/node/index.ts';
import {
  type AuthInfo,
  encodeHeaderValue,
  type McpEndpoint,
  type McpHandler,
  METHODS,
  PROTOCOL_VERSION,
} from '../../src/protocol/index.ts';
import { isEventStream, readMessages } from '../message-stream.ts';
import type { ServeWire, Wire, WireOptions } from './wire.ts';

/** The Fetch handler, called as a function. */
export const fetchWire: ServeWire = async (endpoint, options) => {
  const { fetch, drain } = fetchHandler(endpoint, httpOptions(options));
  const post: Post = async (init) => untilAborted(fetch(new Request('http://server.example/mcp', init)), init.signal);
  return { open: openerOf(endpoint, post), drain, close: async () => drain({ graceMs: 0 }) };
};

/** The server on `node:http`, over sockets. */
export const nodeWire: ServeWire = async (endpoint, options) => {
  const { url, drain, close } = await serveHttp(endpoint, { ...httpOptions(options), port: 0 });
  return { open: openerOf(endpoint, async (init) => requestOnce(url, init)), drain, close };
};

const AUTH_HEADER = 'x-test-auth';

function httpOptions(options: WireOptions): HttpOptions {
  return {
    ...options,
    authenticate({ headers }) {
      const text = headers.get(AUTH_HEADER);
      return text === null ? undefined : (JSON.parse(text) as AuthInfo);
    },
  };
}

type Post = (init: PostInit) => Promise<Response>;

interface PostInit {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

function openerOf(endpoint: McpEndpoint | McpHandler, post: Post): Wire['open'] {
  const { methods } = typeof endpoint === 'function' ? { methods: METHODS } : endpoint;
  return async (request, { auth, signal, http: { accept = 'application/json, text/event-stream', headers } = {} }) => {
    const { method, params } = request;
    const target = params[methods.find(({ name }) => name === method)?.target ?? ''];
    const leaving = new AbortController();
    const response = await post({
      method: 'POST',
      headers: present({
        'content-type': 'application/json',
        accept,
        'mcp-protocol-version': PROTOCOL_VERSION,
        'mcp-method': method,
        'mcp-name': typeof target === 'string' ? encodeHeaderValue(target) : undefined,
        [AUTH_HEADER]: auth === undefined ? undefined : JSON.stringify(auth),
        ...headers,
      }),
      body: JSON.stringify(request),
      signal: signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]),
    });
    const { next, cancel } = readMessages(response);
    const close = async (): Promise<void> => {
      leaving.abort();
      await cancel();
    };
    const { status } = response;
    const details = { status, headers: response.headers, isStream: isEventStream(response.headers) };
    return { http: details, next, close, [Symbol.asyncDispose]: close };
  };
}

function present(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return Object.fromEntries(entries) as Record<string, string>;
}

/** As `fetch` over a network does it: who aborts a request need not wait for its answer. */
async function untilAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([response, aborted]);
}

/**
 * On a connection of its own, which is closed behind the answer. One that is kept may be closed by the server just when the
 * next request is written, which on a busy machine happens.
 */
async function requestOnce(url: string, { method, headers, body, signal }: PostInit): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, signal, agent: false }, (answer) => {
      const { statusCode: status = 0, rawHeaders } = answer;
      const lines = Array.from({ length: rawHeaders.length / 2 }, (_, index) =>
        rawHeaders.slice(index * 2, index * 2 + 2),
      );
      resolve(new Response(Readable.toWeb(answer) as ReadableStream, { status, headers: lines as [string, string][] }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
