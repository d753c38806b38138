import { RemoteError } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Exchange } from '../protocol/handler.ts';
import { completeResult, type Inbound, invalidAnswer, readInbound, remoteError } from '../protocol/inbound.ts';
import { isObject } from '../protocol/json.ts';
import { parseJson } from '../protocol/json-rpc.ts';
import { LocalError, phaseOf } from '../protocol/local-error.ts';
import type { Logger } from '../protocol/logger.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { PeerListeners } from '../protocol/peer.ts';
import { hideSecrets, redactSecrets } from '../protocol/redact.ts';
import type { McpResult } from '../protocol/result.ts';
import { readBeginning, readEvents, readWhole, type StreamEvent, TooManyBytes } from './answer-reader.ts';
import { fetchFailure } from './http-failure.ts';
import type { HttpFetch, HttpFetchResponse } from './http-fetch.ts';
import { retryAfterMs } from './retry-after.ts';

const MAX_REDIRECTS = 5;
/** Of an answer that is no message, for people. */
const SHOWN_CHARACTERS = 2048;
/** More than is shown: what the limit cuts in two would not be known for a secret any more. */
const SHOWN_BYTES = 2 * SHOWN_CHARACTERS;
/** Nobody waits longer for what changes nothing: the rest of a stream after its result, a page that explains an error. */
const LAST_BYTES_MS = 1000;

/** What the calls of one peer have in common. */
export interface HttpCallHost {
  readonly fetch: HttpFetch;
  readonly endpoint: string;
  readonly maxResponseBytes: number;
  readonly logger: Logger;
  readonly listeners: PeerListeners;
  /** The server says that its endpoint has moved for good. */
  moved(url: string): void;
}

/** One message to send. */
export interface HttpCallRequest {
  readonly url: string;
  readonly id: number;
  readonly method: string;
  readonly row: MethodRow | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Values in them that must not appear in errors. */
  readonly secrets: readonly string[];
  readonly body: string;
}

/** One POST and its answer, which is the response of that POST and nothing else. */
export class HttpCall {
  readonly #host: HttpCallHost;
  readonly #request: HttpCallRequest;
  readonly #exchange: Exchange;
  readonly #signal: AbortSignal;
  #hasAnswer = false;
  readonly #leave: (reason: unknown) => void;

  /** @param leaving gives the connection up; its signal has aborted when the caller left */
  constructor(host: HttpCallHost, request: HttpCallRequest, exchange: Exchange, leaving: AbortController) {
    this.#host = host;
    this.#request = request;
    this.#exchange = exchange;
    this.#signal = leaving.signal;
    this.#leave = (reason) => leaving.abort(reason);
  }

  async run(): Promise<McpResult> {
    const response = await this.#post();
    const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    try {
      if (response.status === 401 || response.status === 403) throw await this.#unauthorized(response);
      const isStream = isSuccess(response.status) && type === 'text/event-stream';
      if (isStream && response.body !== null) return await this.#readStream(response.body);
      if (isJson(type)) return this.#settle(await this.#readJson(response), response);
    } catch (error) {
      throw this.#explained(error);
    }
    throw await this.#unexpectedStatus(response, type);
  }

