/**
 * Chunks as one run of bytes. Grows by doubling, so that many small chunks cost no more than a few large ones; a single chunk
 * is not copied.
 */
export class GatheredBytes {
  readonly #most: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;
  /** It is a copy, and not the chunk that came first. */
  #isOwn = false;

  /** @param most how many there will be at most: no room is made for more */
  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = chunk;
      this.#isOwn = false;
    } else {
      if (!this.#isOwn || length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(chunk, this.#length);
    }
    this.#length = length;
  }

  /** What was gathered. Valid until more is. */
  get bytes(): Uint8Array {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, Math.min(this.#most, 2 * this.#bytes.length)));
    grown.set(this.bytes);
    this.#bytes = grown;
    this.#isOwn = true;
  }
}
