import type { Readable, Writable } from 'node:stream';
import type { Inbound } from '../protocol/inbound.ts';
import { completeResult, invalidAnswer, readInbound, remoteError } from '../protocol/inbound.ts';
import { exceedsDepth } from '../protocol/json-depth.ts';
import { isObject } from '../protocol/json.ts';
import { MAX_JSON_DEPTH, parseJson } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import { givenUp, LocalError, type LocalErrorCode, phaseOf } from '../protocol/local-error.ts';
import type { Logger } from '../protocol/logger.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { ExtensionNotification, McpNotification } from '../protocol/notifications.ts';
import { outboundRequest } from '../protocol/outbound.ts';
import type { PeerListeners } from '../protocol/peer.ts';
import type { McpResult } from '../protocol/result.ts';
import type { IgnoredLines } from './ignored-lines.ts';
import { LineSplitter } from './line-splitter.ts';
import { LineWriter } from './line-writer.ts';
import { type OpenRequest, OpenRequests, type OutgoingRequest } from './open-requests.ts';

/** What may be written and not taken; further requests wait unwritten, so that a server that does not read costs no memory. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** What all connections of one peer share. */
export interface ConnectionContext {
  /** For messages. */
  readonly endpoint: string;
  readonly maxMessageBytes: number;
  readonly logger: Logger;
  readonly listeners: PeerListeners;
  readonly ignored: IgnoredLines;
}

/** Who opened a connection hears from it. */
export interface ConnectionOwner {
  /** The first request was made, or the last one is settled. */
  busy?(isBusy: boolean): void;
  /** The last open request was given up by its caller, and not because it took too long. */
  abandoned?(): void;
  /** A message came, which only a server sends. */
  heard?(): void;
  /** Nothing more can be sent. Open requests stay so until {@link StreamConnection.fail}. */
  lost(cause: Error | undefined): void;
}

/** How far a request had come when its connection was lost. */
export interface LostRequest {
  readonly method: string;
  readonly row: MethodRow | undefined;
  /** The server may have carried it out. */
  readonly isWritten: boolean;
}

/**
 * One connection to a server over a pair of byte streams that all requests share: answers find their request by id,
 * progress by token, what a listen stream delivers by subscription id. What the server writes is untrusted, and nothing of
 * it ends the connection.
 */
export class StreamConnection {
  /** Settles when everything that the server wrote has been read. */
  readonly finished: Promise<void>;
  readonly #context: ConnectionContext;
  readonly #owner: ConnectionOwner;
  readonly #writable: Writable;
  readonly #writer: LineWriter;
  readonly #open = new OpenRequests();
  /** Open ones that wait for room, in order. */
  readonly #waiting = new Set<OpenRequest>();
  #isFull = false;
  #isLost = false;
  #errorFor: ((request: LostRequest) => LocalError) | undefined;

