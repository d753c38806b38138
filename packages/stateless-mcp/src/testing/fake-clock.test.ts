import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { loopback, McpClient } from '../client/index.ts';
import { fakeClock } from './index.ts';

describe('fakeClock', () => {
  it('shows the time that has passed, and runs what is due at its own time', async () => {
    const clock = fakeClock(100);
    const seen: number[] = [];
    clock.after(10, () => seen.push(clock.now()));
    clock.after(30, () => seen.push(clock.now()));
    expect(clock.pending).toBe(2);
    await clock.advance(9);
    expect(seen).toEqual([]);
    await clock.advance(6);
    expect({ seen, now: clock.now(), pending: clock.pending }).toEqual({ seen: [110], now: 115, pending: 1 });
    await clock.advance(1000);
    expect(seen).toEqual([110, 130]);
  });

  it('runs whatever is set in the order of its time, and in that of setting at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 8 }), async (delays) => {
        const clock = fakeClock();
        const seen: number[] = [];
        for (const [index, delay] of delays.entries()) clock.after(delay, () => seen.push(index));
        await clock.advance(5);
        const order = [...delays.keys()].sort((a, b) => (delays[a] ?? 0) - (delays[b] ?? 0) || a - b);
        expect(seen).toEqual(order);
      }),
      { numRuns: 30 },
    );
  });

  it('does not run what was called off', async () => {
    const clock = fakeClock();
    const callback = vi.fn();
    clock.after(10, callback)();
    expect(clock.pending).toBe(0);
    await clock.advance(10);
    expect(callback).not.toHaveBeenCalled();
  });

  it('lets promises settle between two callbacks, and runs what they set up', async () => {
    const clock = fakeClock();
    const seen: string[] = [];
    const wait = async (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
    const work = async (): Promise<void> => {
      await wait(10);
      seen.push(`first ${clock.now()}`);
      await wait(10);
      seen.push(`second ${clock.now()}`);
    };
    const done = work();
    clock.after(15, () => seen.push('between'));
    await clock.advance(20);
    await done;
    expect(seen).toEqual(['first 10', 'between', 'second 20']);
  });

  it('refuses time that goes back', async () => {
    await expect(fakeClock().advance(-1)).rejects.toThrow(RangeError);
    await expect(fakeClock().advance(NaN)).rejects.toThrow('advance: a time must be 0 ms or more, not NaN');
  });

  it('hands on what a callback throws, and goes on from there', async () => {
    const clock = fakeClock();
    clock.after(1, () => {
      throw new Error('broken');
    });
    const callback = vi.fn();
    clock.after(2, callback);
    await expect(clock.advance(5)).rejects.toThrow('broken');
    expect(clock.now()).toBe(1);
    await clock.advance(1);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('goes on under fake timers of a test framework', async () => {
    vi.useFakeTimers();
    try {
      const clock = fakeClock();
      const callback = vi.fn();
      clock.after(5, callback);
      await clock.advance(5);
      expect(callback).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  it('lets the limit of a client run out without waiting for it', async () => {
    const clock = fakeClock();
    const peer = loopback(async () => new Promise(() => {}));
    await using client = new McpClient(peer, { clock, idleTimeoutMs: 5000 });
    const outcome = client.callTool('slow').catch((error: unknown) => error);
    await clock.advance(4999);
    expect(clock.pending).toBeGreaterThan(0);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ code: 'timeout', timer: 'idle', maybeExecuted: true });
    expect(clock.pending).toBe(0);
  });
});
