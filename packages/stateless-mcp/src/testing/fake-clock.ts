import type { Clock } from '../protocol/clock.ts';

/** Time that passes when a test says so. */
export interface FakeClock extends Clock {
  /**
   * Lets time pass. Whatever falls due meanwhile runs at its own time, in order, and the promises that it settles are
   * followed up before the next one: what it sets up in turn runs too, if it falls due.
   *
   * @throws RangeError for a time that is negative or no number; and what a callback throws
   */
  advance(ms: number): Promise<void>;
  /** How many callbacks wait. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/**
 * A clock for tests of what waits: limits of time, pauses, what is kept for a while. Promises that depend on real time,
 * sockets or processes are not waited for.
 *
 * @example
 * const clock = fakeClock();
 * const client = new McpClient(peer, { clock, idleTimeoutMs: 5_000 });
 * const call = client.callTool('slow');
 * await clock.advance(5_000);
 * await call; // rejects: LocalError of code `timeout`
 *
 * @param startMs what it shows at first. Default: 0
 */
export function fakeClock(startMs = 0): FakeClock {
  const timers = new Set<Timer>();
  let now = startMs;

  return {
    now: () => now,
    after(delayMs, callback) {
      const timer = { due: now + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get pending() {
      return timers.size;
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`advance: a time must be 0 ms or more, not ${String(ms)}`);
      const end = now + ms;
      await settled();
      for (let next = earliest(timers, end); next !== undefined; next = earliest(timers, end)) {
        timers.delete(next);
        now = next.due;
        next.callback();
        await settled();
      }
      now = end;
    },
  };
}

/** Of those due at the same time, the one that was set first. */
function earliest(timers: ReadonlySet<Timer>, end: number): Timer | undefined {
  let found: Timer | undefined;
  for (const timer of timers) {
    if (timer.due <= end && (found === undefined || timer.due < found.due)) found = timer;
  }
  return found;
}

// Taken here, because a test may put its own in their place later.
const { setTimeout } = globalThis;

/** A turn of the event loop: every promise that can go on without time passing has done so. */
async function settled(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
