import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CacheScope } from '../protocol/result.ts';
import type { ListToolsResult } from '../protocol/tools.ts';
import { LIST_TOOLS } from '../protocol/methods.ts';
import { consoleLogger } from '../protocol/logger.ts';
import { gatherPages } from './gather-pages.ts';

interface Page {
  readonly names: readonly string[];
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
  /** Milliseconds that it takes to come. */
  readonly takes: number;
  readonly nextCursor: string | undefined;
}

/** A server that says anything: cursors lead on, in circles, or back to the start. */
const cursors = ['', 'a', 'b', 'c', '__proto__'];
const page: fc.Arbitrary<Page> = fc.record({
  names: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'constructor'), { maxLength: 3 }),
  ttlMs: fc.nat({ max: 100 }),
  cacheScope: fc.constantFrom<CacheScope>('public', 'private'),
  takes: fc.nat({ max: 30 }),
  nextCursor: fc.option(fc.constantFrom(...cursors), { nil: undefined, freq: 4 }),
});
const server = fc.tuple(page, fc.array(page, { minLength: cursors.length, maxLength: cursors.length }));

type Outcome =
  | { readonly names: readonly string[]; readonly ttlMs: number; readonly cacheScope: CacheScope }
  | { readonly code: string };

/** The same in the plainest way: walk first, then look at what was found. */
function model(first: Page, others: readonly Page[], maxPages: number): Outcome {
  const walked: Page[] = [];
  const used: string[] = [];
  for (let at: Page | undefined = first; at !== undefined;) {
    if (walked.length === maxPages) return { code: 'too_large' };
    walked.push(at);
    const before = walked.slice(0, -1).flatMap(({ names }) => names);
    const isNews = at.names.length === 0 || at.names.some((name) => !before.includes(name));
    const { nextCursor }: Page = at;
    if (nextCursor === undefined) break;
    if (!isNews || used.includes(nextCursor)) return { code: 'invalid_answer' };
    used.push(nextCursor);
    at = others[cursors.indexOf(nextCursor)];
  }
  const ages = walked.map((_, index) => walked.slice(index + 1).reduce((sum, { takes }) => sum + takes, 0));
  return {
    names: walked.flatMap(({ names }) => names).filter((name, index, all) => all.indexOf(name) === index),
    ttlMs: Math.min(...walked.map(({ ttlMs }, index) => Math.max(0, ttlMs - (ages[index] ?? 0)))),
    cacheScope: walked.every(({ cacheScope }) => cacheScope === 'public') ? 'public' : 'private',
  };
}

async function gathered(first: Page, others: readonly Page[], maxPages: number): Promise<Outcome> {
  let now = 0;
  const clock = { now: () => now, after: () => () => {} };
  try {
    const { tools, ttlMs, cacheScope } = await gatherPages(
      LIST_TOOLS,
      async (cursor): Promise<ListToolsResult> => {
        const { names, takes, nextCursor, ...hints } =
          cursor === undefined ? first : (others[cursors.indexOf(cursor)] as Page);
        now += takes;
        const entries = names.map((name) => ({ name, inputSchema: { type: 'object' as const } }));
        return { resultType: 'complete', tools: entries, ...hints, ...(nextCursor !== undefined && { nextCursor }) };
      },
      { maxPages, clock, logger: consoleLogger },
    );
    return { names: tools.map(({ name }) => name), ttlMs, cacheScope };
  } catch (error) {
    return { code: (error as { readonly code: string }).code };
  }
}

describe('gatherPages', () => {
  it('finds what a plain walk finds, whatever a server says', async () => {
    let lists = 0;
    const failures = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(server, fc.integer({ min: 1, max: 7 }), async ([first, others], maxPages) => {
        const outcome = await gathered(first, others, maxPages);
        expect(outcome).toEqual(model(first, others, maxPages));
        if ('code' in outcome) failures.set(outcome.code, (failures.get(outcome.code) ?? 0) + 1);
        else lists += 1;
      }),
      { numRuns: 2000 },
    );
    // The servers were worth the trouble.
    expect(lists).toBeGreaterThan(100);
    expect([...failures.keys()].sort()).toEqual(['invalid_answer', 'too_large']);
  });
});
