import type { Readable, Writable } from 'node:stream';
import { type AdmissionRules, admit, isResponse } from '../protocol/admission.ts';
import type { AuthInfo } from '../protocol/auth-info.ts';
import { deferred } from '../protocol/deferred.ts';
import { INVALID_REQUEST } from '../protocol/error-codes.ts';
import { McpError, toMcpError } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { isObject } from '../protocol/json.ts';
import { parseJson } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import { indexMethods, METHODS } from '../protocol/methods.ts';
import { MAX_TIMER_MS } from '../protocol/option-checks.ts';
import { MODERN_VERSIONS } from '../protocol/versions.ts';
import { type LineHandler, LineSplitter } from './line-splitter.ts';
import { LineWriter } from './line-writer.ts';
import { answerBy, serialiseFailure } from '../protocol/exchange-messages.ts';
import { settlesWithin } from './settles-within.ts';
import { StreamExchange, type StreamHost } from './stream-exchange.ts';
import type { DrainOptions } from '../protocol/drain-options.ts';
import { type StreamLimits, streamLimitsOf, type StreamOptions } from './stream-options.ts';

/** More than this waits for the client to read it, and producers are asked to wait. */
const FULL_PIPE_BYTES = 64 * 1024;

/** More than this, and no more requests are read: their answers could only be kept. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/** Requests that one client may have open. */
const MAX_OPEN_REQUESTS = 1000;

/** What calls get that run when the client has closed its side. */
export const EOF_GRACE_MS = 2000;

/** For a client to read what is left, before the connection is broken off. */
const LAST_BYTES_MS = 10_000;

/** For a client to close its side of a socket as well. */
const LAST_CLOSE_MS = 500;

/**
 * The server end of one connection: newline-delimited JSON-RPC over a pair of byte streams. Ids mean something on this
 * connection only, and only while their request is under way.
 *
 * Specification: basic/transports/stdio.
 */
export class StreamBinding implements StreamHost, LineHandler {
  readonly versions: readonly string[] = MODERN_VERSIONS;
  readonly logger: Logger;
  readonly auth: AuthInfo | undefined;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  readonly #handler: McpHandler;
  readonly #rules: AdmissionRules;
  readonly #limits: StreamLimits;
  readonly #readable: Readable;
  readonly #writable: Writable;
  readonly #splitter: LineSplitter;
  readonly #writer: LineWriter;
  readonly #fullBytes: number;
  readonly #mostUnreadBytes: number;
  readonly #exchanges = new Map<RequestId, StreamExchange>();
  readonly #waiting = new Set<StreamExchange>();
  readonly #idle = deferred();
  readonly #closed = deferred();
  #closeReason: DOMException | undefined;
  #end: Promise<void> | undefined;
  #isLooking = false;

  constructor(endpoint: McpEndpoint | McpHandler, readable: Readable, writable: Writable, options: StreamOptions) {
    if (readable.readableObjectMode || writable.writableObjectMode) {
      throw new TypeError('serveStream: the streams must carry bytes, not objects');
    }
    const { handler, methods } = typeof endpoint === 'function' ? { handler: endpoint, methods: METHODS } : endpoint;
    this.#handler = handler;
    this.#rules = { versions: this.versions, methods: indexMethods(methods) };
    this.#limits = streamLimitsOf(options);
    this.logger = guarded(options.logger ?? consoleLogger);
    this.auth = options.auth;
    this.closed = this.#closed.promise;
    this.#readable = readable;
    this.#writable = writable;
    this.#splitter = new LineSplitter(this.#limits.maxMessageBytes, this);
    this.#writer = new LineWriter(writable);
    // Less than what the stream itself takes for full would not make it say that it is empty.
    this.#fullBytes = Math.max(FULL_PIPE_BYTES, writable.writableHighWaterMark);
    this.#mostUnreadBytes = Math.max(MOST_UNREAD_BYTES, writable.writableHighWaterMark);
    this.#open();
  }

  get maxResponseBytes(): number {
    return this.#limits.maxResponseBytes;
  }

  get isFull(): boolean {
    return this.#writer.bufferedBytes > this.#fullBytes;
  }

