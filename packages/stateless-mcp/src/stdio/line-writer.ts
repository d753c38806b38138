import type { Writable } from 'node:stream';

/**
 * The one writer behind a stream: whole lines, in order. Lines of the same moment go out together, because a system call
 * for each would cost more than making them.
 */
export class LineWriter {
  readonly #stream: Writable;
  #pending = '';
  #isScheduled = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Bytes that were written and that the stream has not taken, roughly: text counts by its length. */
  get bufferedBytes(): number {
    return this.#stream.writableLength + this.#pending.length;
  }

  /** @param line of JSON, without its end */
  write(line: string): void {
    this.#pending += `${line}\n`;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => this.flush());
  }

  /** Hands over now what waits for the end of this moment. */
  flush(): void {
    this.#isScheduled = false;
    const text = this.#pending;
    this.#pending = '';
    if (text !== '' && this.#stream.writable) this.#stream.write(text);
  }

  /** Ends the stream behind all that was written; resolves when the system has it, or the stream is gone. */
  async end(): Promise<void> {
    this.flush();
    if (this.#stream.destroyed || this.#stream.writableFinished) return;
    await new Promise<void>((resolve) => {
      this.#stream.once('close', resolve);
      this.#stream.end(resolve);
    });
  }
}
