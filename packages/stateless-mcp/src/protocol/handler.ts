import type { AuthInfo } from './auth-info.ts';
import type { MethodTable } from './methods.ts';
import type { ExtensionNotification, McpNotification } from './notifications.ts';
import type { McpResult, RequestParams } from './result.ts';

/** One self-contained request: what is asked, without anything that belongs to the connection it came by. */
export interface McpRequest {
  readonly method: string;
  readonly params: RequestParams;
}

/** Reads a header by its name, in any case. `null` if it is absent; the empty string is a value. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** The HTTP request an exchange came by. */
export interface HttpRequestInfo {
  readonly headers: HeaderReader;
  /** Path and query as sent, or the absolute URL where the platform knows it. */
  readonly url: string;
  /** Network address of the peer, where the platform tells. Behind a proxy it is the proxy's. */
  readonly address?: string;
}

/** Everything about one request that is not in its parameters. */
export interface Exchange {
  /** Give up: the caller left, cancelled, or ran out of time. Nothing will be read any more. */
  readonly signal: AbortSignal;
  /** Finish up: this end is draining. Streams return their result; calls may run on until `signal`. */
  readonly closing: AbortSignal;
  /** The caller asked for progress. What is sent without that is dropped. */
  readonly wantsProgress: boolean;
  /** The revisions this endpoint serves, for `server/discover` and −32022. The newest first. */
  readonly versions: readonly string[];
  /**
   * Sends a notification that belongs to this request. A promise means that the channel is full: it settles when there
   * is room again, or when the exchange is over. Who produces without end waits for it.
   */
  notify(notification: McpNotification | ExtensionNotification): void | Promise<void>;
  /**
   * Whoever waits for the result hears here of signs of life that carry no message, such as comments of an event
   * stream. Client bindings call it; absent where nobody counts the time.
   */
  alive?(): void;
  readonly auth?: AuthInfo | undefined;
  /** Absent where there is no HTTP. */
  readonly http?: HttpRequestInfo | undefined;
}

/** One stateless exchange. Resolves with a complete result; throws {@link McpError} for an error to send. */
export type McpHandler = (request: McpRequest, exchange: Exchange) => Promise<McpResult>;

/** What a server binding serves: a handler that also says which methods it knows. */
export interface McpEndpoint {
  readonly handler: McpHandler;
  readonly methods: MethodTable;
}

/** What {@link withExchange} can change. `undefined` takes an optional member away. */
export interface ExchangeChanges {
  readonly signal?: AbortSignal;
  readonly closing?: AbortSignal;
  readonly wantsProgress?: boolean;
  readonly versions?: readonly string[];
  readonly notify?: Exchange['notify'];
  readonly auth?: AuthInfo | undefined;
  readonly http?: HttpRequestInfo | undefined;
}

/**
 * Another exchange that differs from `exchange` in `changes`. Spreading does not do: the members of an exchange are
 * getters, some of which make their value when first asked.
 *
 * @example next(request, withExchange(exchange, { auth: undefined }));
 */
export function withExchange(exchange: Exchange, changes: ExchangeChanges): Exchange {
  return new ChangedExchange(exchange, changes);
}

class ChangedExchange implements Exchange {
  readonly #exchange: Exchange;
  readonly #changes: ExchangeChanges;

  constructor(exchange: Exchange, changes: ExchangeChanges) {
    this.#exchange = exchange;
    this.#changes = changes;
  }

  get signal(): AbortSignal {
    return this.#changes.signal ?? this.#exchange.signal;
  }

  get closing(): AbortSignal {
    return this.#changes.closing ?? this.#exchange.closing;
  }

  get wantsProgress(): boolean {
    return this.#changes.wantsProgress ?? this.#exchange.wantsProgress;
  }

  get versions(): readonly string[] {
    return this.#changes.versions ?? this.#exchange.versions;
  }

  notify(notification: McpNotification | ExtensionNotification): void | Promise<void> {
    return this.#changes.notify === undefined
      ? this.#exchange.notify(notification)
      : this.#changes.notify(notification);
  }

  alive(): void {
    this.#exchange.alive?.();
  }

  // Optional members may be taken away, so that `undefined` is a change too.
  get auth(): AuthInfo | undefined {
    return 'auth' in this.#changes ? this.#changes.auth : this.#exchange.auth;
  }

  get http(): HttpRequestInfo | undefined {
    return 'http' in this.#changes ? this.#changes.http : this.#exchange.http;
  }
}

/** Code around a handler: looks at or changes what goes in and comes out, or answers itself. */
export type McpMiddleware = (request: McpRequest, exchange: Exchange, next: McpHandler) => Promise<McpResult>;

/**
 * The same endpoint with code around its handler. The first one named is the outermost.
 *
 * @example
 * const logged = withMiddleware(server, async (request, exchange, next) => {
 *   const started = Date.now();
 *   try {
 *     return await next(request, exchange);
 *   } finally {
 *     console.error(request.method, Date.now() - started, 'ms');
 *   }
 * });
 */
export function withMiddleware(endpoint: McpEndpoint, ...middleware: readonly McpMiddleware[]): McpEndpoint {
  const handler = middleware.reduceRight<McpHandler>(
    (next, wrap) => async (request, exchange) => wrap(request, exchange, next),
    endpoint.handler,
  );
  return Object.freeze({ handler, methods: endpoint.methods });
}
