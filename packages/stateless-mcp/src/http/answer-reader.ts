import { createParser, type ParseError } from 'eventsource-parser';
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
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (body !== null) {
    for await (const chunk of chunksOf(body)) {
      length += chunk.length;
      if (length > maxBytes) throw new TooManyBytes();
      chunks.push(chunk);
    }
  }
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** The beginning of the body as text, for people: at most `maxBytes`, whatever happens to the rest. */
export async function readBeginning(body: HttpFetchResponse['body'], maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  try {
    if (body !== null) {
      for await (const chunk of chunksOf(body)) {
        text += decoder.decode(chunk.subarray(0, maxBytes - length), { stream: true });
        length += chunk.length;
        if (length >= maxBytes) break;
      }
    }
  } catch {
    // What came is all there is to show.
  }
  return text;
}

/** What an event stream brings: parsed messages, and `undefined` for a sign of life without one. */
export type StreamEvent = { readonly message: unknown } | { readonly unreadable: string } | undefined;

/** Events, one by one; reading goes on when the next one is asked for. @throws TooManyBytes for one that is too long */
export async function* readEvents(body: Body, maxEventBytes: number): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new TextDecoder();
  let events: StreamEvent[] = [];
  let failure: ParseError | undefined;
  let isAlive = false;
  const parser = createParser({
    // Counted in UTF-16 units: never more than bytes.
    maxBufferSize: maxEventBytes,
    onEvent: ({ data }) => events.push(readMessage(data)),
    onComment: () => {
      isAlive = true;
    },
    onError: (error) => {
      // Unknown fields and retry times are none of our business.
      if (error.type === 'max-buffer-size-exceeded') failure = error;
    },
  });
  for await (const chunk of chunksOf(body)) {
    feed(decoder.decode(chunk, { stream: true }));
    yield* take();
  }
  // A last event whose empty line is missing is whole if it can be read.
  feed('\n\n');
  yield* take();

  function feed(text: string): void {
    try {
      parser.feed(text);
    } catch (error) {
      // A parser that has given up throws when it is fed again.
      if (failure === undefined) throw error;
    }
    if (failure !== undefined) throw new TooManyBytes();
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

/** Not every runtime can iterate over its own streams. */
function chunksOf(body: Body): AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in body ? body : chunksOfStream(body);
}

async function* chunksOfStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
