import type { AnswerChannel, ChannelEvents } from './answer-channel.ts';

const encoder = new TextEncoder();

/** Bytes that the stream itself keeps for its reader. */
const STREAM_BUFFER_BYTES = 16 * 1024;

/** Known from proxies; nobody receives it. */
const CLIENT_CLOSED_REQUEST = 499;

/** An answer as a Fetch `Response`. */
export class FetchChannel implements AnswerChannel {
  readonly response: Promise<Response>;
  #respond!: (response: Response) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #events: ChannelEvents | undefined;
  #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.close();
  #hasResponse = false;
  #isClosed = false;
  #lastUnread = 0;

  constructor() {
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
    });
  }

  /** @param signal of the request: aborts when its client leaves */
  attach(events: ChannelEvents, signal: AbortSignal): void {
    this.#events = events;
    if (this.#isClosed) {
      events.closed();
      return;
    }
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.close();
  }

  hasMoved(): boolean {
    const unread = this.bufferedBytes;
    const moved = unread === 0 || unread < this.#lastUnread;
    this.#lastUnread = unread;
    return moved;
  }

  get bufferedBytes(): number {
    return Math.max(0, STREAM_BUFFER_BYTES - (this.#controller?.desiredSize ?? STREAM_BUFFER_BYTES));
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body?: string): void {
    const bytes = body === undefined ? null : encoder.encode(body);
    const length = bytes === null ? undefined : { 'Content-Length': String(bytes.length) };
    this.#hasResponse = true;
    this.#respond(new Response(bytes, { status, headers: { ...headers, ...length } }));
    this.close();
  }

  open(headers: Readonly<Record<string, string>>): void {
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#events?.drained(),
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: STREAM_BUFFER_BYTES }),
    );
    this.#hasResponse = true;
    this.#respond(new Response(stream, { status: 200, headers }));
  }

  write(text: string): void {
    if (!this.#isClosed) this.#controller?.enqueue(encoder.encode(text));
  }

  end(): void {
    if (this.#isClosed) return;
    this.#controller?.close();
    this.close();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.#controller?.error(new DOMException('The reader took nothing for too long', 'TimeoutError'));
    this.close();
  }

  /** The client is gone, or everything has been handed over. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    // Whoever waits for the response learns that there will be none; a response that was given stays.
    if (!this.#hasResponse) this.#respond(new Response(null, { status: CLIENT_CLOSED_REQUEST }));
    this.#events?.closed();
  }
}
