import type { AuthInfo } from '../protocol/auth-info.ts';
import { type Deferred, deferred } from '../protocol/deferred.ts';
import { type McpError, toMcpError } from '../protocol/errors.ts';
import type { Exchange } from '../protocol/handler.ts';
import {
  controllerOf,
  kindOf,
  labelOf,
  type RequestIdentity,
  serialiseBoundedResponse,
  tagsFor,
} from '../protocol/exchange-messages.ts';
import { HeldMessages } from '../protocol/held-messages.ts';
import { serialiseNotification } from '../protocol/json-rpc.ts';
import type { Logger } from '../protocol/logger.ts';
import type { ExtensionNotification, McpNotification } from '../protocol/notifications.ts';
import type { McpResult } from '../protocol/result.ts';
import type { AnswerChannel, ChannelEvents } from './answer-channel.ts';
import { type ErrorAnswer, errorAnswer } from './error-answer.ts';
import { NO_HEADERS } from './cors.ts';
import type { HttpHead } from './http-head.ts';
import type { HttpLimits } from './http-options.ts';
import { acceptsEventStream, SSE_COMMENT, SSE_HEADERS, sseEvent } from './sse.ts';

/** More than this in a channel, and producers are asked to wait. */
const FULL_CHANNEL_BYTES = 64 * 1024;

const JSON_HEADERS: Readonly<Record<string, string>> = Object.freeze({ 'Content-Type': 'application/json' });

/** The request that an exchange answers, and everything that belongs to this hop alone. */
export interface ExchangeOrigin extends RequestIdentity {
  readonly head: HttpHead;
  readonly auth: AuthInfo | undefined;
  /** Of every answer: cross-origin headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What an exchange needs of the binding it belongs to. */
export interface ExchangeHost {
  readonly versions: readonly string[];
  readonly limits: HttpLimits;
  readonly logger: Logger;
  /** The exchange is over and its channel closed. */
  release(exchange: HttpExchange): void;
}

/**
 * One request and its answer. The answer is the response of that request and nothing else: there is no table of ids.
 * It starts as one JSON answer and becomes an event stream with the first notification, or when it takes long.
 */
export class HttpExchange implements Exchange, ChannelEvents {
  readonly #origin: ExchangeOrigin;
  readonly #host: ExchangeHost;
  readonly #channel: AnswerChannel;
  readonly #started = Date.now();
  #state: 'waiting' | 'streaming' | 'over' = 'waiting';
  // Both are made when somebody looks: most handlers do not.
  #abort: AbortController | undefined;
  #abortReason: unknown;
  #close: AbortController | undefined;
  #closeReason: unknown;
  #held: HeldMessages | undefined;
  #room: Deferred<void> | undefined;
  #lastSign = this.#started;
  #lastTaken = this.#started;

  constructor(origin: ExchangeOrigin, host: ExchangeHost, channel: AnswerChannel) {
    this.#origin = origin;
    this.#host = host;
    this.#channel = channel;
  }

  get signal(): AbortSignal {
    this.#abort ??= controllerOf(this.#abortReason);
    return this.#abort.signal;
  }

  /** Each exchange has its own: thousands of listeners on one signal would be reported as a leak. */
  get closing(): AbortSignal {
    this.#close ??= controllerOf(this.#closeReason);
    return this.#close.signal;
  }

  get wantsProgress(): boolean {
    return this.#origin.progressToken !== undefined;
  }

  get versions(): readonly string[] {
    return this.#host.versions;
  }

  get auth(): AuthInfo | undefined {
    return this.#origin.auth;
  }

  get http(): HttpHead {
    return this.#origin.head;
  }

