import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileIndex } from '../src/file-index.ts';

/** Few characters, so that paths often have the same beginning. */
const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '😀'), minLength: 1, maxLength: 6 });

describe('FileIndex', () => {
  it('finds what filtering and sorting would find', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { maxLength: 40 }),
        fc.record({ prefix: fc.oneof(path, fc.constant('')), after: fc.option(path, { nil: undefined }) }),
        fc.nat(10),
        (paths, { prefix, after }, limit) => {
          const matching = paths.filter((one) => one.startsWith(prefix)).sort();
          const following = matching.filter((one) => after === undefined || one > after);
          expect(new FileIndex(paths).find({ prefix, after, limit })).toEqual({
            paths: following.slice(0, limit),
            hasMore: following.length > limit,
            total: matching.length,
          });
        },
      ),
    );
  });

  it('stays sorted and free of duplicates', () => {
    const changes = fc.array(fc.record({ path, isAdded: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(changes, (steps) => {
        const index = new FileIndex();
        const expected = new Set<string>();
        for (const step of steps) {
          const isNews = step.isAdded !== expected.has(step.path);
          expect(step.isAdded ? index.add(step.path) : index.delete(step.path)).toBe(isNews);
          if (step.isAdded) expected.add(step.path);
          else expected.delete(step.path);
        }
        expect([...index]).toEqual([...expected].sort());
      }),
    );
  });
});
