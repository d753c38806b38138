/** What a timer can wait for. Anything longer would fire at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/**
 * Checks an option that is a count, a size or a time; those whose name ends in `Ms` must suit a timer.
 *
 * @throws RangeError naming the option and its value
 */
export function checkPositiveInteger(where: string, option: string, value: number | undefined): void {
  if (value === undefined) return;
  const most = option.endsWith('Ms') ? MAX_TIMER_MS : Number.MAX_SAFE_INTEGER;
  if (Number.isInteger(value) && value > 0 && value <= most) return;
  throw new RangeError(`${where}: ${option} must be an integer from 1 to ${most}, not ${String(value)}`);
}
