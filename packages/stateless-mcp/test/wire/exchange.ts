import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import type { JsonObject } from '../../src/protocol/json.ts';
import { isEvent, type SseFrame, SseReader } from './sse-frames.ts';

/** Header lines by name; `null` leaves one out that would be there, a list sends several lines of one name. */
export type HeaderLines = Readonly<Record<string, string | readonly string[] | null>>;

export interface RawRequest {
  readonly method?: string;
  /** Absent: the path of the endpoint. */
  readonly path?: string;
  readonly headers?: HeaderLines;
  readonly body?: string | Uint8Array;
}

/** A response that has been read to its end. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body of a JSON answer. */
  readonly body: JsonObject | undefined;
  readonly frames: readonly SseFrame[];
  /** What the response says, in order: the messages of its events, or its one JSON body. */
  readonly messages: readonly JsonObject[];
}

/** What a check waited for did not come in time. */
export class WaitExpired extends Error {
  override readonly name = 'WaitExpired';
}

export interface ExchangeOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly agent: Agent;
  /** Gives up before there is a response. */
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request and resolves with the head of the response. */
export function openExchange(options: ExchangeOptions, raw: RawRequest): Promise<WireStream> {
  const target = new URL(raw.path ?? options.url, options.url);
  const { agent, signal } = options;
  const outgoing = httpRequest(target, { method: raw.method ?? 'POST', agent, ...(signal && { signal }) });
  for (const [name, value] of Object.entries(raw.headers ?? {})) {
    if (value !== null) outgoing.setHeader(name, value);
  }
  const response = new Promise<WireStream>((resolve, reject) => {
    outgoing.once('response', (incoming) => resolve(new WireStream(incoming, options.timeoutMs)));
    // A server that refuses a body early closes while it is still being written: then what it said is the outcome.
    outgoing.on('error', reject);
  });
  // As bytes: with a string, Node would write the headers as UTF-8 too, and not as the Latin-1 that they are.
  outgoing.end(Buffer.from(raw.body ?? ''));
  return within(response, options.timeoutMs, 'the head of a response').catch((reason: unknown) => {
    outgoing.destroy();
    throw reason;
  });
}

/** A response that is being read. */
export class WireStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #incoming: IncomingMessage;
  readonly #timeoutMs: number;
  readonly #reader = new SseReader();
  readonly #chunks: Uint8Array[] = [];
  readonly #frames: SseFrame[] = [];
  #taken = 0;
  #failure: unknown;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(incoming: IncomingMessage, timeoutMs: number) {
    this.status = incoming.statusCode ?? 0;
    this.headers = incoming.headers;
    this.#incoming = incoming;
    this.#timeoutMs = timeoutMs;
    incoming.on('data', (chunk: Uint8Array) => this.#receive(chunk));
    incoming.once('end', () => this.#finish(undefined));
    incoming.once('error', (reason) => this.#finish(reason));
    incoming.once('close', () => this.#finish(new Error('the connection was lost in the middle of a response')));
  }

  /** The next event, comments left out. */
  async next(): Promise<JsonObject> {
    // One deadline for all: comments keep a stream alive, not a check.
    const deadline = performance.now() + this.#timeoutMs;
    for (;;) {
      const frame = await this.nextFrame(deadline);
      if (isEvent(frame)) return parseMessage(frame.data);
    }
  }

  async nextFrame(deadline: number = performance.now() + this.#timeoutMs): Promise<SseFrame> {
    await this.#until(() => this.#taken < this.#frames.length, deadline, 'the next frame of a stream');
    const frame = this.#frames[this.#taken];
    if (frame === undefined) throw new Error('the stream ended where another frame was due');
    this.#taken += 1;
    return frame;
  }

  /** Resolves if no further event arrives for a while, comments left out. */
  async quiet(durationMs: number): Promise<void> {
    const events = (): readonly SseFrame[] => this.#frames.slice(this.#taken).filter(isEvent);
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    const [unexpected] = events();
    if (unexpected !== undefined) throw new Error(`nothing more was due, but this came: ${JSON.stringify(unexpected)}`);
  }

  /** Reads on until the server ends the response. */
  async end(): Promise<WireAnswer> {
    await this.#until(() => false, performance.now() + this.#timeoutMs, 'the end of a response');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(this.#chunks));
    const isStream = this.#isStream();
    const body = !isStream && text.startsWith('{') ? parseMessage(text) : undefined;
    const streamed = this.#frames.filter(isEvent).map((frame) => parseMessage(frame.data));
    const messages = body === undefined ? streamed : [body];
    return { status: this.status, headers: this.headers, text, body, frames: this.#frames, messages };
  }

  /** Closes the connection, as a client does that gives up. */
  leave(): void {
    this.#incoming.destroy();
  }

  #isStream(): boolean {
    return this.headers['content-type']?.startsWith('text/event-stream') ?? false;
  }

  #receive(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    if (!this.#isStream()) return;
    try {
      this.#frames.push(...this.#reader.push(chunk));
    } catch (reason) {
      this.#finish(reason);
    }
    this.#wake();
  }

  #finish(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#wake();
  }

  async #until(isReady: () => boolean, deadline: number, what: string): Promise<void> {
    while (!isReady() && !this.#isOver) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await within(woken, deadline - performance.now(), what);
    }
    if (!isReady() && this.#failure !== undefined) throw this.#failure;
  }
}

function parseMessage(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error(`not a JSON object: ${text.slice(0, 200)}`);
  return value;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function within<T>(promise: Promise<T>, durationMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new WaitExpired(`waited too long for ${what}`)), Math.max(0, durationMs));
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
