import type { AuthInfo } from '../protocol/auth-info.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import type { Exchange, HttpRequestInfo, McpRequest } from '../protocol/handler.ts';
import type { Implementation } from '../protocol/implementation.ts';
import { atLeast, type LoggingLevel } from '../protocol/logging.ts';
import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, LOG_LEVEL_META_KEY } from '../protocol/meta.ts';
import type { RequestMeta } from '../protocol/meta.ts';

/** The client, as it describes itself in this one request. */
export interface ClientDescription {
  readonly capabilities: ClientCapabilities;
  /** For display and logs. Unverified: never decide by it. */
  readonly info: Implementation | undefined;
}

/**
 * What a handler knows about its request and can do with it. Flat, and every member may be destructured.
 *
 * @example
 * async ({ paths }, { progress, signal }) => {
 *   for (const [index, path] of paths.entries()) {
 *     await convert(path, { signal });
 *     await progress(index + 1, paths.length);
 *   }
 *   return 'done';
 * };
 */
export interface RequestContext {
  /** Aborts when the caller is gone, or when the handler took longer than it may. */
  readonly signal: AbortSignal;
  /** Aborts when the server starts to drain. Calls may run on; what has no end should find one. */
  readonly closing: AbortSignal;
  /** The verified caller. Absent where nobody authenticates. */
  readonly auth: AuthInfo | undefined;
  /** Headers and URL of the HTTP request. Absent on other transports. */
  readonly http: HttpRequestInfo | undefined;
  readonly client: ClientDescription;
  /** Metadata of the request, as the client sent it. */
  readonly meta: RequestMeta;
  /** The caller asked for progress. Reporting without that costs nothing and goes nowhere. */
  readonly wantsProgress: boolean;
  /**
   * Reports how far the work has come. Values that do not grow are dropped, as is everything after the result. A promise
   * means that the caller reads slowly: who reports without end waits for it.
   */
  progress(this: void, progress: number, total?: number, message?: string): void | Promise<void>;
  /**
   * Sends a log message to the caller, if it asked for this level. `data` is any JSON value. A promise means that the
   * caller reads slowly.
   * @deprecated by revision 2026-07-28, still served.
   */
  log(this: void, level: LoggingLevel, data: unknown, logger?: string): void | Promise<void>;
}

/** Contexts are made per request and often not looked at: every member that costs something is made when asked for. */
export class HandlerContext implements RequestContext {
  readonly #request: McpRequest;
  readonly #exchange: Exchange;
  readonly #signal: AbortSignal | undefined;
  readonly #isPublic: boolean;
  #lastProgress = -Infinity;
  #over = false;

  /**
   * @param signal instead of that of the exchange
   * @param isPublic the result is declared to be the same for everybody, so that nothing may depend on the caller
   */
  constructor(request: McpRequest, exchange: Exchange, signal?: AbortSignal, isPublic = false) {
    this.#request = request;
    this.#exchange = exchange;
    this.#signal = signal;
    this.#isPublic = isPublic;
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#exchange.signal;
  }

  get closing(): AbortSignal {
    return this.#exchange.closing;
  }

  get auth(): AuthInfo | undefined {
    this.#refuseIfPublic('auth');
    return this.#exchange.auth;
  }

  get http(): HttpRequestInfo | undefined {
    this.#refuseIfPublic('http');
    return this.#exchange.http;
  }

  get meta(): RequestMeta {
    this.#refuseIfPublic('meta');
    return this.#request.params._meta;
  }

  get wantsProgress(): boolean {
    return this.#exchange.wantsProgress;
  }

  get client(): ClientDescription {
    this.#refuseIfPublic('client');
    const { _meta } = this.#request.params;
    return {
      capabilities: _meta[CLIENT_CAPABILITIES_META_KEY],
      info: readImplementation(_meta[CLIENT_INFO_META_KEY]),
    };
  }

  get progress(): RequestContext['progress'] {
    return (progress, total, message) => {
      if (this.#over || !this.#exchange.wantsProgress) return undefined;
      if (!Number.isFinite(progress) || progress <= this.#lastProgress) return undefined;
      this.#lastProgress = progress;
      const params = { progress, ...(Number.isFinite(total) && { total }), ...(message !== undefined && { message }) };
      return this.#exchange.notify({ method: 'notifications/progress', params });
    };
  }

  get log(): RequestContext['log'] {
    return (level, data, logger) => {
      const wanted = this.#request.params._meta[LOG_LEVEL_META_KEY];
      if (this.#over || wanted === undefined || !atLeast(level, wanted)) return undefined;
      const params = { level, ...(logger !== undefined && { logger }), data: data ?? null };
      return this.#exchange.notify({ method: 'notifications/message', params });
    };
  }

  /** Nothing is sent any more: the handler has settled. */
  end(): void {
    this.#over = true;
  }

  #refuseIfPublic(member: string): void {
    if (!this.#isPublic) return;
    throw new TypeError(
      `ctx.${member} was read while making a result declared as cacheScope 'public': what depends on the caller must be 'private'`,
    );
  }
}

/** A malformed self-description is ignored, because nothing may depend on it. */
function readImplementation(info: Implementation | undefined): Implementation | undefined {
  return typeof info?.name === 'string' && typeof info.version === 'string' ? info : undefined;
}
