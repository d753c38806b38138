import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assessPattern } from './pattern-cost.ts';

describe('assessPattern', () => {
  it.each([
    '^(a|a)*$',
    '^(a*)*$',
    '(a+)+$',
    '^(a?b?)*$',
    '^(\\w+\\s?)*$',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '^((ab)*)*$',
    '^(?=(a+)+$)a',
    '^(?:a|[a-c]|\\w)+$',
    '^(?:\\u0061|a)*$',
  ])('refuses the exponential %s', (pattern) => {
    expect(assessPattern(pattern)).toContain('can take exponential time');
  });

  it.each([
    '(a|a)'.repeat(30),
    `${'a?'.repeat(30)}${'a'.repeat(30)}`,
    'a*a*a*a*a*a*a*a*$',
    '^(?:.*,){11}P',
    '^(a?){30}a{30}$',
  ])('refuses %s, which has too many ways', (pattern) => {
    expect(assessPattern(pattern)).toMatch(/too many ways|may be empty/);
  });

  it.each([
    ['^(a)\\1$', 'back reference'],
    ['^(?<x>a)\\k<x>$', 'back reference'],
    ['[', 'is no regular expression'],
    ['\\-', 'is no regular expression'],
    ['a'.repeat(2_001), 'longer than'],
    ['(?:'.repeat(60) + ')'.repeat(60), 'nests groups'],
    ['[ab]'.repeat(300), 'too large'],
  ])('refuses %s', (pattern, reason) => {
    expect(assessPattern(pattern)).toContain(reason);
  });

  it.each([
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
    '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
    '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    '^[a-f0-9]{64}$',
    '^.{1,2000}$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^((25[0-5]|2[0-4]\\d|[01]?\\d\\d?)\\.){3}(25[0-5]|2[0-4]\\d|[01]?\\d\\d?)$',
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    '^v?\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$',
    '^\\p{L}+$',
    'foo.*bar',
    '^https?://',
    '',
  ])('accepts %s', (pattern) => {
    expect(assessPattern(pattern)).toMatchObject({ maxLength: expect.any(Number) });
  });

  it('tests long strings only with patterns that stay cheap on them', () => {
    expect(assessPattern('^[a-z]+$')).toMatchObject({ exponent: 1, maxLength: 1_048_576 });
    for (const open of ['.*', '\\S+', 'a.*', '^https?://.+'])
      expect(assessPattern(open)).toMatchObject({ maxLength: 1_048_576 });
    expect(assessPattern('[a-z]+x')).toMatchObject({ exponent: 2, maxLength: 10_000 });
    expect(assessPattern('^.+@.+\\..+$')).toMatchObject({ exponent: 3, maxLength: 464 });
  });

  const atom = fc.constantFrom('a', 'b', '[ab]', '.', 'c');
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{0,3}', '{2}', '{20,}'))
        .map(([body, count]) => `(?:${body})${count}`),
      fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => left + right),
      fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
    ),
  }));

  it('bounds what an accepted pattern costs', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(
        pattern,
        fc.constantFrom('^', ''),
        fc.constantFrom('$', ''),
        fc.constantFrom('a', 'ab', 'abb'),
        (body, start, end, period) => {
          const expression = `${start}${body}${end}`;
          const cost = assessPattern(expression);
          if (typeof cost === 'string') return;
          const length = Math.min(cost.maxLength, 2_000, Math.floor((1e6 / cost.factor) ** (1 / cost.exponent)));
          const text = `${period.repeat(Math.floor(length / period.length))}!`;
          const started = performance.now();
          new RegExp(expression, 'u').test(text);
          expect(performance.now() - started).toBeLessThan(5_000); // an exponential one would never end
        },
      ),
      { numRuns: 500 },
    );
  });
});
