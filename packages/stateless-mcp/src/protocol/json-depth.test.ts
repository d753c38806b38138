import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { exceedsDepth, valueExceedsDepth } from './json-depth.ts';

const encoder = new TextEncoder();

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 12, depthSize: 'large' },
    fc.oneof(
      fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', '/', 'n', 'u', ',', ':', 'é', '世', '\ud83d') }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: fc.constantFrom('[', '"', '\\', '}', 'k') }), tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('exceedsDepth and valueExceedsDepth', () => {
  it('agree with a naive count at, below and above the depth, compact or indented', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const depth = depthOf(value);
        for (const limit of [0, depth - 1, depth, depth + 1].filter((candidate) => candidate >= 0)) {
          expect(exceedsDepth(encoder.encode(text), limit)).toBe(depth > limit);
          expect(valueExceedsDepth(JSON.parse(text), limit)).toBe(depth > limit);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['1', 0],
    ['"[[[["', 0],
    ['[]', 1],
    ['{}', 1],
    ['[[],[],[]]', 2],
    ['{"a":{"b":[1]}}', 3],
    [String.raw`["\"[[["]`, 1],
    [String.raw`["\\",[]]`, 2],
    [String.raw`["\\\"[",[]]`, 2],
    [String.raw`{"[\u005b":[]}`, 2],
    [' \n[ [ ] ] ', 2],
  ])('%s has depth %i', (text, depth) => {
    expect(exceedsDepth(encoder.encode(text), depth)).toBe(false);
    expect(valueExceedsDepth(JSON.parse(text), depth)).toBe(false);
    if (depth === 0) return;
    expect(exceedsDepth(encoder.encode(text), depth - 1)).toBe(true);
    expect(valueExceedsDepth(JSON.parse(text), depth - 1)).toBe(true);
  });
});

describe('exceedsDepth', () => {
  it('survives 200,000 levels', () => {
    const levels = 200_000;
    const arrays = encoder.encode('['.repeat(levels) + ']'.repeat(levels));
    const objects = encoder.encode('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));
    for (const bytes of [arrays, objects]) {
      expect(exceedsDepth(bytes, 128)).toBe(true);
      expect(exceedsDepth(bytes, levels - 1)).toBe(true);
      expect(exceedsDepth(bytes, levels)).toBe(false);
    }
  });

  it.each(['', '"', '"\\', '["\\"', ']]]]', '\\"[['])('ends on broken text %j', (text) => {
    expect(typeof exceedsDepth(encoder.encode(text), 1)).toBe('boolean');
  });
});

describe('valueExceedsDepth', () => {
  it('survives 200,000 levels', () => {
    const levels = 200_000;
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
    expect(valueExceedsDepth(value, 128)).toBe(true);
    expect(valueExceedsDepth(value, levels - 1)).toBe(true);
    expect(valueExceedsDepth(value, levels)).toBe(false);
  });

  it('finds that a cycle exceeds every limit', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(valueExceedsDepth(cycle, 1000)).toBe(true);
  });

  it('sees through keys with the names of prototype members', () => {
    expect(valueExceedsDepth(JSON.parse('{"__proto__":[[1]]}'), 2)).toBe(true);
  });

  it('takes wide values', () => {
    const wide = Array.from({ length: 300_000 }, () => ({}));
    expect(valueExceedsDepth(wide, 2)).toBe(false);
    expect(valueExceedsDepth(wide, 1)).toBe(true);
  });
});
