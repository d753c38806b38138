import type { Clock } from '../../src/protocol/index.ts';

interface Timer {
  readonly at: number;
  readonly delayMs: number;
  readonly callback: () => void;
}

/** Time that passes when a test says so. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<Timer>();

  /** What timers that have not fired were set to. */
  get delays(): readonly number[] {
    return [...this.#timers].map(({ delayMs }) => delayMs);
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, delayMs, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
  }
}
