import type { Clock } from '../../src/protocol/index.ts';
import { turn } from './scripted-peer.ts';

/** Time that passes when the test says so. */
export interface TestClock extends Clock {
  /** Lets time pass; what is due happens in its order, with everything that follows from it. */
  advance(ms: number): Promise<void>;
  /** How many timers wait. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

export function testClock(): TestClock {
  const timers = new Set<Timer>();
  let now = 1000;

  return {
    now: () => now,
    after(delayMs, callback) {
      const timer = { due: now + delayMs, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get pending() {
      return timers.size;
    },
    async advance(ms) {
      const end = now + ms;
      await turn();
      for (;;) {
        const [next] = [...timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
        if (next === undefined) break;
        now = Math.max(now, next.due);
        timers.delete(next);
        next.callback();
        await turn();
      }
      now = end;
      await turn();
    },
  };
}
