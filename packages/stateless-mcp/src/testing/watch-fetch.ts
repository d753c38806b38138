import type { HttpFetch, HttpFetchResponse } from '../http/http-fetch.ts';
import type { HeaderReader } from '../protocol/handler.ts';
import type { HttpRecord, WireRecord } from './record-wire.ts';

/** What notes things down. */
export interface FetchRecorder {
  add(direction: WireRecord['direction'], text: string, http: HttpRecord): void;
  head(url: string, headers: Iterable<readonly [string, string]>, status?: number): HttpRecord;
}

/** Of headers that can only be asked one by one. */
const ASKED_HEADERS = ['content-type', 'content-length', 'location', 'retry-after', 'www-authenticate'];

/** An HTTP client whose requests and answers are recorded as they pass. */
export function watchFetch(fetch: HttpFetch, recorder: FetchRecorder): HttpFetch {
  return async (url, request) => {
    recorder.add('sent', request.body, recorder.head(url, Object.entries(request.headers)));
    const response = await fetch(url, request);
    const { status, headers, type, body } = response;
    const http = recorder.head(url, listed(headers), status);
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    const note = (text: string): void => recorder.add('received', text, http);
    if (body === null) note('');
    return {
      status,
      headers,
      ...(type !== undefined && { type }),
      body: body === null ? null : passOn(body, isStream ? new EventReader(note) : new WholeReader(note)),
    };
  };
}

function listed(headers: HeaderReader): Iterable<readonly [string, string]> {
  if (headers instanceof Headers) return headers;
  return ASKED_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
}

/** Reads along with whoever reads the body. */
interface BodyReader {
  chunk(text: string): void;
  end(): void;
}

type Body = NonNullable<HttpFetchResponse['body']>;

/** Leaving it early leaves the body early. */
async function* passOn(body: Body, reader: BodyReader): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of chunksOf(body)) {
      reader.chunk(decoder.decode(chunk, { stream: true }));
      yield chunk;
    }
  } finally {
    reader.end();
  }
}

/** Not every runtime can iterate over its own streams. */
async function* chunksOf(body: Body): AsyncGenerator<Uint8Array, void, undefined> {
  if (Symbol.asyncIterator in body) {
    yield* body;
    return;
  }
  const stream: ReadableStream<Uint8Array> = body;
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

class WholeReader implements BodyReader {
  readonly #note: (text: string) => void;
  #text = '';

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  chunk(text: string): void {
    this.#text += text;
  }

  end(): void {
    this.#note(this.#text);
  }
}

class EventReader implements BodyReader {
  readonly #note: (text: string) => void;
  #text = '';

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  chunk(text: string): void {
    // Only what is new, and the end of line before it, can end an event: an event may come in many pieces.
    const searched = this.#text.slice(-3) + text;
    this.#text += text;
    if (!/\n\r?\n|\r\r/.test(searched)) return;
    const events = this.#text.split(/\r?\n\r?\n|\r\r/);
    this.#text = events.pop() ?? '';
    for (const event of events) this.#event(event);
  }

  end(): void {
    this.#event(this.#text);
  }

  /** Comments are signs of life, and no messages. */
  #event(event: string): void {
    const data = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
    if (data.length > 0) this.#note(data.map((line) => line.slice('data:'.length).replace(/^ /, '')).join('\n'));
  }
}
