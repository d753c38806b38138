import type { CacheHints } from '../protocol/result.ts';

/** The safe default: clients ask again, and nothing is shared between callers. */
export const NO_CACHE: CacheHints = Object.freeze({ ttlMs: 0, cacheScope: 'private' });

/**
 * @param dependsOnCaller whatever makes the result depend on who asks, if anything does
 * @throws RangeError, TypeError for hints that are not valid or not true
 */
export function checkCacheHints(
  label: string,
  hints: Partial<CacheHints> | undefined,
  dependsOnCaller: unknown,
): CacheHints {
  const { ttlMs = NO_CACHE.ttlMs, cacheScope = NO_CACHE.cacheScope } = hints ?? {};
  if (!(Number.isSafeInteger(ttlMs) && ttlMs >= 0)) {
    throw new RangeError(`${label}: ttlMs must be an integer of milliseconds from 0, not ${String(ttlMs)}`);
  }
  if (cacheScope !== 'private' && cacheScope !== 'public') {
    throw new TypeError(`${label}: cacheScope must be 'private' or 'public', not '${String(cacheScope)}'`);
  }
  if (cacheScope === 'public' && dependsOnCaller !== undefined) {
    throw new TypeError(`${label}: what depends on the caller (visible, scopes) cannot have cacheScope 'public'`);
  }
  return { ttlMs, cacheScope };
}
