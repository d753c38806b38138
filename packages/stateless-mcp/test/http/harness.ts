import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type NodeListener, nodeListener, type NodeListenerOptions } from '../../src/node/index.ts';
import type { Logger, McpEndpoint, McpHandler, McpResult } from '../../src/protocol/index.ts';
import { mirroredHeaders } from '../wire/messages.ts';
import { RawClient, type RawResponse } from './raw-client.ts';

export const DONE: McpResult = Object.freeze({ resultType: 'complete' });

/** Header lines in order; the same name may come twice. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface RequestParts {
  readonly method?: string;
  readonly target?: string;
  readonly httpVersion?: '1.0' | '1.1';
  /** Changes of the headers that a conforming client sends; `null` leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Lines in addition, as they are. */
  readonly extraLines?: HeaderList;
  /** Default: the message as JSON, with its length. */
  readonly body?: string;
}

/** The bytes of a request as a conforming client sends it, apart from what `parts` changes. */
export function requestText(message: unknown, parts: RequestParts = {}): string {
  const { method = 'POST', target = '/mcp', httpVersion = '1.1', headers = {}, extraLines = [] } = parts;
  const body = parts.body ?? (message === undefined ? '' : JSON.stringify(message));
  const lines = new Map<string, string>([
    ['host', '127.0.0.1'],
    ['content-length', String(Buffer.byteLength(body))],
  ]);
  for (const [name, value] of Object.entries(mirroredHeaders(message))) {
    if (typeof value === 'string') lines.set(name.toLowerCase(), value);
  }
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) lines.delete(name.toLowerCase());
    else lines.set(name.toLowerCase(), value);
  }
  const all = [...lines, ...extraLines].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${target} HTTP/${httpVersion}\r\n${all}\r\n${body}`;
}

/** The same headers for a Fetch request. */
export function fetchHeaders(message: unknown): Record<string, string> {
  const entries = Object.entries(mirroredHeaders(message)).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(entries) as Record<string, string>;
}

/** A request as a conforming client sends it, for Fetch handlers. */
export function fetchRequest(
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
  init: RequestInit = {},
): Request {
  const all = { ...fetchHeaders(message), ...headers };
  return new Request('http://localhost/mcp', { method: 'POST', body: JSON.stringify(message), ...init, headers: all });
}

/** The head alone of a request whose body follows in pieces. */
export function requestHead(message: unknown, length: number | 'chunked', parts: RequestParts = {}): string {
  const framing =
    length === 'chunked'
      ? { 'content-length': null, 'transfer-encoding': 'chunked' }
      : { 'content-length': String(length) };
  return requestText(message, { ...parts, body: '', headers: { ...parts.headers, ...framing } });
}

export interface Served {
  readonly port: number;
  readonly listener: NodeListener;
  connect(): Promise<RawClient>;
  /** One request on a connection of its own. */
  send(message: unknown, parts?: RequestParts): Promise<RawResponse>;
}

/** Serves an endpoint by a node listener for any host, until the test is over. */
export async function serveNode(
  endpoint: McpEndpoint | McpHandler,
  options: Partial<NodeListenerOptions> = {},
): Promise<Served> {
  const listener = nodeListener(endpoint, { allowedHosts: 'any', logger: silentLogger, ...options });
  const port = await listenOn(listener);
  return { port, listener, connect: () => connectTo(port), send: (message, parts) => sendTo(port, message, parts) };
}

/** Any request listener on a free loopback port, until the test is over. */
export async function listenOn(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export async function connectTo(port: number): Promise<RawClient> {
  const client = await RawClient.connect(port);
  onTestFinished(() => void client.socket.destroy());
  return client;
}

export async function sendTo(port: number, message: unknown, parts?: RequestParts): Promise<RawResponse> {
  const client = await connectTo(port);
  void client.write(requestText(message, parts));
  const response = await client.response();
  client.socket.destroy();
  return response;
}

export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** A logger that keeps what it is told. */
export function recordingLogger(): Logger & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: keyof Logger) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    lines.push({ level, message, fields });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
}

export function deferred<Value = void>(): Deferred<Value> {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

/** Parks every request until it is told, or until its signal aborts. */
export function parking(): {
  readonly handler: McpHandler;
  readonly started: Promise<void>;
  readonly release: () => void;
} {
  const started = deferred();
  const end = deferred();
  return {
    started: started.promise,
    release: () => end.resolve(),
    handler: async (_request, { signal }) => {
      started.resolve();
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
        void end.promise.then(resolve);
      });
      return { ...DONE, aborted: signal.aborted };
    },
  };
}

/** Fills its channel, waits for room, until nobody reads any more. */
export const floodUntilFull: McpHandler = async (_request, exchange) => {
  const data = 'x'.repeat(64 * 1024);
  for (;;) {
    const full = exchange.notify({ method: 'notifications/message', params: { level: 'info', data } });
    if (full !== undefined) await full;
    if (exchange.signal.aborted) return DONE;
  }
};

export function sleep(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** Waits for what no event tells of. */
export async function eventually(condition: () => boolean, limitMs = 3000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`did not come true within ${limitMs} ms`);
    await sleep(5);
  }
}

/** Milliseconds that `promise` took. Fails if it takes longer than `limitMs`. */
export async function elapsed(promise: Promise<unknown>, limitMs: number): Promise<number> {
  const started = performance.now();
  await within(promise, limitMs);
  return performance.now() - started;
}

/** What `promise` resolves with, within a limit. */
export async function within<Value>(promise: Promise<Value>, limitMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    const error = new Error(`nothing happened within ${limitMs} ms`);
    timer = setTimeout(() => reject(error), limitMs);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** When a signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
