/** Something that has deadlines of its own and is asked now and then whether one has passed. */
export interface Ticking {
  tick(now: number): void;
}

/** One timer for everything that waits, instead of one each. Runs only while something does. */
export class Sweep {
  readonly #members = new Set<Ticking>();
  readonly #intervalMs: number;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(member: Ticking): void {
    this.#members.add(member);
    this.#timer ??= startTimer(() => this.#tick(), this.#intervalMs);
  }

  remove(member: Ticking): void {
    this.#members.delete(member);
  }

  #tick(): void {
    if (this.#members.size === 0) {
      // Stopped here and not with the last member: under load that would start and stop it with every request.
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = Date.now();
    for (const member of this.#members) member.tick(now);
  }
}

/** The process may end while it runs, where the runtime has a say in that. */
function startTimer(tick: () => void, intervalMs: number): ReturnType<typeof setInterval> {
  const timer = setInterval(tick, intervalMs);
  if (typeof timer === 'object' && 'unref' in timer) timer.unref();
  return timer;
}
