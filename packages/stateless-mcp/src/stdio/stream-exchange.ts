import type { AuthInfo } from '../protocol/auth-info.ts';
import { type Deferred, deferred } from '../protocol/deferred.ts';
import { INTERNAL_ERROR } from '../protocol/error-codes.ts';
import { McpError, toMcpError } from '../protocol/errors.ts';
import {
  controllerOf,
  kindOf,
  labelOf,
  type RequestIdentity,
  serialiseFailure,
  serialiseBoundedResponse,
  tagsFor,
} from '../protocol/exchange-messages.ts';
import type { Exchange } from '../protocol/handler.ts';
import { HeldMessages } from '../protocol/held-messages.ts';
import { serialiseNotification } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import type { Logger } from '../protocol/logger.ts';
import type { ExtensionNotification, McpNotification } from '../protocol/notifications.ts';
import type { McpResult } from '../protocol/result.ts';

/** What an exchange needs of the connection it belongs to. */
export interface StreamHost {
  readonly versions: readonly string[];
  readonly maxResponseBytes: number;
  readonly logger: Logger;
  readonly auth: AuthInfo | undefined;
  /** Producers are asked to wait: the pipe that all exchanges share holds enough. */
  readonly isFull: boolean;
  write(line: string): void;
  /** Asks for {@link StreamExchange.sendHeld} when there is room. */
  awaitRoom(exchange: StreamExchange): void;
  /** The exchange is over. */
  release(exchange: StreamExchange): void;
}

/**
 * One request and its answer on a connection that it shares with others. Nothing is sent for it once it is over, however
 * long its handler goes on.
 */
export class StreamExchange implements Exchange {
  readonly #identity: RequestIdentity;
  readonly #host: StreamHost;
  #isOver = false;
  #hasNotified = false;
  // Both are made when somebody looks: most handlers do not.
  #abort: AbortController | undefined;
  #abortReason: unknown;
  #close: AbortController | undefined;
  #closeReason: unknown;
  #held: HeldMessages | undefined;
  #room: Deferred<void> | undefined;

  constructor(identity: RequestIdentity, host: StreamHost) {
    this.#identity = identity;
    this.#host = host;
  }

  get id(): RequestId {
    return this.#identity.id;
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
    return this.#identity.progressToken !== undefined;
  }

  get versions(): readonly string[] {
    return this.#host.versions;
  }

  get auth(): AuthInfo | undefined {
    return this.#host.auth;
  }

  notify(notification: McpNotification | ExtensionNotification): void | Promise<void> {
    if (this.#isOver) return undefined;
    const kind = kindOf(notification);
    if (kind === 'progress' && !this.wantsProgress) return undefined;
    const line = serialiseNotification(notification, tagsFor(this.#identity, kind));
    this.#hasNotified = true;
    // What waits already goes first, even if there is room by now.
    if (!this.#host.isFull && this.#held?.isEmpty !== false) {
      this.#host.write(line);
      return this.#host.isFull ? this.#untilRoom() : undefined;
    }
    this.#held ??= new HeldMessages();
    if (this.#held.add(line, kind)) return this.#untilRoom();
    this.#host.logger.warn(`The client is too slow for what ${this.label} must not drop; the request was given up`);
    this.abort(new McpError(INTERNAL_ERROR, 'Given up: the client does not read the notifications of this request'));
    return undefined;
  }

  /** Sends the oldest message that waits. Returns whether there are more. */
  sendHeld(): boolean {
    const line = this.#held?.take();
    if (line !== undefined) this.#host.write(line);
    if (this.#held?.isEmpty === false) return true;
    this.#haveRoom();
    return false;
  }

  /** Gives the result as the answer. */
  finish(result: McpResult): void {
    if (this.#isOver) return;
    let line: string;
    try {
      const { maxResponseBytes, logger } = this.#host;
      line = serialiseBoundedResponse(this.#identity, result, maxResponseBytes, logger);
    } catch (error) {
      // A result that JSON cannot carry, or one that is too large.
      this.fail(error);
      return;
    }
    this.#answer(line, true);
  }

  /** Gives an error as the answer. Whatever is not meant to be sent goes to the log. */
  fail(thrown: unknown): void {
    if (this.#isOver) return;
    const { logger } = this.#host;
    // A stream that was refused has never been open, so there is nothing to tear down.
    const { text } = serialiseFailure(toMcpError(thrown, this.label, logger), this.id, logger);
    this.#answer(text, this.#hasNotified);
  }

  /** Asks for an end: this side is draining. */
  close(reason: unknown): void {
    this.#closeReason = reason;
    this.#close?.abort(reason);
  }

  /** Gives up the work and says why. */
  abort(reason: McpError): void {
    if (this.#isOver) return;
    this.fail(reason);
    this.#abortSignal(reason);
  }

  /** The client will not read the answer: it cancelled, or is gone. */
  cancel(reason: string): void {
    if (this.#isOver) return;
    this.#held?.clear();
    this.#end();
    this.#abortSignal(new DOMException(reason, 'AbortError'));
  }

  /** What it is about, for logs. */
  get label(): string {
    return labelOf(this.#identity);
  }

  #answer(line: string, tearsDown: boolean): void {
    for (let held = this.#held?.take(); held !== undefined; held = this.#held?.take()) this.#host.write(held);
    this.#host.write(line);
    // After the result: a client that takes the first of both for the end learns that it was a good one.
    if (tearsDown && this.#identity.row?.stream === true) this.#host.write(cancelledLine(this.id));
    const dropped = this.#held?.droppedLogs ?? 0;
    if (dropped > 0) {
      this.#host.logger.warn(`${dropped} log messages of ${this.label} were dropped: its reader is slow`);
    }
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#host.release(this);
    this.#haveRoom();
  }

  #abortSignal(reason: unknown): void {
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }

  #untilRoom(): Promise<void> {
    this.#host.awaitRoom(this);
    this.#room ??= deferred();
    return this.#room.promise;
  }

  #haveRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

function cancelledLine(requestId: RequestId): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
}
