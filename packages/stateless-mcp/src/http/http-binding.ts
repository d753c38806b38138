import { type AdmissionRules, admit } from '../protocol/admission.ts';
import type { AuthInfo } from '../protocol/auth-info.ts';
import { deferred } from '../protocol/deferred.ts';
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import { McpError, toMcpError } from '../protocol/errors.ts';
import type { DrainOptions } from '../protocol/drain-options.ts';
import { answerBy } from '../protocol/exchange-messages.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { valueExceedsDepth } from '../protocol/json-depth.ts';
import { MAX_JSON_DEPTH, tooDeep } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import { indexMethods, METHODS } from '../protocol/methods.ts';
import { MAX_TIMER_MS } from '../protocol/option-checks.ts';
import { MODERN_VERSIONS } from '../protocol/versions.ts';
import type { AnswerChannel } from './answer-channel.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { errorAnswer } from './error-answer.ts';
import { type ExchangeHost, HttpExchange } from './http-exchange.ts';
import type { HttpHead } from './http-head.ts';
import { type HttpLimits, type HttpOptions, limitsOf } from './http-options.ts';
import { type OriginGuard, originGuard } from './origin-guard.ts';
import { Sweep } from './sweep.ts';

/** `undefined`: the request has been answered. Otherwise its body is to be read. */
export type HeadOutcome = { readonly auth: AuthInfo | undefined } | undefined;

/** What is known of a request that is refused. */
export interface RefusedRequest {
  readonly id?: RequestId | undefined;
  readonly method?: string | undefined;
  readonly auth?: AuthInfo | undefined;
}

/** How long an aborted call's answer may take to reach its reader, before its connection is broken off. */
const LAST_WORDS_MS = 500;

/**
 * Streamable HTTP without a runtime: everything between a request whose head is known and a channel for the answer.
 * The bindings of the runtimes read bodies and write bytes.
 *
 * Specification: basic/transports/streamable-http.
 */
export class HttpBinding implements ExchangeHost {
  readonly versions: readonly string[] = MODERN_VERSIONS;
  readonly limits: HttpLimits;
  readonly logger: Logger;
  /** For what waits in the binding of a runtime, such as a body that does not arrive. */
  readonly sweep: Sweep;
  readonly #handler: McpHandler;
  readonly #rules: AdmissionRules;
  readonly #options: HttpOptions;
  readonly #path: string | undefined;
  readonly #guard: OriginGuard;
  readonly #exchanges = new Set<HttpExchange>();
  readonly #idle = deferred();
  #closeReason: DOMException | undefined;

  /** @param path the endpoint, where the binding decides it; otherwise whatever reaches the binding is meant for it */
  constructor(endpoint: McpEndpoint | McpHandler, options: HttpOptions, path?: string) {
    const { handler, methods } = typeof endpoint === 'function' ? { handler: endpoint, methods: METHODS } : endpoint;
    this.#handler = handler;
    this.#rules = { versions: this.versions, methods: indexMethods(methods) };
    this.#options = options;
    this.#path = path;
    this.logger = guarded(options.logger ?? consoleLogger);
    this.#guard = originGuard(options, this.logger);
    this.limits = limitsOf(options);
    const { upgradeAfterMs, keepAliveMs, bodyTimeoutMs, readerTimeoutMs } = this.limits;
    const shortest = Math.min(upgradeAfterMs, keepAliveMs, bodyTimeoutMs, readerTimeoutMs);
    this.sweep = new Sweep(Math.min(1000, Math.max(10, Math.floor(shortest / 10))));
  }

  /** @param known the caller, if somebody in front has verified it already */
  admitHead(head: HttpHead, channel: AnswerChannel, known?: AuthInfo): HeadOutcome | Promise<HeadOutcome> {
    try {
      this.#checkPath(head);
      this.#guard.check(head);
      const preflight = preflightHeaders(head, this.#guard);
      if (preflight !== undefined) {
        channel.answer(204, preflight);
        return undefined;
      }
      if (this.#closeReason !== undefined) throw draining();
      const { authenticate } = this.#options;
      if (known !== undefined || authenticate === undefined) return this.#admitMethod(head, known);
      const auth: unknown = authenticate(head);
      if (!isThenable(auth)) return this.#admitMethod(head, checkedAuth(auth));
      return Promise.resolve(auth).then(
        (verified) => this.#admitVerified(head, channel, verified),
        (error: unknown) => this.#refuseHead(head, channel, error),
      );
    } catch (error) {
      return this.#refuseHead(head, channel, error);
    }
  }

  #checkPath({ url }: HttpHead): void {
    if (this.#path === undefined || url === this.#path || pathOf(url) === this.#path) return;
    throw new McpError(METHOD_NOT_FOUND, `Not found: the MCP endpoint of this server is ${this.#path}`);
  }

  #admitVerified(head: HttpHead, channel: AnswerChannel, auth: unknown): HeadOutcome {
    try {
      return this.#admitMethod(head, checkedAuth(auth));
    } catch (error) {
      return this.#refuseHead(head, channel, error);
    }
  }

  #admitMethod({ method, headers }: HttpHead, auth: AuthInfo | undefined): HeadOutcome {
    if (method !== 'POST') {
      throw new McpError(INVALID_REQUEST, `Method not allowed: this endpoint takes POST, not ${excerpt(method)}`, {
        status: 405,
        headers: { Allow: 'POST' },
      });
    }
    const contentType = headers.get('content-type');
    if (contentType === null || !/^application\/json[ \t]*(?:;|$)/i.test(contentType)) {
      throw new McpError(415, 'Unsupported media type: the body must be application/json');
    }
    const contentLength = headers.get('content-length');
    if (contentLength !== null && Number(contentLength) > this.limits.maxBodyBytes) throw this.bodyTooLarge();
    return { auth };
  }

