import { describe, expect, it } from 'vitest';
import { describeArguments } from './prompt-arguments.ts';
import { formatIssues } from './schema-issue.ts';

describe('formatIssues', () => {
  it('names path, reason and the properties that are expected', () => {
    const schema = { properties: { city: { type: 'string' }, days: {} }, required: ['city'] };
    expect(
      formatIssues(
        [
          { path: '/city', message: 'Required.' },
          { path: '', message: 'Unknown key "town"' },
        ],
        schema,
      ),
    ).toBe('/city: Required; the value: Unknown key "town". Expected properties: city (required), days.');
    expect(formatIssues([{ path: '/a', message: 'Required' }])).toBe('/a: Required.');
  });

  it('is bounded', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`${'p'.repeat(1_000)}${index}`, {}]),
    );
    expect(formatIssues([{ path: '', message: 'x'.repeat(10_000) }], { properties }).length).toBeLessThanOrEqual(4_000);
  });
});

describe('describeArguments', () => {
  it('lists own properties with what describes them', () => {
    const schema = {
      properties: { city: { title: 'City', description: 'Where' }, days: true, toString: {} },
      required: ['city'],
    };
    expect(describeArguments(schema)).toEqual([
      { name: 'city', title: 'City', description: 'Where', required: true },
      { name: 'days', required: false },
      { name: 'toString', required: false },
    ]);
    expect(describeArguments({})).toEqual([]);
  });
});
