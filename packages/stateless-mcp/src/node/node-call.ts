import type { ClientRequest, IncomingMessage } from 'node:http';
import { HttpFetchError, type HttpFetchResponse } from '../http/http-fetch.ts';
import type { HeaderReader } from '../protocol/handler.ts';
import type { Connections } from './node-connections.ts';

/** What may wait for a reader before no more is taken from the connection. */
const MAX_QUEUED_BYTES = 65_536;
const MAX_QUEUED_CHUNKS = 1000;

const DONE: IteratorResult<Uint8Array, undefined> = Object.freeze({ done: true, value: undefined });

type Settle<T> = (value: T) => void;

/** One request under way: settles its answer, then is the body of that. */
export class NodeCall implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #request: ClientRequest;
  readonly #origin: string;
  readonly #signal: AbortSignal;
  readonly #connections: Connections;
  #answer: { readonly resolve: Settle<HttpFetchResponse>; readonly reject: Settle<unknown> } | undefined;
  #response: IncomingMessage | undefined;
  #reader:
    | { readonly resolve: Settle<IteratorResult<Uint8Array, undefined>>; readonly reject: Settle<unknown> }
    | undefined;
  #queue: Uint8Array[] = [];
  /** Of its beginning. */
  #taken = 0;
  #queuedBytes = 0;
  /** Nothing more comes: the body is complete, has failed, or nobody wants it. */
  #isOver = false;
  #failure: { readonly reason: unknown } | undefined;

  /**
   * @param request not yet ended
   * @param origin of the server, for messages
   */
  constructor(request: ClientRequest, origin: string, signal: AbortSignal, connections: Connections) {
    this.#request = request;
    this.#origin = origin;
    this.#signal = signal;
    this.#connections = connections;
  }

  send(body: Uint8Array): Promise<HttpFetchResponse> {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      const request = this.#request;
      request.on('response', (response: IncomingMessage) => this.#answered(response));
      request.on('error', (error: Error) => this.#broke(error));
      // An answer that changes the protocol ends without an error.
      request.on('close', () => this.#broke(undefined));
      this.#signal.addEventListener('abort', this);
      request.end(body);
    });
  }

  /** Of the signal. */
  handleEvent(): void {
    this.#empty();
    this.#fail(this.#signal.reason);
    this.#request.destroy();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const chunk = this.#queue[this.#taken];
    if (chunk !== undefined) {
      this.#taken += 1;
      // Not one by one: taking the first of many moves all others.
      if (this.#taken === this.#queue.length) this.#empty();
      this.#queuedBytes -= chunk.length;
      if (this.#queuedBytes === 0 && !this.#isOver) this.#response?.resume();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason);
    if (this.#isOver) return Promise.resolve(DONE);
    if (this.#reader !== undefined) return Promise.reject(new TypeError('The body is being read already'));
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#empty();
    if (!this.#isOver) {
      this.#finish();
      // What is complete may run out, so that the connection can be used again.
      if (this.#response?.complete === true) this.#response.resume();
      else this.#request.destroy();
    }
    return Promise.resolve(DONE);
  }

  #answered(response: IncomingMessage): void {
    if (this.#answer === undefined) return;
    const { resolve } = this.#answer;
    this.#answer = undefined;
    this.#response = response;
    const status = response.statusCode ?? 0;
    const keepAlive = response.headers['keep-alive'];
    if (typeof keepAlive === 'string') this.#connections.announced(response.socket, keepAlive);
    const headers = new ResponseHead(response);
    response.on('error', (error) => this.#broke(error));
    if (status === 204 || status === 304) {
      response.resume();
      this.#finish();
      resolve({ status, headers, body: null });
      return;
    }
    response.on('data', (chunk: Buffer) => this.#received(chunk));
    // Only of a message that is complete: one that breaks off ends in an error.
    response.on('end', () => this.#finish());
    resolve({ status, headers, body: this });
  }

  #received(chunk: Buffer): void {
    if (this.#isOver) return;
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve({ done: false, value: chunk });
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    // Chunks count too: each costs more than its bytes.
    const isFull = this.#queuedBytes >= MAX_QUEUED_BYTES || this.#queue.length >= MAX_QUEUED_CHUNKS;
    if (isFull) this.#response?.pause();
  }

  #empty(): void {
    this.#queue = [];
    this.#taken = 0;
  }

  #broke(error: Error | undefined): void {
    // A complete answer stays one when its connection goes.
    if (this.#isOver || this.#response?.complete === true) return;
    this.#fail(this.#error(this.#connections.isClosed ? clientClosed() : (error ?? cutOff())));
  }

  #fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#failure = { reason };
    const waiting = this.#answer ?? this.#reader;
    this.#answer = undefined;
    this.#reader = undefined;
    this.#finish();
    waiting?.reject(reason);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this);
    this.#reader?.resolve(DONE);
    this.#reader = undefined;
  }

  #error(cause: Error & { readonly code?: unknown }): HttpFetchError {
    const phase = this.#connections.phaseOf(this.#request.socket);
    const what = phase === 'http' && this.#response !== undefined ? 'The answer broke off' : WHAT_FAILED[phase];
    // What Node throws for several addresses has no message, but a code.
    const why = cause.message === '' ? String(cause.code) : cause.message;
    return new HttpFetchError(`${what} (${this.#origin}): ${why}`, { cause, phase, bodySent: phase === 'http' });
  }
}

const WHAT_FAILED = {
  dns: 'The name of the server was not found',
  connect: 'The server could not be reached',
  tls: 'The connection to the server could not be secured',
  http: 'The connection ended before the answer',
} as const;

function cutOff(): Error {
  return Object.assign(new Error('closed by the server'), { code: 'ECONNRESET' });
}

function clientClosed(): Error {
  return new Error('this HTTP client was closed');
}

class ResponseHead implements HeaderReader {
  readonly #response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.#response = response;
  }

  get(name: string): string | null {
    const { headers } = this.#response;
    const key = name.toLowerCase();
    const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
    if (value === undefined) return null;
    return typeof value === 'string' ? value : value.join(', ');
  }
}
