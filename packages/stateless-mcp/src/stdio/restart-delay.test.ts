import { describe, expect, it } from 'vitest';
import { RestartDelay } from './restart-delay.ts';

describe('RestartDelay', () => {
  it('is none at first and after a long life', () => {
    const delay = new RestartDelay();
    expect(delay.remainingMs(0)).toBe(0);
    delay.ended(10_000, 10_000);
    expect(delay.remainingMs(10_000)).toBe(0);
  });

  it('counts from the end of the process', () => {
    const delay = new RestartDelay();
    delay.ended(1000, 10);
    expect(delay.remainingMs(1000)).toBeGreaterThan(124);
    expect(delay.remainingMs(1250)).toBe(0);
    expect(delay.remainingMs(60_000)).toBe(0);
  });

  it('grows with every short life, to ten seconds at most, and starts over after a long one', () => {
    const delay = new RestartDelay();
    for (let end = 0; end < 100; end++) delay.ended(0, 4999);
    expect(delay.remainingMs(0)).toBeLessThanOrEqual(10_000);
    expect(delay.remainingMs(0)).toBeGreaterThanOrEqual(5000);
    delay.ended(20_000, 5000);
    expect(delay.remainingMs(20_000)).toBe(0);
    delay.ended(20_000, 0);
    expect(delay.remainingMs(20_000)).toBeLessThanOrEqual(250);
  });
});