  /** A guard that fails by itself is a failure of the server: nothing of it reaches the caller. */
  #refuseHead(head: HttpHead, channel: AnswerChannel, thrown: unknown): undefined {
    const error =
      thrown instanceof McpError
        ? thrown
        : new McpError(503, toMcpError(thrown, 'authenticate', this.logger).message, {
            headers: { 'Retry-After': '5' },
          });
    this.refuse(head, channel, error);
  }

  /** Handles a message whose body was read and parsed. */
  receive(
    message: unknown,
    head: HttpHead,
    auth: AuthInfo | undefined,
    channel: AnswerChannel,
  ): HttpExchange | undefined {
    const admission = admit(message, this.#rules, head.headers);
    if (admission.kind === 'refused') {
      this.refuse(head, channel, admission.error, { id: admission.id, method: admission.method, auth });
      return undefined;
    }
    if (admission.kind === 'notification') {
      // Cancelling is closing the connection here; an id in a body could name somebody else's request.
      channel.answer(202, corsHeaders(head, this.#guard));
      return undefined;
    }
    const { id, request, row, progressToken } = admission;
    if (this.#closeReason !== undefined) {
      this.refuse(head, channel, draining(), { id, method: request.method, auth });
      return undefined;
    }
    const headers = corsHeaders(head, this.#guard);
    const exchange = new HttpExchange({ id, row, progressToken, head, auth, headers }, this, channel);
    this.#exchanges.add(exchange);
    this.sweep.add(exchange);
    answerBy(this.#handler, request, exchange);
    return exchange;
  }

  /** The same for a body that somebody in front has parsed. */
  receiveParsed(
    message: unknown,
    head: HttpHead,
    auth: AuthInfo | undefined,
    channel: AnswerChannel,
  ): HttpExchange | undefined {
    if (!valueExceedsDepth(message, MAX_JSON_DEPTH)) return this.receive(message, head, auth, channel);
    this.refuse(head, channel, tooDeep(), { auth });
    return undefined;
  }

  release(exchange: HttpExchange): void {
    this.sweep.remove(exchange);
    this.#exchanges.delete(exchange);
    this.#resolveIfIdle();
  }

  /** Answers with an error before the message reached the handler. */
  refuse(head: HttpHead, channel: AnswerChannel, error: McpError, { id, method, auth }: RefusedRequest = {}): void {
    const { status, headers, text } = errorAnswer(error, id, this.logger);
    channel.answer(status, { ...headers, ...corsHeaders(head, this.#guard) }, text);
    try {
      this.#options.onRefused?.({
        status,
        code: error.code,
        reason: error.message,
        ...(method !== undefined && { method }),
        ...(auth !== undefined && { principal: auth.principal }),
      });
    } catch (thrown) {
      this.logger.error('onRefused failed', { error: thrown });
    }
  }

  bodyTooLarge(): McpError {
    return new McpError(413, `Content too large: a body may have ${this.limits.maxBodyBytes} bytes (maxBodyBytes)`);
  }

  bodyTooSlow(): McpError {
    return new McpError(
      408,
      `Request timeout: the body did not arrive in ${this.limits.bodyTimeoutMs} ms (bodyTimeoutMs)`,
    );
  }

  /** For a body that could not be read at all: something in front has used it up. */
  bodyUnreadable(cause: unknown): McpError {
    this.logger.error('The body of a request was read before it reached the endpoint; hand it over as parsedBody', {
      error: cause,
    });
    return new McpError(INTERNAL_ERROR, 'Internal error: the body could not be read', { status: 500 });
  }

  /**
   * Stops in good order: new requests get 503, listen streams their result, running calls their time; what still runs
   * after that is aborted. Resolves when nothing is open any more.
   */
  async drain({ graceMs = 10_000 }: DrainOptions = {}): Promise<void> {
    if (!(graceMs >= 0)) throw new RangeError(`drain: graceMs must be 0 or more, not ${String(graceMs)}`);
    this.#closeReason ??= new DOMException('The server is shutting down', 'AbortError');
    for (const exchange of this.#exchanges) exchange.close(this.#closeReason);
    this.#resolveIfIdle();
    // A second call with less patience has timers of its own.
    const abortAll = (): void => {
      for (const exchange of this.#exchanges) exchange.abort(draining());
    };
    const grace = Math.min(graceMs, MAX_TIMER_MS - LAST_WORDS_MS);
    const timers = [setTimeout(abortAll, grace), setTimeout(abortAll, grace + LAST_WORDS_MS)];
    await this.#idle.promise;
    timers.forEach(clearTimeout);
  }

  #resolveIfIdle(): void {
    if (this.#closeReason !== undefined && this.#exchanges.size === 0) this.#idle.resolve();
  }
}

function draining(): McpError {
  return new McpError(503, 'The server is shutting down', { headers: { 'Retry-After': '1', Connection: 'close' } });
}

/** Path of a request target, which may be a whole URL. */
function pathOf(target: string): string | undefined {
  const path = target.startsWith('/') ? target : URL.canParse(target) ? new URL(target).pathname : undefined;
  return path?.split('?', 1)[0];
}

/** Nobody is let in by mistake: what names no principal is a failure of the guard. */
function checkedAuth(auth: unknown): AuthInfo | undefined {
  if (auth === undefined || isAuthInfo(auth)) return auth;
  throw new TypeError('authenticate must return undefined or an object with a principal, a string');
}

function isAuthInfo(auth: unknown): auth is AuthInfo {
  return typeof auth === 'object' && auth !== null && 'principal' in auth && typeof auth.principal === 'string';
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
