import { type AdmissionRules, admit } from '../protocol/admission.ts';
import type { AuthInfo } from '../protocol/auth-info.ts';
import { INVALID_REQUEST } from '../protocol/error-codes.ts';
import { McpError, toMcpError } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { McpEndpoint, McpHandler, McpRequest } from '../protocol/handler.ts';
import { serialiseError } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import { consoleLogger, type Logger } from '../protocol/logger.ts';
import { indexMethods, METHODS } from '../protocol/methods.ts';
import { MODERN_VERSIONS } from '../protocol/versions.ts';
import type { AnswerChannel } from './answer-channel.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { type ExchangeHost, HttpExchange } from './http-exchange.ts';
import type { HttpHead } from './http-head.ts';
import { type HttpLimits, type HttpOptions, limitsOf, type Refusal } from './http-options.ts';
import { httpStatus } from './http-status.ts';
import { type OriginGuard, originGuard } from './origin-guard.ts';
import { Sweep } from './sweep.ts';

/** How {@link HttpBinding.drain} goes about it. */
export interface DrainOptions {
  /** Milliseconds for running calls to finish in, before they are aborted. Default: 10,000. */
  readonly graceMs?: number;
}

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
  readonly #handler: McpHandler;
  readonly #rules: AdmissionRules;
  readonly #options: HttpOptions;
  readonly #guard: OriginGuard;
  readonly #closing = new AbortController();
  readonly #sweep: Sweep;
  readonly #exchanges = new Set<HttpExchange>();
  #drained: Promise<void> | undefined;
  #whenIdle: () => void = () => {};

  constructor(endpoint: McpEndpoint | McpHandler, options: HttpOptions) {
    const { handler, methods } = typeof endpoint === 'function' ? { handler: endpoint, methods: METHODS } : endpoint;
    this.#handler = handler;
    this.#rules = { versions: this.versions, methods: indexMethods(methods) };
    this.#options = options;
    this.#guard = originGuard(options);
    this.limits = limitsOf(options);
    this.logger = options.logger ?? consoleLogger;
    const { upgradeAfterMs, keepAliveMs, bodyTimeoutMs, readerTimeoutMs } = this.limits;
    const shortest = Math.min(upgradeAfterMs, keepAliveMs, bodyTimeoutMs, readerTimeoutMs);
    this.#sweep = new Sweep(Math.min(1000, Math.max(10, Math.floor(shortest / 10))));
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** For what waits in the binding of a runtime, such as a body that does not arrive. */
  get sweep(): Sweep {
    return this.#sweep;
  }

  /**
   * Checks the head. `undefined`: go on with the body. Otherwise the request has been answered.
   *
   * @param known the caller, if somebody in front has verified it already
   */
  admitHead(head: HttpHead, channel: AnswerChannel, known?: AuthInfo): HeadOutcome | Promise<HeadOutcome> {
    try {
      this.#guard.check(head);
      const preflight = preflightHeaders(head, this.#guard);
      if (preflight !== undefined) {
        channel.answer(204, preflight);
        return undefined;
      }
      if (this.closing.aborted) throw draining();
      const { authenticate } = this.#options;
      if (known !== undefined || authenticate === undefined) return this.#admitMethod(head, known);
      const auth = authenticate(head);
      if (!(auth instanceof Promise)) return this.#admitMethod(head, auth);
      return auth
        .then((verified) => this.#admitMethod(head, verified))
        .catch((error: unknown) => this.#refuseHead(head, channel, error));
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
      const principal = auth === undefined ? undefined : { principal: auth.principal };
      const method = admission.method === undefined ? undefined : { method: admission.method };
      this.refuse(head, channel, admission.error, admission.id, { ...method, ...principal });
      return undefined;
    }
    if (admission.kind === 'notification') {
      // Cancelling is closing the connection here; an id in a body could name somebody else's request.
      channel.answer(202, corsHeaders(head, this.#guard));
      return undefined;
    }
    const { id, request, row, progressToken } = admission;
    if (this.closing.aborted) {
      this.refuse(head, channel, draining(), id, { method: request.method });
      return undefined;
    }
    const headers = corsHeaders(head, this.#guard);
    const exchange = new HttpExchange({ id, row, progressToken, head, auth, headers }, this, channel);
    this.#exchanges.add(exchange);
    this.#sweep.add(exchange);
    this.#run(request, exchange);
    return exchange;
  }

  #run(request: McpRequest, exchange: HttpExchange): void {
    // A handler may be any function: one that throws instead of rejecting is answered like all others.
    try {
      this.#handler(request, exchange).then(
        (result) => exchange.finish(result),
        (error: unknown) => exchange.fail(error),
      );
    } catch (error) {
      exchange.fail(error);
    }
  }

  release(exchange: HttpExchange): void {
    this.#sweep.remove(exchange);
    this.#exchanges.delete(exchange);
    if (this.#exchanges.size === 0) this.#whenIdle();
  }

  /** Answers with an error before the message reached the handler. */
  refuse(
    head: HttpHead,
    channel: AnswerChannel,
    error: McpError,
    id?: RequestId,
    about?: Pick<Refusal, 'method' | 'principal'>,
  ): void {
    const status = httpStatus(error);
    const headers = { 'Content-Type': 'application/json', ...error.headers, ...corsHeaders(head, this.#guard) };
    channel.answer(status, headers, serialiseError(id, error));
    try {
      this.#options.onRefused?.({ status, code: error.code, reason: error.message, ...about });
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

  /**
   * Stops in good order: new requests get 503, listen streams their result, running calls their time; what still runs
   * after that is aborted. Resolves when nothing is open any more.
   */
  async drain({ graceMs = 10_000 }: DrainOptions = {}): Promise<void> {
    this.#closing.abort(new DOMException('The server is shutting down', 'AbortError'));
    this.#drained ??= new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      if (this.#exchanges.size === 0) resolve();
    });
    // A second call with less patience has its own timer.
    const timer = setTimeout(() => {
      for (const exchange of this.#exchanges) exchange.abort(draining());
    }, graceMs);
    await this.#drained;
    clearTimeout(timer);
  }
}

/** `undefined`: answered already. */
export type HeadOutcome = { readonly auth: AuthInfo | undefined } | undefined;

function draining(): McpError {
  return new McpError(503, 'The server is shutting down', { headers: { 'Retry-After': '1', Connection: 'close' } });
}
