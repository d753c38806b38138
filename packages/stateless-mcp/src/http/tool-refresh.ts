/** A reading that is under way. */
interface Reading {
  readonly done: Promise<void>;
  readonly leaving: AbortController;
  waiting: number;
}

/** Reading the tools again: once for all calls that wait for it, and for as long as one of them does. */
export class ToolRefresh {
  #reading: Reading | undefined;
  #count = 0;

  /** How often the tools were read again. Whoever began before the last time need not ask for it. */
  get count(): number {
    return this.#count;
  }

  /**
   * Waits for the reading that is under way, or for a new one.
   *
   * @param signal of the one who waits: rejects with its reason, at once
   * @param read ends by its own signal when nobody waits any more
   */
  async join(signal: AbortSignal, read: (signal: AbortSignal) => Promise<void>): Promise<void> {
    signal.throwIfAborted();
    const reading = (this.#reading ??= this.#start(read));
    reading.waiting++;
    return new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason as Error);
        if (--reading.waiting > 0) return;
        this.#end(reading);
        reading.leaving.abort(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      reading.done.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #start(read: (signal: AbortSignal) => Promise<void>): Reading {
    const leaving = new AbortController();
    const reading: Reading = { done: this.#counted(read(leaving.signal)), leaving, waiting: 0 };
    const end = (): void => this.#end(reading);
    reading.done.then(end, end);
    return reading;
  }

  async #counted(reading: Promise<void>): Promise<void> {
    await reading;
    this.#count++;
  }

  #end(reading: Reading): void {
    if (this.#reading === reading) this.#reading = undefined;
  }
}
