import type { AuthInfo } from '../protocol/auth-info.ts';
import { INTERNAL_ERROR } from '../protocol/error-codes.ts';
import { McpError, toMcpError } from '../protocol/errors.ts';
import type { Exchange } from '../protocol/handler.ts';
import { type NotificationTags, serialiseError, serialiseNotification, serialiseResult } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import type { Logger } from '../protocol/logger.ts';
import { type ProgressToken, SUBSCRIPTION_ID_META_KEY } from '../protocol/meta.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { ExtensionNotification, McpNotification } from '../protocol/notifications.ts';
import type { McpResult } from '../protocol/result.ts';
import type { AnswerChannel, ChannelEvents } from './answer-channel.ts';
import type { HttpHead } from './http-head.ts';
import type { HttpLimits } from './http-options.ts';
import { httpStatus } from './http-status.ts';
import { acceptsEventStream, SSE_COMMENT, SSE_HEADERS, sseEvent } from './sse.ts';

/** More than this in a channel, and producers are asked to wait. */
const FULL_CHANNEL_BYTES = 64 * 1024;
/** What is held back for a full channel; then the oldest log messages go. */
const MAX_HELD_BYTES = 256 * 1024;

const JSON_HEADERS: Readonly<Record<string, string>> = Object.freeze({ 'Content-Type': 'application/json' });

/** The request that an exchange answers, and everything that belongs to this hop alone. */
export interface ExchangeOrigin {
  readonly id: RequestId;
  readonly row: MethodRow | undefined;
  readonly progressToken: ProgressToken | undefined;
  readonly head: HttpHead;
  readonly auth: AuthInfo | undefined;
  /** Of every answer: cross-origin headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What an exchange needs of the binding it belongs to. */
export interface ExchangeHost {
  readonly closing: AbortSignal;
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
  #controller: AbortController | undefined;
  #abortReason: unknown;
  /** Held back while the channel is full: under one key the newest progress, under numbers everything else. */
  readonly #held = new Map<number | 'progress', HeldEvent>();
  #heldBytes = 0;
  #nextHeld = 0;
  #droppedLogs = 0;
  #room: PromiseWithResolve | undefined;
  #lastSign = this.#started;
  #lastTaken = this.#started;
  #lastBufferedBytes = 0;

