import type { AnswerChannel, ChannelEvents } from './answer-channel.ts';

const encoder = new TextEncoder();

/** Bytes that the stream itself keeps for its reader. */
const STREAM_BUFFER_BYTES = 16 * 1024;

/** An answer as a Fetch `Response`. */
export class FetchChannel implements AnswerChannel {
  readonly response: Promise<Response>;
  #respond!: (response: Response) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #events: ChannelEvents | undefined;
  #isClosed = false;

  constructor() {
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
    });
  }

  /** Whom to tell about the reader, from now on. */
  attach(events: ChannelEvents): void {
    this.#events = events;
    if (this.#isClosed) events.closed();
  }

  get bufferedBytes(): number {
    return Math.max(0, STREAM_BUFFER_BYTES - (this.#controller?.desiredSize ?? STREAM_BUFFER_BYTES));
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body?: string): void {
    const bytes = body === undefined ? null : encoder.encode(body);
    const length = bytes === null ? undefined : { 'Content-Length': String(bytes.length) };
    this.#respond(new Response(bytes, { status, headers: { ...headers, ...length } }));
    this.close();
  }

  open(headers: Readonly<Record<string, string>>): void {
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          if (this.bufferedBytes === 0) this.#events?.drained();
        },
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: STREAM_BUFFER_BYTES }),
    );
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
    this.#events?.closed();
  }
}