  async #post(): Promise<HttpFetchResponse> {
    let { url } = this.#request;
    let isForGood = true;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      let response: HttpFetchResponse;
      try {
        response = await this.#host.fetch(url, {
          method: 'POST',
          headers: this.#request.headers,
          body: this.#request.body,
          signal: this.#signal,
          redirect: 'manual',
          timeout: false,
        });
      } catch (error) {
        throw this.#explained(error);
      }
      this.#hasAnswer = true;
      const { status } = response;
      if (status < 300 || status > 399 || status === 304) {
        if (response.type === 'opaqueredirect') throw this.#hiddenRedirect();
        return response;
      }
      await readBeginning(response.body, SHOWN_BYTES, LAST_BYTES_MS);
      url = this.#redirected(url, response);
      isForGood &&= status === 301 || status === 308;
      if (isForGood) this.#host.moved(url);
    }
    throw this.#refused(`redirects more than ${MAX_REDIRECTS} times`);
  }

  /** A POST is repeated as it is where its own origin sends it: it was not carried out where it came first. */
  #redirected(from: string, { status, headers }: HttpFetchResponse): string {
    const location = headers.get('location');
    if (location === null || !URL.canParse(location, from)) throw this.#refused(`answers ${status} without a target`);
    const target = new URL(location, from);
    if (target.origin !== new URL(from).origin) {
      throw this.#refused(
        `redirects to ${this.#redact(target.href)}, another origin: connect to that URL if you trust it`,
      );
    }
    if (target.username !== '' || target.password !== '') {
      throw this.#refused('redirects to a URL with a user name or password in it');
    }
    if (status === 303) throw this.#refused('answers 303, which would make a GET of the request', true);
    // Also the usual answer to a form whose work is done.
    if ((status === 301 || status === 302) && this.#request.row?.readOnly !== true) {
      const shown = this.#redact(target.href);
      throw this.#refused(`answers ${status}, which leaves open whether it was done; connect to ${shown}`, true);
    }
    return target.href;
  }

  #hiddenRedirect(): LocalError {
    return this.#refused('redirects, and this platform does not tell where: use the URL that it redirects to');
  }

  #refused(reason: string, maybeExecuted = false): LocalError {
    return new LocalError('refused', `${this.#host.endpoint} ${reason}`, { phase: 'http', maybeExecuted });
  }

  async #readJson(response: HttpFetchResponse): Promise<Inbound> {
    const bytes = await readWhole(response.body, this.#host.maxResponseBytes);
    let reason = 'it is no response';
    try {
      const inbound = readInbound(parseJson(bytes));
      if (inbound.kind === 'result') return inbound;
      if (inbound.kind === 'error') {
        if (isObject(inbound.error) && typeof inbound.error.code === 'number') return inbound;
        reason = 'its error has no numeric "code"';
      }
      if (inbound.kind === 'invalid') reason = inbound.reason;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    throw this.#invalid(response, reason, new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES)));
  }

  /** An answer in JSON that is no message: with a status of success the server's fault, otherwise of whoever is in front. */
  #invalid({ status, headers }: HttpFetchResponse, reason: string, body: string): LocalError {
    const isAnswer = isSuccess(status);
    const { endpoint } = this.#host;
    const { method, row } = this.#request;
    const wait = retryAfterMs(headers);
    return new LocalError(
      isAnswer ? 'invalid_answer' : 'http_status',
      `${endpoint} answered ${method} with ${status} and no valid message: ${reason}${waitText(wait)}`,
      {
        status,
        body: this.#shown(body),
        retryAfterMs: wait,
        phase: isAnswer ? phaseOf(row) : 'http',
        maybeExecuted: !isRefusal(status),
      },
    );
  }

  async #readStream(body: NonNullable<HttpFetchResponse['body']>): Promise<McpResult> {
    const events = readEvents(body, this.#host.maxResponseBytes);
    let answer: Inbound;
    try {
      answer = await this.#answerIn(events);
    } catch (error) {
      void events.return();
      throw error;
    }
    void this.#readToEnd(events);
    return this.#settle(answer);
  }

  /** Hands on what comes before the answer. */
  async #answerIn(events: AsyncIterator<StreamEvent, void>): Promise<Inbound> {
    let left = '';
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      // More may have come with what the caller left at.
      this.#signal.throwIfAborted();
      this.#exchange.alive?.();
      const event = next.value;
      if (event === undefined) continue;
      const inbound: Inbound =
        'message' in event ? readInbound(event.message) : { kind: 'invalid', reason: event.unreadable };
      switch (inbound.kind) {
        case 'result':
          if (this.#isOwnId(inbound.id)) return inbound;
          left = `a result with the id ${excerpt(String(inbound.id))}, which nobody waits for`;
          this.#ignored(left);
          break;
        case 'error':
          return inbound;
        case 'notification':
          await this.#deliver(inbound);
          break;
        case 'invalid':
          left = inbound.reason;
          this.#ignored(left);
          break;
        case 'cancelled':
          // Closing the stream says the same here.
          break;
      }
    }
    const { method, row } = this.#request;
    const why = left === '' ? '' : `; ignored was what it sent: ${left}`;
    throw new LocalError(
      'closed',
      `${this.#host.endpoint} ended the stream of ${method} before its result: it may have been carried out${why}`,
      { phase: phaseOf(row), maybeExecuted: true },
    );
  }

  /** To the caller, or to the listeners of the peer if it does not belong to this request. */
  #deliver({ notification, progressToken, subscriptionId }: Inbound & { kind: 'notification' }): void | Promise<void> {
    const { method } = notification;
    const isStream = this.#request.row?.stream === true;
    const isOwn =
      method === 'notifications/progress'
        ? progressToken !== undefined && this.#isOwnId(progressToken)
        : method === 'notifications/message' ||
          (isStream && (subscriptionId === undefined || this.#isOwnId(subscriptionId)));
    if (isOwn) return this.#exchange.notify(notification);
    this.#host.listeners.unattributed(notification);
    return undefined;
  }

  /** Some servers make strings of numbers. */
  #isOwnId(id: string | number): boolean {
    return id === this.#request.id || id === String(this.#request.id);
  }

  #ignored(reason: string): void {
    this.#host.logger.debug(`${this.#host.endpoint} sent what was ignored: ${reason}`);
  }

  /** A stream that ends by itself leaves its connection for the next request. */
  async #readToEnd(events: AsyncIterator<unknown>): Promise<void> {
    const timer = setTimeout(() => this.#leave(new Error('The stream went on after its result')), LAST_BYTES_MS);
    try {
      for (let rest = 0; rest < 100 && (await events.next()).done !== true; rest++);
      await events.return?.();
    } catch {
      // The result is here: nothing that happens to its stream matters any more.
    } finally {
      clearTimeout(timer);
    }
  }

  #settle(inbound: Inbound, response?: HttpFetchResponse): McpResult {
    const { method, row, id } = this.#request;
    if (inbound.kind === 'error') throw this.#remoteError(inbound.error, response);
    if (inbound.kind !== 'result') throw invalidAnswer(method, 'it is no response', row);
    if (!this.#isOwnId(inbound.id)) {
      throw invalidAnswer(method, `it answers the request ${excerpt(String(inbound.id))}, and not ${id}`, row);
    }
    if (response !== undefined && response.status >= 300) {
      throw invalidAnswer(method, `a result came with the status ${response.status}`, row);
    }
    return completeResult(inbound.result, method, row);
  }

  #remoteError(error: unknown, response: HttpFetchResponse | undefined): RemoteError {
    // The status of a stream was said long before.
    const http =
      response === undefined
        ? { status: 200 }
        : { status: response.status, retryAfterMs: retryAfterMs(response.headers) };
    const { method, secrets } = this.#request;
    if (!isObject(error) || typeof error.message !== 'string') return remoteError(error, method, http);
    return remoteError({ ...error, message: hideSecrets(error.message, secrets) }, method, http);
  }

  async #unauthorized(response: HttpFetchResponse): Promise<LocalError> {
    const { status, headers } = response;
    const body = this.#shown(await readBeginning(response.body, SHOWN_BYTES, LAST_BYTES_MS));
    const sent = headers.get('www-authenticate');
    // Only what is known: what looks like a secret in a challenge is its syntax.
    const challenge = sent === null ? undefined : hideSecrets(sent, this.#request.secrets);
    const reason = status === 401 ? 'wants credentials' : 'does not allow this with these credentials';
    return new LocalError(
      'unauthorized',
      `${this.#host.endpoint} ${reason} (${status})${challenge === undefined ? '' : `: ${excerpt(challenge)}`}`,
      { phase: 'auth', status, challenge, body },
    );
  }

  async #unexpectedStatus(response: HttpFetchResponse, type: string): Promise<LocalError> {
    const { status, headers } = response;
    const body = this.#shown(await readBeginning(response.body, SHOWN_BYTES, LAST_BYTES_MS));
    const wait = retryAfterMs(headers);
    const what = type === '' ? 'without a content type' : `with ${excerpt(type)}`;
    return new LocalError(
      'http_status',
      `${this.#host.endpoint} answered ${this.#request.method} with ${status} ${what}, which is no message${waitText(wait)}: ${excerpt(body)}`,
      // Success that is no message may be a proxy's login page as well as the work of the server.
      { phase: 'http', status, body, retryAfterMs: wait, maybeExecuted: !isRefusal(status) },
    );
  }

  #explained(error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    const { method, row } = this.#request;
    const { endpoint, maxResponseBytes } = this.#host;
    const phase = phaseOf(row);
    if (error instanceof TooManyBytes) {
      return new LocalError(
        'too_large',
        `The answer of ${endpoint} to ${method} is larger than ${maxResponseBytes} bytes (maxResponseBytes)`,
        { phase, maybeExecuted: true },
      );
    }
    const isOurs = error instanceof LocalError || error instanceof RemoteError;
    return isOurs ? error : fetchFailure(error, { endpoint, method, phase, hasAnswer: this.#hasAnswer });
  }

  #shown(text: string): string {
    return this.#redact(text).slice(0, SHOWN_CHARACTERS);
  }

  #redact(text: string): string {
    return redactSecrets(text, this.#request.secrets);
  }
}

function waitText(retryAfter: number | undefined): string {
  return retryAfter === undefined ? '' : `; it asks to wait ${Math.ceil(retryAfter / 1000)} s`;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Statuses that say that nothing was done. Others, such as 408 and 409, may come in the middle of it. */
function isRefusal(status: number): boolean {
  return [400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 421, 426, 429, 431].includes(status);
}

function isJson(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json');
}