  write(line: string): void {
    this.#writer.write(line);
    if (!this.isFull) return;
    if (this.#writer.bufferedBytes > this.#mostUnreadBytes) this.#readable.pause();
    // A stream that takes everything at once never says that it is empty, and everybody else gets a turn in between.
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      this.#shareRoom();
    });
  }

  awaitRoom(exchange: StreamExchange): void {
    this.#waiting.add(exchange);
  }

  release(exchange: StreamExchange): void {
    this.#exchanges.delete(exchange.id);
    this.#waiting.delete(exchange);
    this.#resolveIfIdle();
  }

  line(bytes: Uint8Array): void {
    let message: unknown;
    try {
      message = parseJson(bytes);
    } catch (error) {
      this.#refuse(undefined, toMcpError(error, 'parsing', this.logger));
      return;
    }
    this.#receive(message);
  }

  oversized(bytes: number, id: RequestId | undefined): void {
    const { maxMessageBytes } = this.#limits;
    const limit = `a message may have ${maxMessageBytes} bytes (maxMessageBytes)`;
    this.#refuse(id, new McpError(INVALID_REQUEST, `Invalid request: this one has ${bytes} bytes, ${limit}`));
  }

  /**
   * Stops in good order: new requests get an error, listen streams their result, running calls their time; what still
   * runs after that is aborted. Then the connection closes.
   */
  async drain({ graceMs = 10_000 }: DrainOptions = {}): Promise<void> {
    if (!(graceMs >= 0)) throw new RangeError(`drain: graceMs must be 0 or more, not ${String(graceMs)}`);
    this.#closeReason ??= new DOMException('The server is shutting down', 'AbortError');
    for (const exchange of this.#exchanges.values()) exchange.close(this.#closeReason);
    this.#resolveIfIdle();
    // A second call with less patience has a timer of its own.
    const timer = setTimeout(
      () => {
        for (const exchange of this.#exchanges.values()) exchange.abort(draining());
      },
      Math.min(graceMs, MAX_TIMER_MS),
    );
    await this.#idle.promise;
    clearTimeout(timer);
    await this.#finish();
  }

  #open(): void {
    const readable = this.#readable;
    const writable = this.#writable;
    readable.on('data', (chunk: Uint8Array | string) => {
      // What the client still says while its connection ends is read, so that it can read its answers, and left at that.
      if (this.#end !== undefined) return;
      // Somebody may have set an encoding on a stream that the process shares, such as standard input.
      this.#splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    });
    readable.once('end', () => {
      this.#splitter.end();
      void this.drain({ graceMs: EOF_GRACE_MS });
    });
    writable.on('drain', () => this.#shareRoom());
    for (const stream of new Set([readable, writable])) {
      stream.on('error', (error) => this.logger.debug('The connection to the client broke', { error }));
    }
    readable.once('close', () => {
      if (!readable.readableEnded) this.#lost();
    });
    writable.once('close', () => this.#lost());
    // What is over already says nothing any more.
    if (readable.destroyed || readable.readableEnded || writable.destroyed) queueMicrotask(() => this.#lost());
  }

  #receive(message: unknown): void {
    if (isObject(message) && isResponse(message)) {
      this.logger.warn('A response from the client was dropped: servers ask nothing in this revision');
      return;
    }
    const admission = admit(message, this.#rules);
    if (admission.kind === 'refused') {
      this.#refuse(admission.id, admission.error);
      return;
    }
    if (admission.kind === 'notification') {
      if (admission.method === 'notifications/cancelled') this.#cancel(admission.params);
      return;
    }
    const { id, request, row, progressToken } = admission;
    if (this.#exchanges.has(id) || this.#closeReason !== undefined) {
      this.#refuse(id, draining());
      return;
    }
    if (this.#exchanges.size >= MAX_OPEN_REQUESTS) {
      const problem = `${MAX_OPEN_REQUESTS} requests are open on this connection, which takes no more`;
      this.#refuse(id, new McpError(503, problem));
      return;
    }
    const exchange = new StreamExchange({ id, row, progressToken }, this);
    this.#exchanges.set(id, exchange);
    answerBy(this.#handler, request, exchange);
  }

  /** An error for a message that goes no further. Under an id that is in use it would be taken for another answer. */
  #refuse(id: RequestId | undefined, error: McpError): void {
    if (id === undefined || !this.#exchanges.has(id)) {
      this.write(serialiseFailure(error, id, this.logger).text);
      return;
    }
    const problem = `the id ${excerpt(JSON.stringify(id))} belongs to a request that is still under way`;
    this.logger.warn(`A message was refused: ${problem}`);
    const refusal = new McpError(INVALID_REQUEST, `Invalid request: ${problem}`);
    this.write(serialiseFailure(refusal, undefined, this.logger).text);
  }

  /** Ids are compared with their type. One that is unknown, or malformed, is nobody's. */
  #cancel(params: unknown): void {
    if (!isObject(params)) return;
    const exchange = this.#exchanges.get(params.requestId as RequestId);
    if (exchange === undefined) return;
    const reason = typeof params.reason === 'string' ? excerpt(params.reason) : 'no reason given';
    this.logger.debug(`The client cancelled ${exchange.label}: ${reason}`);
    exchange.cancel('The client cancelled the request');
  }

  /** Those who wait take turns, so that none of them has the pipe for itself. */
  #shareRoom(): void {
    if (this.#writer.bufferedBytes <= this.#mostUnreadBytes) this.#readable.resume();
    for (const exchange of this.#waiting) {
      if (this.isFull) return;
      this.#waiting.delete(exchange);
      if (exchange.sendHeld()) this.#waiting.add(exchange);
    }
  }

  /** The client is gone: nobody reads any more. */
  #lost(): void {
    for (const exchange of this.#exchanges.values()) exchange.cancel('The client closed the connection');
    void this.drain({ graceMs: 0 });
  }

  #resolveIfIdle(): void {
    if (this.#closeReason !== undefined && this.#exchanges.size === 0) this.#idle.resolve();
  }

  async #finish(): Promise<void> {
    this.#end ??= this.#close();
    await this.#end;
  }

  async #close(): Promise<void> {
    const readable = this.#readable;
    const writable = this.#writable;
    // Reading goes on: a socket that is closed with bytes unread takes from its client what that has not read yet.
    readable.resume();
    await settlesWithin(this.#writer.end(), LAST_BYTES_MS);
    if (readable === (writable as unknown) && !readable.destroyed) {
      await settlesWithin(new Promise<void>((resolve) => void readable.once('close', resolve)), LAST_CLOSE_MS);
    }
    readable.destroy();
    writable.destroy();
    this.#closed.resolve();
  }
}

function draining(): McpError {
  return new McpError(503, 'The server is shutting down');
}
