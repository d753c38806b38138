import { createParser } from 'eventsource-parser';
import { GatheredBytes } from '../protocol/gathered-bytes.ts';
import { valueExceedsDepth } from '../protocol/json-depth.ts';
import { MAX_JSON_DEPTH } from '../protocol/json-rpc.ts';
import type { HttpFetchResponse } from './http-fetch.ts';

/** More arrived than the limit allows. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

type Body = NonNullable<HttpFetchResponse['body']>;

/** The whole body. @throws TooManyBytes */
export async function readWhole(body: HttpFetchResponse['body'], maxBytes: number): Promise<Uint8Array> {
  const gathered = new GatheredBytes(maxBytes);
  if (body !== null) {
    for await (const chunk of new Chunks(body)) {
      if (gathered.length + chunk.length > maxBytes) throw new TooManyBytes();
      gathered.append(chunk);
    }
  }
  return gathered.bytes;
}

/** The beginning of the body as text, for people: what comes within these limits, whatever happens to the rest. */
export async function readBeginning(body: HttpFetchResponse['body'], maxBytes: number, maxMs: number): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  const chunks = new Chunks(body);
  let text = '';
  let length = 0;
  const timer = setTimeout(() => chunks.leave(), maxMs);
  try {
    for await (const chunk of chunks) {
      text += decoder.decode(chunk.subarray(0, maxBytes - length), { stream: true });
      length += chunk.length;
      if (length >= maxBytes) break;
    }
  } catch {
    // What came is all there is to show.
  } finally {
    clearTimeout(timer);
  }
  return text;
}

/** What an event stream brings: parsed messages, and `undefined` for a sign of life without one. */
export type StreamEvent = { readonly message: unknown } | { readonly unreadable: string } | undefined;

/** Lines that are no data, no comment and no end of an event. The parser makes an error of each that it does not know. */
const UNREAD_LINES = /\n(?!data[:\n]|[:\n])[^\n]*(?=\n)/g;

/** Events, one by one; reading goes on when the next one is asked for. @throws TooManyBytes for one that is too long */
export async function* readEvents(body: Body, maxEventBytes: number): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new TextDecoder();
  let events: StreamEvent[] = [];
  let isTooLong = false;
  let isAlive = false;
  let endsWithCr = false;
  // Lengths are counted in UTF-16 units: never more than bytes.
  const parser = createParser({
    // Of what waits for its end, the name of a field in front of it included.
    maxBufferSize: maxEventBytes + 'data: '.length,
    onEvent: ({ data }) => {
      if (data.length > maxEventBytes) isTooLong = true;
      else events.push(readMessage(data));
    },
    onComment: () => {
      isAlive = true;
    },
    onError: (error) => {
      // Unknown fields and retry times are none of our business.
      if (error.type === 'max-buffer-size-exceeded') isTooLong = true;
    },
  });
  for await (const chunk of new Chunks(body)) {
    feed(decoder.decode(chunk, { stream: true }));
    yield* take();
  }
  // A last event whose empty line is missing is whole if it can be read.
  feed('\n\n');
  yield* take();

  function feed(text: string): void {
    if (text === '') return;
    // Line feeds alone: after a carriage return the parser would wait for what follows it.
    const rest = endsWithCr && text.startsWith('\n') ? text.slice(1) : text;
    endsWithCr = text.endsWith('\r');
    const lines = rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
    parser.feed(lines.replaceAll(UNREAD_LINES, ''));
    if (isTooLong) throw new TooManyBytes();
  }

  function* take(): Generator<StreamEvent, void, undefined> {
    const arrived = events;
    events = [];
    if (arrived.length === 0 && isAlive) yield undefined;
    isAlive = false;
    yield* arrived;
  }
}

function readMessage(data: string): StreamEvent {
  // Empty events open streams that could be resumed in earlier revisions.
  if (data === '') return undefined;
  let message: unknown;
  try {
    message = JSON.parse(data);
  } catch {
    return { unreadable: 'it is not valid JSON' };
  }
  return valueExceedsDepth(message, MAX_JSON_DEPTH)
    ? { unreadable: `it nests deeper than ${MAX_JSON_DEPTH} levels` }
    : { message };
}

/**
 * The pieces of a body. Not every runtime can iterate over its own streams, and none lets go of one while the next piece is
 * waited for.
 */
class Chunks implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #iterator: AsyncIterator<Uint8Array> | undefined;

  constructor(body: Body) {
    if ('getReader' in body) this.#reader = body.getReader();
    else this.#iterator = body[Symbol.asyncIterator]();
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const next = await (this.#reader?.read() ?? this.#iterator?.next());
    return next === undefined || next.done === true
      ? { done: true, value: undefined }
      : { done: false, value: next.value };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.leave();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Gives the rest up, at any time; a piece that is waited for does not come. */
  leave(): void {
    // Nobody can do anything about a body that cannot be given up.
    this.#reader?.cancel().catch(() => undefined);
    this.#iterator?.return?.().catch(() => undefined);
  }
}
