import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const read = (value: string | null): number | undefined => retryAfterMs({ get: () => value });

describe('retryAfterMs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 30, 12, 0, 0), toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('asks for the one header', () => {
    expect(retryAfterMs(new Headers({ 'Retry-After': '3', 'X-Other': '4' }))).toBe(3000);
    expect(retryAfterMs(new Headers())).toBeUndefined();
  });

  it.each([
    ['0', 0],
    ['1', 1000],
    [' 120 ', 120_000],
    ['007', 7000],
    ['999999999', 999_999_999_000],
  ])('reads %j as seconds', (value, milliseconds) => {
    expect(read(value)).toBe(milliseconds);
  });

  it.each([
    ['Mon, 30 Nov 2026 12:00:30 GMT', 30_000],
    ['Monday, 30-Nov-26 12:01:00 GMT', 60_000],
    ['Mon Nov 30 12:00:05 2026', 5000],
    ['Tue Dec  1 12:00:00 2026', 86_400_000],
    ['Mon, 30 Nov 2026 11:59:59 GMT', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
  ])('reads %j as a date, whatever the zone of this machine', (value, milliseconds) => {
    expect(read(value)).toBe(milliseconds);
  });

  it.each([
    null,
    '',
    ' ',
    '-5',
    '1.5',
    '1e3',
    '0x10',
    '5 seconds',
    'soon',
    'in 5',
    '1, 2',
    '2026-11-30',
    '12345678901',
    'Mon, 99 Nov 2026 12:00:30 GMT',
    'Infinity',
  ])('reads %j as nothing', (value) => {
    expect(read(value)).toBeUndefined();
  });
});
