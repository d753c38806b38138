import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../protocol/json.ts';
import { copySchema } from './schema-copy.ts';
import { checkSchema } from './schema-guards.ts';

const check = (schema: unknown): unknown =>
  checkSchema(copySchema(schema, 'tool "t" inputSchema'), 'tool "t" inputSchema');

function nested(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = { not: schema };
  return schema;
}

describe('references', () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each<[string, JsonObject]>([
    ['a JSON Pointer', { $ref: '#/$defs/a', $defs: { a: {} } }],
    ['an escaped JSON Pointer', { $ref: '#/$defs/a~1b%20c~0d', $defs: { 'a/b c~d': {} } }],
    ['the root', { properties: { child: { $ref: '#' } } }],
    ['an anchor', { $ref: '#here', $defs: { a: { $anchor: 'here' } } }],
    ['a dynamic anchor that exists once', { properties: { child: { $dynamicRef: '#node' } }, $dynamicAnchor: 'node' }],
    ['an $id', { $ref: 'item.json', $defs: { a: { $id: 'item.json' } } }],
    [
      'an absolute $id',
      { $id: 'https://example.com/root', $ref: 'item#/$defs/b', $defs: { a: { $id: 'item', $defs: { b: {} } } } },
    ],
    ['an $id that is a URN', { $id: 'urn:example:root', $ref: '#/$defs/a', $defs: { a: {} } }],
    [
      'an anchor of draft 7',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        allOf: [{ $ref: '#x' }],
        definitions: { a: { $id: '#x' } },
      },
    ],
    [
      'an id of draft 4',
      { $schema: 'http://json-schema.org/draft-04/schema#', allOf: [{ $ref: 'x' }], definitions: { a: { id: 'x' } } },
    ],
    ['a place of no keyword', { $ref: '#/components/a', components: { a: { $ref: '#/$defs/b' } }, $defs: { b: {} } }],
    ['a member that is named like one of Object.prototype', { $ref: '#/$defs/toString', $defs: { toString: {} } }],
  ])('to %s resolve', (_, schema) => {
    expect(check(schema)).toBeDefined();
  });

  it.each<[string, JsonObject, string]>([
    ['a missing member', { properties: { a: { $ref: '#/$defs/b' } } }, '/properties/a/$ref has no target: "#/$defs/b"'],
    ['an inherited member', { $ref: '#/$defs/toString', $defs: {} }, 'has no target'],
    ['a missing anchor', { $ref: '#nowhere' }, 'names an anchor that does not exist'],
    ['a value that is no schema', { $ref: '#/required', required: ['a'] }, 'has no target'],
    [
      'a missing member of a place without a keyword',
      { $ref: '#/x/a', x: { a: { $ref: '#/x/b' } } },
      '/x/a/$ref has no target',
    ],
    ['broken escapes', { $ref: '#/%zz' }, 'is not a URI reference'],
    [
      'one of several dynamic anchors',
      { $dynamicRef: '#n', $dynamicAnchor: 'n', $defs: { a: { $id: 'a', $dynamicAnchor: 'n' } } },
      'dynamic among several',
    ],
  ])('to %s are refused', (_, schema, reason) => {
    expect(() => check(schema)).toThrow(reason);
    expect(() => check(schema)).toThrow(TypeError);
  });

  it.each([
    'https://example.com/schema.json',
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
    '//host/x',
    'other.json',
  ])('SEC-11: to %s are refused and nothing is fetched', (target) => {
    const fetched = vi.fn();
    vi.stubGlobal('fetch', fetched);
    expect(() => check({ properties: { a: { $ref: target } } })).toThrow(
      `tool "t" inputSchema at /properties/a/$ref points outside of the schema. References are never fetched: put the target under $defs: "${target}"`,
    );
    expect(fetched).not.toHaveBeenCalled();
  });

  it('that look like some inside data or unknown keywords are left alone', () => {
    expect(
      check({ const: { $ref: '#/no' }, examples: [{ $ref: '#/no' }], 'x-note': { $ref: 'https://example.com' } }),
    ).toBeDefined();
  });

  it('refuses an identifier that stands for two schemas', () => {
    expect(() => check({ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } })).toThrow('reuses the identifier "#x"');
  });

  it.each<[string, JsonObject]>([
    ['itself', { $ref: '#' }],
    ['itself through another', { $ref: '#/$defs/a', $defs: { a: { anyOf: [{}, { $ref: '#' }] } } }],
  ])('refuses a schema that applies %s without end', (_, schema) => {
    expect(() => check(schema)).toThrow('refers to itself without going into the value');
  });

  it('refuses a chain of references that would exhaust the stack', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`d${index}`, index === 99 ? {} : { $ref: `#/$defs/d${index + 1}` }]),
    );
    expect(() => check({ $ref: '#/$defs/d0', $defs })).toThrow('more than 64 schemas to one value');
    expect(() => check({ $defs: Object.fromEntries(Object.entries($defs).toReversed()) })).toThrow(
      'more than 64 schemas to one value',
    );
  });
});

