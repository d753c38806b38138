/** Time, as those see it who wait for something. Tests put their own in its place. */
export interface Clock {
  /** Milliseconds since some moment in the past; never goes back. */
  now(): number;
  /** Runs `callback` once after `delayMs`. The function it returns calls that off. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The time of the platform. */
export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  after(delayMs: number, callback: () => void) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
});
