import { describe, onTestFinished } from 'vitest';
import { fetchHandler, type HttpOptions } from '../src/http/index.ts';
import { serveHttp } from '../src/node/index.ts';
import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  encodeHeaderValue,
  type McpEndpoint,
  type McpHandler,
  METHODS,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
} from '../src/protocol/index.ts';
import { isEventStream, readMessages, type WireMessage } from './message-stream.ts';

export type { WireMessage } from './message-stream.ts';

export type Params = Readonly<Record<string, unknown>>;

export interface RequestOptions {
  /** Who calls. The binding believes it. Default: nobody. */
  readonly auth?: AuthInfo | undefined;
  /** Added to the required metadata. */
  readonly meta?: Params;
  readonly signal?: AbortSignal;
  /** Default: counts up. */
  readonly id?: string | number;
  /** HTTP only: default takes both forms of answers. */
  readonly accept?: string;
  /** HTTP only: added to the headers that mirror the message. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request and everything that came back for it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The response, with `result` or `error`. */
  readonly message: WireMessage;
  /** What came before the response. */
  readonly notifications: readonly WireMessage[];
  /** The answer was a stream of events. */
  readonly isStream: boolean;
}

/** One request whose answer is read piece by piece. */
export interface OpenAnswer extends AsyncDisposable {
  readonly status: number;
  /** The next message, the response included; `undefined` after the last one. */
  next(): Promise<WireMessage | undefined>;
  /** Leaves without reading the rest. */
  close(): Promise<void>;
}

export interface MatrixClient {
  request(method: string, params?: Params, options?: RequestOptions): Promise<Answer>;
  /** Like `request`, for requests that must succeed. */
  result(method: string, params?: Params, options?: RequestOptions): Promise<Params>;
  /** Like `request`, for requests that must fail. */
  error(method: string, params?: Params, options?: RequestOptions): Promise<NonNullable<WireMessage['error']>>;
  open(method: string, params?: Params, options?: RequestOptions): Promise<OpenAnswer>;
  /** Stops the serving end in good order. */
  drain(): Promise<void>;
}

/** Serves an endpoint for the time of one test. */
export type Connect = (endpoint: McpEndpoint | McpHandler, options?: HttpOptions) => Promise<MatrixClient>;

interface Transport {
  fetch(init: RequestInit): Promise<Response>;
  drain(): Promise<void>;
  close(): Promise<void>;
}

type Binding = (endpoint: McpEndpoint | McpHandler, options: HttpOptions) => Promise<Transport>;

const bindings: Readonly<Record<string, Binding>> = {
  'Fetch handler': async (endpoint, options) => {
    const { fetch, drain } = fetchHandler(endpoint, options);
    return {
      fetch: async (init) => untilAborted(fetch(new Request('http://server.example/mcp', init)), init.signal),
      drain,
      close: async () => drain({ graceMs: 0 }),
    };
  },
  'Node server': async (endpoint, options) => {
    const { url, drain, close } = await serveHttp(endpoint, { ...options, port: 0 });
    return { fetch: async (init) => fetch(url, init), drain, close };
  },
};

/** Runs behaviour tests once over every binding. */
export function describeMatrix(name: string, tests: (connect: Connect) => void): void {
  describe.each(Object.entries(bindings))(`${name} (%s)`, (_, binding) => {
    tests(async (endpoint, options = {}) => {
      const transport = await binding(endpoint, { authenticate: readAuth, ...options });
      onTestFinished(transport.close);
      return clientOf(transport);
    });
  });
}

const AUTH_HEADER = 'x-test-auth';

function readAuth({ headers }: { readonly headers: { get(name: string): string | null } }): AuthInfo | undefined {
  const text = headers.get(AUTH_HEADER);
  return text === null ? undefined : (JSON.parse(text) as AuthInfo);
}

const targets = new Map(METHODS.map(({ name, target }) => [name, target]));

function clientOf({ fetch, drain }: Transport): MatrixClient {
  let lastId = 0;

  async function post(method: string, params: Params, options: RequestOptions): Promise<Response> {
    const { auth, meta, signal, id = ++lastId, accept = 'application/json, text/event-stream', headers } = options;
    const target = params[targets.get(method) ?? ''];
    const required = { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {} };
    const body = { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...required, ...meta } } };
    return fetch({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        'mcp-protocol-version': PROTOCOL_VERSION,
        'mcp-method': method,
        ...(typeof target === 'string' && { 'mcp-name': encodeHeaderValue(target) }),
        ...(auth !== undefined && { [AUTH_HEADER]: JSON.stringify(auth) }),
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }

  async function request(method: string, params: Params = {}, options: RequestOptions = {}): Promise<Answer> {
    const response = await post(method, params, options);
    const reader = readMessages(response);
    const messages: WireMessage[] = [];
    for (let next = await reader.next(); next !== undefined; next = await reader.next()) messages.push(next);
    const message = messages.pop();
    if (message === undefined || message.method !== undefined) throw new Error(`${method} was not answered`);
    const { status, headers } = response;
    return { status, headers, message, notifications: messages, isStream: isEventStream(headers) };
  }

  return {
    request,
    drain,
    async result(method, params, options) {
      const { message } = await request(method, params, options);
      if (message.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(message)}`);
      return message.result;
    },
    async error(method, params, options) {
      const { message } = await request(method, params, options);
      if (message.error === undefined) throw new Error(`${method} succeeded: ${JSON.stringify(message)}`);
      return message.error;
    },
    async open(method, params = {}, options = {}) {
      const leaving = new AbortController();
      const signal = options.signal ? AbortSignal.any([options.signal, leaving.signal]) : leaving.signal;
      const response = await post(method, params, { ...options, signal });
      const { next, cancel } = readMessages(response);
      const close = async (): Promise<void> => {
        leaving.abort();
        await cancel();
      };
      return { status: response.status, next, close, [Symbol.asyncDispose]: close };
    },
  };
}

/** As `fetch` over a network does it: who aborts a request need not wait for its answer. */
async function untilAborted(response: Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> {
  if (!signal) return response;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([response, aborted]);
}