describe('limits and shapes', () => {
  it.each([null, true, 'object', 5, [], undefined, () => 1])('refuses %s as a schema', (schema) => {
    expect(() => check(schema)).toThrow(TypeError);
  });

  it('SEC-11: refuses schemas that nest too deep or are too large, cyclic ones too', () => {
    expect(check(nested(63))).toBeDefined();
    expect(() => check(nested(64))).toThrow('nests deeper than 64 levels');
    const cyclic: Record<string, unknown> = {};
    cyclic['not'] = cyclic;
    expect(() => check(cyclic)).toThrow('nests deeper than 64 levels');
    expect(() => check({ allOf: Array.from({ length: 10_000 }, () => ({})) })).toThrow(
      'more than 10000 objects and arrays',
    );
  });

  it.each<[unknown, string]>([
    [{ properties: { a: { type: 'strng' } } }, '/properties/a/type must be one or several of array'],
    [{ properties: { a: { required: true } } }, '/properties/a/required must be an array of different property names'],
    [{ properties: null }, '/properties must be an object whose members are schemas'],
    [{ items: [{}] }, '/items must be a schema (tuples are "prefixItems" in JSON Schema 2020-12)'],
    [{ anyOf: [] }, '/anyOf must be an array of at least one schema'],
    [{ enum: 'a' }, '/enum must be an array'],
    [{ minLength: -1 }, '/minLength must be an integer of 0 or more'],
    [{ exclusiveMinimum: true }, '/exclusiveMinimum must be a number'],
    [{ multipleOf: 0 }, '/multipleOf must be a number above 0'],
    [
      { dependentRequired: { a: ['b', 'b'] } },
      '/dependentRequired must be an object whose members are arrays of names',
    ],
    [{ $ref: 5 }, '/$ref must be a string'],
    [{ default: () => 1 }, '/default is of type function, which JSON cannot carry'],
    [{ minimum: Number.NaN }, '/minimum is NaN, which JSON cannot carry'],
    [{ default: new Date(0) }, '/default is an instance of Date, not a plain object'],
    [{ properties: { '\ud800': {} } }, '/properties must be an object whose members are schemas'],
  ])('refuses %j', (schema, reason) => {
    expect(() => check(schema)).toThrow(reason);
  });

  it('reads older dialects by their own rules', () => {
    expect(
      check({ $schema: 'http://json-schema.org/draft-07/schema#', items: [{}], additionalItems: false }),
    ).toMatchObject({ dialect: '7' });
    expect(
      check({ $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true }),
    ).toMatchObject({ dialect: '4' });
    expect(check({ $schema: 'https://json-schema.org/draft/2019-09/schema' })).toMatchObject({ dialect: '2019-09' });
    expect(check({})).toMatchObject({ dialect: '2020-12' });
  });

  it('refuses a dialect that it cannot check', () => {
    expect(() => check({ $schema: 'https://example.com/mine' })).toThrow(
      'names a dialect that is not supported: "https://example.com/mine"',
    );
    expect(() => check({ $defs: { a: { $schema: 'http://json-schema.org/draft-07/schema#' } } })).toThrow(
      'changes the dialect',
    );
  });

  it('refuses patterns that can take exponential time, also those of property names', () => {
    expect(() => check({ properties: { a: { pattern: '^(a|a)*$' } } })).toThrow(
      'tool "t" inputSchema at /properties/a/pattern: the pattern can take exponential time',
    );
    expect(() => check({ patternProperties: { '^(a+)+$': {} } })).toThrow(
      'at /patternProperties/^(a+)+$: the pattern can take exponential',
    );
  });

  it('freezes a copy, leaves frozen schemas as they are, and drops undefined members', () => {
    const source = {
      type: 'object',
      title: undefined,
      properties: JSON.parse('{"__proto__": {"type": "string"}}') as JsonObject,
    };
    const copy = copySchema(source, 'x');
    expect(JSON.stringify(copy)).toBe('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    expect(Object.isFrozen(copy) && Object.isFrozen(copy['properties'])).toBe(true);
    expect(Object.isFrozen(source)).toBe(false);
    expect(copySchema(copy, 'x')).toBe(copy);
  });
});
