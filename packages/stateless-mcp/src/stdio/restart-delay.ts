/** After a life as long as this one, a process is started again at once. */
const STABLE_MS = 5000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;

/** When a process that ended may be started again: the sooner, the longer it has lived. */
export class RestartDelay {
  #failures = 0;
  #nextStart = Number.NEGATIVE_INFINITY;

  /** @param lifeMs how long it ran. 0: it could not be started */
  ended(now: number, lifeMs: number): void {
    this.#failures = lifeMs >= STABLE_MS ? 0 : this.#failures + 1;
    if (this.#failures === 0) return;
    const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1));
    // Spread, so that many clients of what brought their servers down do not come back in step.
    this.#nextStart = now + delay * (0.5 + Math.random() / 2);
  }

  /** Milliseconds to wait. */
  remainingMs(now: number): number {
    return Math.max(0, this.#nextStart - now);
  }
}
