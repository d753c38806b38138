import { describe, expect, onTestFinished } from 'vitest';
import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  type McpEndpoint,
  type McpHandler,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
} from '../src/protocol/index.ts';
import { fetchWire, nodeWire } from './matrix/http-wires.ts';
import { loopbackWire } from './matrix/loopback-wire.ts';
import { stdioWire } from './matrix/stdio-wire.ts';
import type { HttpDetails, HttpRequestOptions, OpenAnswer, ServeWire, Wire, WireOptions } from './matrix/wire.ts';
import type { WireMessage } from './message-stream.ts';

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
  /** For tests over HTTP alone. */
  readonly http?: HttpRequestOptions;
}

/** One request and everything that came back for it. */
export interface Answer {
  /** The response, with `result` or `error`. */
  readonly message: WireMessage;
  /** What came before the response. */
  readonly notifications: readonly WireMessage[];
  /** Absent where there is no HTTP: see {@link expectHttp}. */
  readonly http: HttpDetails | undefined;
}

export interface MatrixClient {
  request(method: string, params?: Params, options?: RequestOptions): Promise<Answer>;
  /** Like `request`, for requests that must succeed. */
  result(method: string, params?: Params, options?: RequestOptions): Promise<Params>;
  /** Like `request`, for requests that must fail. */
  error(method: string, params?: Params, options?: RequestOptions): Promise<NonNullable<WireMessage['error']>>;
  open(method: string, params?: Params, options?: RequestOptions): Promise<OpenAnswer>;
  /** Stops the serving end in good order. For tests over wires. */
  drain(): Promise<void>;
}

/** Serves an endpoint for the time of one test. */
export type Connect = (endpoint: McpEndpoint | McpHandler, options?: WireOptions) => Promise<MatrixClient>;

/** How requests come to the endpoint. */
export type Carrier = 'http' | 'stdio' | 'loopback';

const bindings: readonly { readonly name: string; readonly carrier: Carrier; readonly serve: ServeWire }[] = [
  { name: 'Fetch handler', carrier: 'http', serve: fetchWire },
  { name: 'Node server', carrier: 'http', serve: nodeWire },
  { name: 'stdio', carrier: 'stdio', serve: stdioWire },
  { name: 'loopback', carrier: 'loopback', serve: loopbackWire },
];

export interface MatrixOptions {
  /**
   * - `everything` (default): the behaviour is the same whatever carries the messages
   * - `wires`: it is about what a server writes, or about the end of its serving. A loopback has neither: it hands out what
   *   a client makes of an answer, and has nothing that could be drained
   * - `http`: it is about HTTP, or about a connection for each request, whose ids then need not differ
   */
  readonly over?: 'everything' | 'wires' | 'http';
}

/** Runs behaviour tests once over every binding that they are about. */
export function describeMatrix(
  name: string,
  tests: (connect: Connect, carrier: Carrier) => void,
  { over = 'everything' }: MatrixOptions = {},
): void {
  const chosen = bindings.filter(
    ({ carrier }) => over === 'everything' || carrier === 'http' || (over === 'wires' && carrier === 'stdio'),
  );
  describe.each(chosen.map((binding) => [binding.name, binding] as const))(`${name} (%s)`, (_, { carrier, serve }) => {
    tests(async (endpoint, options = {}) => {
      const wire = await serve(endpoint, options);
      onTestFinished(async () => wire.close());
      return clientOf(wire, carrier);
    }, carrier);
  });
}

/** Checks what HTTP says about an answer beside its message, where there is HTTP. */
export function expectHttp(
  { http }: { readonly http: HttpDetails | undefined },
  expected: {
    readonly status?: number;
    readonly isStream?: boolean;
    /** By name; a text, or a matcher for one. */
    readonly headers?: Readonly<Record<string, unknown>>;
  },
): void {
  if (http === undefined) return;
  const headers = Object.keys(expected.headers ?? {}).map((name) => [name, http.headers.get(name)]);
  expect({ ...http, headers: Object.fromEntries(headers) }).toMatchObject(expected);
}

function clientOf({ open, drain }: Wire, carrier: Carrier): MatrixClient {
  let lastId = 0;

  async function send(method: string, params: Params = {}, options: RequestOptions = {}): Promise<OpenAnswer> {
    const { auth, meta, signal, id = ++lastId, http } = options;
    if (http !== undefined && carrier !== 'http') throw new Error('Tests with options for HTTP run over HTTP alone');
    const required = { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {} };
    const request = { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...required, ...meta } } } as const;
    return open(request, { auth, signal, http });
  }

  async function request(method: string, params?: Params, options?: RequestOptions): Promise<Answer> {
    const { http, next } = await send(method, params, options);
    const messages: WireMessage[] = [];
    for (let message = await next(); message !== undefined; message = await next()) messages.push(message);
    const message = messages.pop();
    if (message === undefined || message.method !== undefined) throw new Error(`${method} was not answered`);
    return { message, notifications: messages, http };
  }

  return {
    request,
    open: send,
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
  };
}
