import { loopback } from '../../src/client/index.ts';
import {
  type Exchange,
  type ExtensionNotification,
  type McpNotification,
  type McpResult,
  METHODS,
  MODERN_VERSIONS,
  RemoteError,
  type RequestMeta,
  SUBSCRIPTION_ID_META_KEY,
} from '../../src/protocol/index.ts';
import type { WireMessage } from '../message-stream.ts';
import { believing, withCaller } from './auth-in-meta.ts';
import { MessageQueue } from './message-queue.ts';
import type { ServeWire, WireRequest } from './wire.ts';

const NEVER = new AbortController().signal;

/** The peer without a wire. Tests read it as all others: what a peer takes off a message is put back on. */
export const loopbackWire: ServeWire = async (endpoint, options) => {
  const peer = loopback(believing(endpoint), options);
  const streams = (typeof endpoint === 'function' ? METHODS : endpoint.methods).filter(({ stream }) => stream === true);
  const open = new Set<MessageQueue>();
  const strays: string[] = [];
  // As over a connection, what has no tags belongs to the only request there is.
  peer.on('unattributed', (notification) => {
    const [only] = open;
    if (only !== undefined && open.size === 1) only.push({ jsonrpc: '2.0', ...notification });
    else strays.push(notification.method);
  });

  return {
    async open(sent, sendOptions) {
      const { method, params } = withCaller(sent, sendOptions);
      const { progressToken, ..._meta } = params._meta;
      const tags = new Tags(
        sent,
        streams.some(({ name }) => name === method),
      );
      const queue = new MessageQueue();
      open.add(queue);
      const leaving = new AbortController();
      const { signal } = sendOptions;
      const exchange: Exchange = {
        signal: signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]),
        closing: NEVER,
        wantsProgress: progressToken !== undefined,
        versions: MODERN_VERSIONS,
        notify: (notification) => queue.push(tags.onNotification(notification)),
      };
      void peer({ method, params: { ...params, _meta: _meta as RequestMeta } }, exchange)
        .then(
          (result) => queue.push(tags.onResult(result)),
          (error: unknown) => (error instanceof RemoteError ? queue.push(tags.onError(error)) : queue.fail(error)),
        )
        .finally(() => {
          open.delete(queue);
          queue.end();
        });
      const close = async (): Promise<void> => leaving.abort();
      return { http: undefined, next: async () => queue.next(), close, [Symbol.asyncDispose]: close };
    },
    drain: async () => Promise.reject(new Error('A loopback has no serving end that could be drained')),
    async close() {
      await peer.close();
      if (strays.length > 0) throw new Error(`They belong to no request: ${strays.join(', ')}`);
    },
  };
};

/** What belongs to the hop of one request. */
class Tags {
  readonly #id: string | number;
  readonly #progressToken: unknown;
  readonly #isStream: boolean;

  constructor({ id, params }: WireRequest, isStream: boolean) {
    this.#id = id;
    this.#progressToken = params._meta.progressToken;
    this.#isStream = isStream;
  }

  onNotification({ method, params }: McpNotification | ExtensionNotification): WireMessage {
    if (this.#isStream) return { jsonrpc: '2.0', method, params: this.#ofStream(params) };
    if (method !== 'notifications/progress') return { jsonrpc: '2.0', method, ...(params !== undefined && { params }) };
    return { jsonrpc: '2.0', method, params: { progressToken: this.#progressToken, ...params } };
  }

  onResult(result: McpResult): WireMessage {
    return { jsonrpc: '2.0', id: this.#id, result: this.#isStream ? this.#ofStream(result) : result };
  }

  onError({ code, message, data }: RemoteError): WireMessage {
    return { jsonrpc: '2.0', id: this.#id, error: { code, message, ...(data !== undefined && { data }) } };
  }

  #ofStream(
    value: { readonly _meta?: object; readonly [key: string]: unknown } = {},
  ): NonNullable<WireMessage['params']> {
    return { ...value, _meta: { ...value._meta, [SUBSCRIPTION_ID_META_KEY]: this.#id } };
  }
}