  constructor(readable: Readable, writable: Writable, context: ConnectionContext, owner: ConnectionOwner) {
    this.#context = context;
    this.#owner = owner;
    this.#writable = writable;
    this.#writer = new LineWriter(writable);
    this.finished = this.#readAll(readable);
    // What was written before may still be answered: `finished` tells when that is over.
    writable.on('error', (error) => this.#lose(error));
    writable.once('close', () => this.#lose(undefined));
    // Of what was over before, no event tells.
    if (!writable.writable) queueMicrotask(() => this.#lose(undefined));
    writable.on('drain', () => {
      this.#isFull = false;
      this.#writeWaiting();
    });
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get openRequests(): number {
    return this.#open.size;
  }

  /**
   * Rejects with `LocalError` or `RemoteError`. An abort settles it at once and tells the server, and what that still sends
   * is ignored.
   */
  async send(outgoing: OutgoingRequest): Promise<McpResult> {
    const { signal } = outgoing.exchange;
    const { request, row } = outgoing;
    if (signal.aborted) {
      if (this.#open.size === 0) this.#owner.abandoned?.();
      throw givenUp(signal.reason, request.method, { phase: phaseOf(row) });
    }
    if (this.#errorFor !== undefined) throw this.#errorFor({ method: request.method, row, isWritten: false });
    return new Promise<McpResult>((resolve, reject) => {
      const open: OpenRequest = { ...outgoing, isWritten: false, abort: () => this.#abort(open), resolve, reject };
      signal.addEventListener('abort', open.abort);
      this.#open.add(open);
      if (this.#open.size === 1) this.#owner.busy?.(true);
      this.#waiting.add(open);
      this.#writeWaiting();
    });
  }

  /** Ends every open request, and every further one, with the error made for it. Only the first time counts. */
  fail(errorFor: (request: LostRequest) => LocalError): void {
    this.#isLost = true;
    this.#errorFor ??= errorFor;
    for (const open of this.#open) {
      this.#settle(open);
      open.reject(this.#errorFor({ method: open.request.method, row: open.row, isWritten: open.isWritten }));
    }
  }

  /** Ends the writing side behind what was written. Resolves when the system has it, or the stream is gone. */
  async end(): Promise<void> {
    await this.#writer.end();
  }

  #lose(cause: Error | undefined): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#owner.lost(cause);
  }

  #writeWaiting(): void {
    // Not below the stream's own mark, because there it would not tell when there is room again.
    const limit = Math.max(MAX_BUFFERED_BYTES, this.#writable.writableHighWaterMark);
    for (const open of this.#waiting) {
      if (this.#isFull || this.#isLost) return;
      this.#waiting.delete(open);
      this.#write(open);
      this.#isFull = this.#writer.bufferedBytes >= limit;
      // A stream that takes everything at once never says that it has room.
      if (this.#isFull) setImmediate(() => this.#lookForRoom(limit));
    }
  }

  #lookForRoom(limit: number): void {
    if (this.#writer.bufferedBytes >= limit) return;
    this.#isFull = false;
    this.#writeWaiting();
  }

  #write(open: OpenRequest): void {
    const { request, id, version, exchange } = open;
    let line: string;
    try {
      line = JSON.stringify(outboundRequest(request, id, version, exchange.wantsProgress));
    } catch (error) {
      // What JSON cannot carry.
      this.#settle(open);
      open.reject(error);
      return;
    }
    open.isWritten = true;
    this.#writer.write(line);
  }

  #abort(open: OpenRequest): void {
    this.#settle(open);
    const { request, row, isWritten, id, exchange } = open;
    const error = givenUp(exchange.signal.reason, request.method, { phase: phaseOf(row), maybeExecuted: isWritten });
    if (isWritten && !this.#isLost) {
      const params = { requestId: id, reason: error.code === 'timeout' ? 'timed out' : 'given up by the caller' };
      this.#writer.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    }
    open.reject(error);
    if (this.#open.size === 0 && error.code !== 'timeout') this.#owner.abandoned?.();
  }

  #settle(open: OpenRequest): void {
    open.exchange.signal.removeEventListener('abort', open.abort);
    this.#waiting.delete(open);
    this.#open.delete(open);
    if (this.#open.size === 0) this.#owner.busy?.(false);
  }

  async #readAll(readable: Readable): Promise<void> {
    const splitter = new LineSplitter(this.#context.maxMessageBytes, {
      line: (bytes) => this.#read(bytes),
      oversized: (bytes, id) => this.#skipOversized(bytes, id),
    });
    await new Promise<void>((resolve) => {
      const finish = (cause?: Error): void => {
        this.#lose(cause);
        resolve();
      };
      readable.on('data', (chunk: Uint8Array | string) => {
        splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      });
      readable.once('end', () => {
        splitter.end();
        finish();
      });
      readable.once('close', () => finish());
      readable.on('error', finish);
      if (readable.destroyed || readable.readableEnded) queueMicrotask(finish);
    });
  }

  #read(line: Uint8Array): void {
    let message: unknown;
    try {
      message = parseJson(line);
    } catch {
      this.#skipUnreadable(line);
      return;
    }
    const inbound = readInbound(message);
    if (inbound.kind === 'invalid') {
      this.#context.ignored.add('invalid', `a line is no message that a server sends (${inbound.reason})`, line);
      return;
    }
    this.#owner.heard?.();
    const hasReceiver = this.#dispatch(inbound);
    if (!hasReceiver) this.#context.ignored.add('unexpected', 'a message belongs to no request', line);
  }

  /** @returns whether somebody is, or was, there for the message */
  #dispatch(inbound: Exclude<Inbound, { readonly kind: 'invalid' }>): boolean {
    switch (inbound.kind) {
      case 'result':
        return this.#answer(inbound.id, ({ request, row }) => completeResult(inbound.result, request.method, row));
      case 'error':
        if (inbound.id === undefined) {
          // It may be about any request or none: failing one of them would be a guess.
          const error = new TextEncoder().encode(JSON.stringify(inbound.error));
          this.#context.ignored.add('error', 'an error names no request', error);
          return true;
        }
        return this.#answer(inbound.id, ({ request }) => {
          throw remoteError(inbound.error, request.method);
        });
      case 'notification':
        return this.#deliver(inbound);
      case 'cancelled':
        return this.#endListen(inbound.requestId);
    }
  }

  #answer(id: RequestId, read: (open: OpenRequest) => McpResult): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return this.#open.isPast(id);
    this.#settle(open);
    try {
      open.resolve(read(open));
    } catch (error) {
      open.reject(error);
    }
    return true;
  }

  #deliver({ notification, progressToken, subscriptionId }: Inbound & { readonly kind: 'notification' }): boolean {
    if (notification.method === 'notifications/message') {
      this.#notify(this.#open.logReceiver, notification);
      return true;
    }
    const isProgress = notification.method === 'notifications/progress';
    const tag = isProgress ? progressToken : subscriptionId;
    if (tag === undefined) {
      if (!isProgress) this.#notify(undefined, notification);
      return !isProgress;
    }
    const open = isProgress ? this.#open.get(tag) : this.#open.listen(tag);
    if (open === undefined) return this.#open.isPast(tag);
    if (!isProgress || open.exchange.wantsProgress) this.#notify(open, notification);
    return true;
  }

  /** Not waited for, because one slow receiver would hold up the answers of all others. */
  #notify(open: OpenRequest | undefined, notification: McpNotification | ExtensionNotification): void {
    if (open === undefined) {
      this.#context.listeners.unattributed(notification);
      return;
    }
    const failed = (error: unknown): void => {
      this.#context.logger.error(`${this.#context.endpoint}: the receiver of ${notification.method} failed`, { error });
    };
    try {
      open.exchange.notify(notification)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** A server ends a stream by its result, by a cancellation, or by both in any order: the first one counts. */
  #endListen(id: RequestId): boolean {
    const open = this.#open.listen(id);
    if (open === undefined) return this.#open.isPast(id);
    this.#reject(
      open,
      'closed',
      `${this.#context.endpoint} ended the stream of ${open.request.method} without a result`,
    );
    return true;
  }

  #skipOversized(bytes: number, id: RequestId | undefined): void {
    const { endpoint, maxMessageBytes, ignored } = this.#context;
    const open = id === undefined ? undefined : this.#open.get(id);
    const size = `${bytes} bytes, more than the ${maxMessageBytes} that maxMessageBytes allows`;
    if (open === undefined) ignored.add('oversized', `a line has ${size}`);
    else this.#reject(open, 'too_large', `The answer of ${endpoint} to ${open.request.method} has ${size}`);
  }

  #skipUnreadable(line: Uint8Array): void {
    if (line.every(isBlank)) return;
    const open = exceedsDepth(line, MAX_JSON_DEPTH) ? this.#open.get(idOf(line) ?? '') : undefined;
    if (open === undefined) {
      this.#context.ignored.add('noise', 'a line is no message', line);
      return;
    }
    this.#settle(open);
    open.reject(invalidAnswer(open.request.method, `it nests deeper than ${MAX_JSON_DEPTH} levels`, open.row));
  }

  /** For what was written, and whose answer will not come. */
  #reject(open: OpenRequest, code: LocalErrorCode, message: string): void {
    this.#settle(open);
    open.reject(new LocalError(code, message, { phase: phaseOf(open.row), maybeExecuted: true }));
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Of a message that is refused for its depth: nothing else of it is looked at, and this parser does not recurse. */
function idOf(line: Uint8Array): RequestId | undefined {
  try {
    const message: unknown = JSON.parse(new TextDecoder().decode(line));
    const id = isObject(message) ? message.id : undefined;
    return typeof id === 'number' || typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