  notify(notification: McpNotification | ExtensionNotification): void | Promise<void> {
    if (this.#state === 'over') return undefined;
    const kind = kindOf(notification);
    // Both before the answer could become a stream for nothing.
    if (kind === 'progress' && !this.wantsProgress) return undefined;
    if (this.#state === 'waiting' && !this.#mayStream()) return undefined;
    const event = sseEvent(serialiseNotification(notification, tagsFor(this.#origin, kind)));
    if (this.#state === 'waiting') this.#open();
    // What waits already goes first, even if there is room by now.
    if (this.#isFull() || this.#held?.isEmpty === false) {
      this.#held ??= new HeldMessages();
      if (!this.#held.add(event, kind)) {
        this.#giveUp(`is too slow for what must not be dropped`);
        return undefined;
      }
      return this.#untilRoom();
    }
    this.#write(event);
    return this.#isFull() ? this.#untilRoom() : undefined;
  }

  /** Gives the result as the answer. */
  finish(result: McpResult): void {
    if (this.#state === 'over') return;
    let text: string;
    try {
      const { limits, logger } = this.#host;
      text = serialiseBoundedResponse(this.#origin, result, limits.maxResponseBytes, logger);
    } catch (error) {
      // A result that JSON cannot carry, or one that is too large.
      this.fail(error);
      return;
    }
    this.#answer({ status: 200, headers: JSON_HEADERS, text });
  }

  /** Gives an error as the answer. Whatever is not meant to be sent goes to the log. */
  fail(thrown: unknown): void {
    if (this.#state === 'over') return;
    const { logger } = this.#host;
    this.#answer(errorAnswer(toMcpError(thrown, this.#label(), logger), this.#origin.id, logger));
  }

  /** Asks for an end: this side is draining. */
  close(reason: unknown): void {
    this.#closeReason = reason;
    this.#close?.abort(reason);
  }

  /** Gives up the work and, if somebody still reads, says why. A reader that is still taking its answer loses it. */
  abort(reason: McpError): void {
    if (this.#state === 'over') {
      this.#channel.destroy();
      return;
    }
    this.fail(reason);
    this.#abortSignal(reason);
  }

  drained(): void {
    this.#lastTaken = Date.now();
    if (this.#state !== 'streaming') return;
    while (!this.#isFull()) {
      const text = this.#held?.take();
      if (text === undefined) {
        this.#haveRoom();
        return;
      }
      this.#write(text);
    }
  }

  closed(): void {
    this.#host.release(this);
    this.#leave('The client closed the connection');
  }

  /** Called about once a second: nothing here has a timer of its own. */
  tick(now: number): void {
    const { upgradeAfterMs, keepAliveMs, readerTimeoutMs } = this.#host.limits;
    if (this.#channel.hasMoved()) this.#lastTaken = now;
    if (now - this.#lastTaken >= readerTimeoutMs) {
      this.#giveUp(`took nothing for ${readerTimeoutMs} ms (readerTimeoutMs)`);
    } else if (this.#state === 'waiting') {
      if (now - this.#started >= upgradeAfterMs && this.#mayStream()) {
        this.#open();
        this.#write(SSE_COMMENT);
      }
    } else if (this.#state === 'streaming' && now - this.#lastSign >= keepAliveMs && !this.#isFull()) {
      this.#write(SSE_COMMENT);
    }
  }

  #giveUp(reason: string): void {
    this.#host.logger.warn(`The reader of ${this.#label()} ${reason} and was given up`);
    this.#leave('The client does not read');
    this.#channel.destroy();
  }

  /** Nobody reads any more. */
  #leave(reason: string): void {
    if (this.#state !== 'over') {
      this.#state = 'over';
      this.#abortSignal(new DOMException(reason, 'AbortError'));
    }
    this.#held?.clear();
    this.#haveRoom();
  }

  #mayStream(): boolean {
    return this.#origin.row?.stream === true || acceptsEventStream(this.#origin.head.headers.get('accept'));
  }

  #open(): void {
    this.#state = 'streaming';
    this.#channel.open({ ...SSE_HEADERS, ...this.#origin.headers });
  }

  #answer({ status, headers, text }: ErrorAnswer): void {
    const wasStreaming = this.#state === 'streaming';
    this.#state = 'over';
    if (!wasStreaming) {
      const { headers: added } = this.#origin;
      this.#channel.answer(status, added === NO_HEADERS ? headers : { ...headers, ...added }, text);
      return;
    }
    for (let held = this.#held?.take(); held !== undefined; held = this.#held?.take()) this.#channel.write(held);
    this.#channel.write(sseEvent(text));
    this.#channel.end();
    const dropped = this.#held?.droppedLogs ?? 0;
    if (dropped > 0) {
      this.#host.logger.warn(`${dropped} log messages of ${this.#label()} were dropped: its reader is slow`);
    }
    this.#haveRoom();
  }

  #abortSignal(reason: unknown): void {
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }

  #write(text: string): void {
    this.#lastSign = Date.now();
    this.#channel.write(text);
  }

  #isFull(): boolean {
    return this.#channel.bufferedBytes > FULL_CHANNEL_BYTES;
  }

  #untilRoom(): Promise<void> {
    this.#room ??= deferred();
    return this.#room.promise;
  }

  #haveRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #label(): string {
    return labelOf(this.#origin);
  }
}
