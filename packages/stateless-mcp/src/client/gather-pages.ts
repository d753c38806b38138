import { excerpt } from '../protocol/excerpt.ts';
import { invalidAnswer } from '../protocol/inbound.ts';
import type { Clock } from '../protocol/clock.ts';
import { isObject } from '../protocol/json.ts';
import { LocalError } from '../protocol/local-error.ts';
import type { Logger } from '../protocol/logger.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { CacheableResult, PaginatedParams, PaginatedResult } from '../protocol/result.ts';

export type ListRow<Result extends ListResult = ListResult> = MethodRow<PaginatedParams, Result>;
export type ListResult = PaginatedResult & CacheableResult;

/** More entries than this are no list. */
const MAX_LIST_ENTRIES = 100_000;

/** Asks for one page. */
export type ReadPage<Result extends ListResult> = (cursor: string | undefined) => Promise<Result>;

/**
 * The pages of a list, one by one, until a page has no cursor.
 *
 * @throws LocalError `invalid_answer` if a cursor comes again, `too_large` beyond `maxPages`
 */
export async function* eachPage<Result extends ListResult>(
  row: ListRow<Result>,
  readPage: ReadPage<Result>,
  maxPages: number,
): AsyncGenerator<Result, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const result = await readPage(cursor);
    yield result;
    // The empty string is a cursor like any other.
    cursor = result.nextCursor;
    if (cursor === undefined) return;
    if (seen.has(cursor))
      throw invalidAnswer(row.name, `the cursor "${excerpt(cursor)}" came twice: the list has no end`, row);
    seen.add(cursor);
  }
  throw new LocalError('too_large', `${row.name} has more than ${maxPages} pages (maxPages)`, { phase: 'list' });
}

/**
 * All pages as one: every entry once, the narrowest scope of them, and the time for which all of them are fresh: that of a
 * page runs from when it came. An entry without a name is left out with a warning, so that it does not hide the others.
 */
export async function gatherPages<Result extends ListResult>(
  row: ListRow<Result>,
  readPage: ReadPage<Result>,
  { maxPages, clock, logger }: { readonly maxPages: number; readonly clock: Clock; readonly logger: Logger },
): Promise<Result> {
  const { pages: entriesOf = '', entryKey = 'name' } = row;
  const entries = new Map<string, unknown>();
  let first: Result | undefined;
  let ttlMs = Infinity;
  let received = clock.now();
  let cacheScope: Result['cacheScope'] = 'public';
  let nameless = 0;
  for await (const page of eachPage(row, readPage, maxPages)) {
    first ??= page;
    const age = clock.now() - received;
    received += age;
    ttlMs = Math.min(Math.max(0, Math.floor(ttlMs - age)), page.ttlMs);
    if (page.cacheScope !== 'public') cacheScope = 'private';
    const before = entries.size + nameless;
    const list = page[entriesOf] as readonly unknown[];
    for (const entry of list) {
      const name = isObject(entry) ? entry[entryKey] : undefined;
      if (typeof name !== 'string') nameless += 1;
      else if (!entries.has(name)) entries.set(name, entry);
    }
    if (entries.size > MAX_LIST_ENTRIES) {
      throw new LocalError('too_large', `${row.name} has more than ${MAX_LIST_ENTRIES} entries`, { phase: 'list' });
    }
    const isRepeated = list.length > 0 && entries.size + nameless === before && page.nextCursor !== undefined;
    if (isRepeated)
      throw invalidAnswer(row.name, 'a page holds nothing but what came before: the list has no end', row);
  }
  if (nameless > 0) logger.warn(`${row.name}: ${nameless} entries have no name and were left out`);
  // There is a first page, or the loop has thrown.
  const { nextCursor: _, ...rest } = first as Result;
  return { ...rest, [entriesOf]: [...entries.values()], ttlMs, cacheScope } as unknown as Result;
}
