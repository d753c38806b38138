import type { HeaderReader } from '../protocol/handler.ts';

/** Milliseconds that `Retry-After` asks to wait: seconds, or a date. `undefined` if there is none that can be read. */
export function retryAfterMs(headers: HeaderReader): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
