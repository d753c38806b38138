import { excerpt } from '../protocol/excerpt.ts';
import { invalidAnswer } from '../protocol/inbound.ts';
import { isObject } from '../protocol/json.ts';
import { LocalError } from '../protocol/local-error.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { CacheableResult, PaginatedParams, PaginatedResult } from '../protocol/result.ts';

export type ListRow<Result extends ListResult = ListResult> = MethodRow<PaginatedParams, Result>;
export type ListResult = PaginatedResult & CacheableResult;

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
      throw invalidAnswer(row.name, `the cursor "${excerpt(cursor)}" came twice: the list has no end`);
    seen.add(cursor);
  }
  throw new LocalError('too_large', `${row.name} has more than ${maxPages} pages (maxPages)`, { phase: 'list' });
}

/** All pages as one: every entry once, the shortest time and the narrowest scope of them. */
export async function gatherPages<Result extends ListResult>(
  row: ListRow<Result>,
  readPage: ReadPage<Result>,
  maxPages: number,
): Promise<Result> {
  const entriesOf = row.pages ?? '';
  const entries = new Map<string, unknown>();
  let first: Result | undefined;
  let ttlMs = Infinity;
  let cacheScope: Result['cacheScope'] = 'public';
  for await (const page of eachPage(row, readPage, maxPages)) {
    first ??= page;
    ttlMs = Math.min(ttlMs, page.ttlMs);
    if (page.cacheScope === 'private') cacheScope = 'private';
    const before = entries.size;
    const list = page[entriesOf] as readonly unknown[];
    for (const entry of list) {
      const name = nameOf(entry);
      if (name === undefined) throw invalidAnswer(row.name, `"${entriesOf}" holds an entry without a name or URI`);
      if (!entries.has(name)) entries.set(name, entry);
    }
    const isRepeated = list.length > 0 && entries.size === before && page.nextCursor !== undefined;
    if (isRepeated) throw invalidAnswer(row.name, 'a page holds nothing but what came before: the list has no end');
  }
  // There is a first page, or the loop has thrown.
  const { nextCursor: _, ...rest } = first as Result;
  return { ...rest, [entriesOf]: [...entries.values()], ttlMs, cacheScope } as unknown as Result;
}

/** What tells an entry from the others: resources may share a name, but not a URI. */
function nameOf(entry: unknown): string | undefined {
  if (!isObject(entry)) return undefined;
  const name = entry.uri ?? entry.uriTemplate ?? entry.name;
  return typeof name === 'string' ? name : undefined;
}