  constructor(origin: ExchangeOrigin, host: ExchangeHost, channel: AnswerChannel) {
    this.#origin = origin;
    this.#host = host;
    this.#channel = channel;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get closing(): AbortSignal {
    return this.#host.closing;
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
    const isProgress = notification.method === 'notifications/progress';
    // Both before the answer could become a stream for nothing.
    if (isProgress && !this.wantsProgress) return undefined;
    if (this.#state === 'waiting' && !this.#mayStream()) return undefined;
    const event = sseEvent(serialiseNotification(notification, this.#tags(isProgress)));
    if (this.#state === 'waiting') this.#open();
    if (this.#isFull()) {
      this.#hold(event, isProgress, notification.method === 'notifications/message');
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
      text = serialiseResult(this.#origin.id, this.#stamped(result));
    } catch (error) {
      // A result that JSON cannot carry.
      this.fail(error);
      return;
    }
    const { maxResponseBytes } = this.#host.limits;
    if (exceedsBytes(text, maxResponseBytes)) {
      this.#host.logger.error(`A result of ${this.#label()} is over its limit`, {
        maxResponseBytes,
        length: text.length,
      });
      this.fail(new McpError(INTERNAL_ERROR, `The result is larger than ${maxResponseBytes} bytes (maxResponseBytes)`));
      return;
    }
    this.#answer(200, JSON_HEADERS, text);
  }

  /** Gives an error as the answer. Whatever is not meant to be sent goes to the log. */
  fail(thrown: unknown): void {
    if (this.#state === 'over') return;
    const error = toMcpError(thrown, this.#label(), this.#host.logger);
    const text = serialiseError(this.#origin.id, error);
    this.#answer(httpStatus(error), { ...JSON_HEADERS, ...error.headers }, text);
  }

  /** Gives up the work and, if somebody still reads, says why. */
  abort(reason: McpError): void {
    this.fail(reason);
    this.#abortSignal(reason);
  }

  drained(): void {
    this.#lastTaken = Date.now();
    for (const [key, { text }] of this.#held) {
      if (this.#isFull()) return;
      this.#unhold(key);
      this.#write(text);
    }
    this.#room?.resolve();
    this.#room = undefined;
  }

  closed(): void {
    this.#host.release(this);
    if (this.#state !== 'over') {
      this.#state = 'over';
      this.#abortSignal(new DOMException('The client closed the connection', 'AbortError'));
    }
    this.#held.clear();
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Called about once a second: nothing here has a timer of its own. */
  tick(now: number): void {
    const { upgradeAfterMs, keepAliveMs, readerTimeoutMs } = this.#host.limits;
    const { bufferedBytes } = this.#channel;
    if (bufferedBytes === 0 || bufferedBytes < this.#lastBufferedBytes) this.#lastTaken = now;
    this.#lastBufferedBytes = bufferedBytes;
    if (now - this.#lastTaken >= readerTimeoutMs) {
      this.#host.logger.warn(`The reader of ${this.#label()} took nothing for ${readerTimeoutMs} ms and was given up`);
      this.#channel.destroy();
    } else if (this.#state === 'waiting') {
      if (now - this.#started >= upgradeAfterMs && this.#mayStream()) {
        this.#open();
        this.#write(SSE_COMMENT);
      }
    } else if (this.#state === 'streaming' && now - this.#lastSign >= keepAliveMs && !this.#isFull()) {
      this.#write(SSE_COMMENT);
    }
  }

  #mayStream(): boolean {
    return this.#origin.row?.stream === true || acceptsEventStream(this.#origin.head.headers.get('accept'));
  }

  #open(): void {
    this.#state = 'streaming';
    this.#channel.open({ ...SSE_HEADERS, ...this.#origin.headers });
  }

  #answer(status: number, headers: Readonly<Record<string, string>>, text: string): void {
    const wasStreaming = this.#state === 'streaming';
    this.#state = 'over';
    if (!wasStreaming) {
      this.#channel.answer(status, { ...headers, ...this.#origin.headers }, text);
    } else {
      for (const held of this.#held.values()) this.#channel.write(held.text);
      this.#channel.write(sseEvent(text));
      this.#channel.end();
    }
    if (this.#droppedLogs > 0) {
      this.#host.logger.warn(`${this.#droppedLogs} log messages of ${this.#label()} were dropped: its reader is slow`);
    }
    this.#held.clear();
    this.#room?.resolve();
    this.#room = undefined;
  }

  #abortSignal(reason: unknown): void {
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  #tags(isProgress: boolean): NotificationTags {
    const { row, id, progressToken } = this.#origin;
    if (row?.stream === true) return { subscriptionId: id };
    return isProgress && progressToken !== undefined ? { progressToken } : {};
  }

  #stamped(result: McpResult): McpResult {
    const { row, id } = this.#origin;
    if (row?.stream !== true) return result;
    return { ...result, _meta: { ...result._meta, [SUBSCRIPTION_ID_META_KEY]: id } };
  }

  #write(text: string): void {
    this.#lastSign = Date.now();
    this.#channel.write(text);
  }

  #isFull(): boolean {
    return this.#channel.bufferedBytes > FULL_CHANNEL_BYTES;
  }

  #hold(text: string, isProgress: boolean, isLog: boolean): void {
    const key = isProgress ? 'progress' : this.#nextHeld++;
    this.#unhold(key);
    this.#held.set(key, { text, isLog });
    this.#heldBytes += text.length;
    for (const [oldest, held] of this.#held) {
      if (this.#heldBytes <= MAX_HELD_BYTES) return;
      if (!held.isLog) continue;
      this.#unhold(oldest);
      this.#droppedLogs += 1;
    }
  }

  #unhold(key: number | 'progress'): void {
    this.#heldBytes -= this.#held.get(key)?.text.length ?? 0;
    this.#held.delete(key);
  }

  #untilRoom(): Promise<void> {
    this.#room ??= withResolve();
    return this.#room.promise;
  }

  #label(): string {
    return this.#origin.row?.name ?? 'a request';
  }
}

interface HeldEvent {
  readonly text: string;
  readonly isLog: boolean;
}

interface PromiseWithResolve {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function withResolve(): PromiseWithResolve {
  let resolve!: () => void;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

/** A UTF-16 unit has at most three bytes in UTF-8, so that only large texts are measured. */
function exceedsBytes(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && new TextEncoder().encode(text).length > limit);
}
