import type { HeaderReader } from '../protocol/handler.ts';

/** A date of HTTP in any of its three forms. `Date.parse` alone makes a date of almost anything. */
const DATE = /^[A-Z][a-z]{2,8},? [\w -]{6,14} \d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/** Milliseconds that `Retry-After` asks to wait: seconds, or a date. `undefined` if there is none that can be read. */
export function retryAfterMs(headers: HeaderReader): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  // The oldest form has no zone, and means that one too.
  const date = DATE.test(value) ? Date.parse(value.endsWith('GMT') ? value : `${value} GMT`) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
