import type { WireMessage } from '../message-stream.ts';

/** Messages that somebody reads one by one, as they come. */
export class MessageQueue {
  readonly #messages: WireMessage[] = [];
  readonly #readers: { resolve(message: WireMessage | undefined): void; reject(error: unknown): void }[] = [];
  #isOver = false;
  #error: { readonly reason: unknown } | undefined;

  push(message: WireMessage): void {
    const reader = this.#readers.shift();
    if (reader === undefined) this.#messages.push(message);
    else reader.resolve(message);
  }

  /** There will be no more. */
  end(): void {
    this.#isOver = true;
    for (const reader of this.#readers.splice(0)) reader.resolve(undefined);
  }

  /** Whoever reads gets this error, from now on. */
  fail(reason: unknown): void {
    this.#error ??= { reason };
    for (const reader of this.#readers.splice(0)) reader.reject(reason);
  }

  async next(): Promise<WireMessage | undefined> {
    if (this.#error !== undefined) throw this.#error.reason;
    const message = this.#messages.shift();
    if (message !== undefined || this.#isOver) return message;
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }
}
