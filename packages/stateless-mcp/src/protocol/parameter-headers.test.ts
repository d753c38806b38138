import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ParameterHeader } from './parameter-headers.ts';
import { checkParameterHeaders, compileParameterHeaders, parameterHeaderValues } from './parameter-headers.ts';

const REGION = { type: 'string', 'x-mcp-header': 'Region' };

function withProperty(schema: unknown): object {
  return { type: 'object', properties: { region: schema } };
}

function compile(schema: object): readonly ParameterHeader[] {
  const compiled = compileParameterHeaders(schema);
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled.headers;
}

describe('compileParameterHeaders', () => {
  it('HDR-11: finds annotated properties at any depth, top level first', () => {
    const schema = {
      type: 'object',
      properties: {
        target: { type: 'object', properties: { zone: { type: 'integer', 'x-mcp-header': 'Zone-Id' } } },
        region: REGION,
        dryRun: { type: 'boolean', 'x-mcp-header': 'DRY' },
        query: { type: 'string' },
        anything: true,
      },
    };
    expect(compileParameterHeaders(schema)).toEqual({
      headers: [
        { header: 'mcp-param-region', name: 'Region', path: ['region'], type: 'string' },
        { header: 'mcp-param-dry', name: 'DRY', path: ['dryRun'], type: 'boolean' },
        { header: 'mcp-param-zone-id', name: 'Zone-Id', path: ['target', 'zone'], type: 'integer' },
      ],
    });
  });

  const valid: readonly (readonly [string, object, number])[] = [
    ['no properties', { type: 'object' }, 0],
    ['no annotation', withProperty({ type: 'string' }), 0],
    ['HDR-13: every token character', withProperty({ type: 'string', 'x-mcp-header': "!#$%&'*+-.^_`|~09AZaz" }), 1],
    ['T-96: the name of a standard header', withProperty({ type: 'string', 'x-mcp-header': 'Method' }), 1],
    ['HDR-14: a nullable string', withProperty({ type: ['string', 'null'], 'x-mcp-header': 'Region' }), 1],
    ['HDR-14: a type list of one', withProperty({ type: ['integer'], 'x-mcp-header': 'Region' }), 1],
    ['a $ref beside a declared type', withProperty({ ...REGION, $ref: '#/$defs/region' }), 1],
    ['unrelated composition', { properties: { region: REGION }, anyOf: [{ required: ['region'] }] }, 1],
    ['a property called x-mcp-header', { properties: { 'x-mcp-header': { type: 'string' } } }, 0],
    ['an annotated property called x-mcp-header', { properties: { 'x-mcp-header': REGION } }, 1],
    ['an annotated property called items', { properties: { items: REGION } }, 1],
    ['an annotated property called properties', { properties: { properties: REGION } }, 1],
    ['a definition called x-mcp-header', { $defs: { 'x-mcp-header': { type: 'string' } } }, 0],
    ['a pattern called x-mcp-header', { patternProperties: { 'x-mcp-header': { type: 'string' } } }, 0],
    ['data in default', withProperty({ type: 'object', default: REGION }), 0],
    ['data in const', withProperty({ const: REGION }), 0],
    ['data in enum', withProperty({ enum: [REGION] }), 0],
    ['data in examples', withProperty({ examples: [REGION] }), 0],
    ['data in an unknown keyword', withProperty({ 'x-form': REGION }), 0],
    ['boolean schemas', { properties: { a: true, b: false }, additionalProperties: false, items: true }, 0],
    ['an annotation that JSON would drop', withProperty({ type: 'string', 'x-mcp-header': undefined }), 0],
    ['an inherited annotation', withProperty(Object.create(REGION)), 0],
  ];
  it.each(valid)('accepts %s', (_what, schema, count) => {
    expect(compile(schema)).toHaveLength(count);
  });

  it.each([
    ['HDR-13', 'the empty name', ''],
    ['HDR-13', 'a space', 'My Region'],
    ['HDR-13', 'a colon', 'Region:Primary'],
    ['HDR-13', 'a character beyond ASCII', 'Région'],
    ['HDR-13', 'a tab', 'Region\t1'],
    ['HDR-13', 'a line feed at the end', 'Region\n'],
    ['HDR-13', 'CR and LF', 'Region\r\nX-Evil: 1'],
    ['HDR-13', 'null', null],
    ['HDR-13', 'a number', 1],
    ['HDR-13', 'a list', ['Region']],
  ])('%s: refuses %s as a name', (_rule, _what, name) => {
    expect(compileParameterHeaders(withProperty({ type: 'string', 'x-mcp-header': name }))).toEqual({
      problem: expect.stringMatching(/at #\/properties\/region is not an HTTP token$/),
    });
  });

  it.each([
    'number',
    'array',
    'object',
    'null',
    'String',
    undefined,
    null,
    ['string', 'integer'],
    ['null'],
    [],
    [['string']],
  ])('HDR-14, T-95: refuses the type %j', (type) => {
    expect(compileParameterHeaders(withProperty({ type, 'x-mcp-header': 'Region' }))).toEqual({
      problem: expect.stringContaining('needs the type string, integer or boolean'),
    });
  });

  it.each([
    ['the same spelling', 'Region'],
    ['another case', 'REGION'],
  ])('HDR-13, T-96: refuses a name used twice in %s', (_what, name) => {
    const nested = { type: 'object', properties: { other: { type: 'string', 'x-mcp-header': name } } };
    expect(compileParameterHeaders({ properties: { region: REGION, nested } })).toEqual({
      problem: expect.stringMatching(/"(Region|REGION)" at #\/properties\/nested\/properties\/other is used twice/),
    });
  });

  const elsewhere: readonly (readonly [string, object])[] = [
    ['the root', { ...REGION, type: 'object' }],
    ...['items', 'contains', 'additionalItems', 'unevaluatedItems', 'contentSchema', 'not', 'if', 'then', 'else'].map(
      (keyword) => [keyword, withProperty({ [keyword]: REGION })] as const,
    ),
    ...['additionalProperties', 'unevaluatedProperties', 'propertyNames'].map(
      (keyword) => [keyword, { [keyword]: REGION }] as const,
    ),
    ...['oneOf', 'anyOf', 'allOf', 'prefixItems', 'items'].map(
      (keyword) => [`a list in ${keyword}`, withProperty({ [keyword]: [{}, REGION] })] as const,
    ),
    ...['$defs', 'definitions', 'patternProperties', 'dependentSchemas', 'dependencies'].map(
      (keyword) => [keyword, { [keyword]: { region: REGION, plain: ['region'] } }] as const,
    ),
    ['properties under items', withProperty({ items: { properties: { region: REGION } } })],
    ['properties under allOf of the root', { allOf: [{ properties: { region: REGION } }] }],
    ['properties under a $ref target', { $ref: '#/$defs/a', $defs: { a: { properties: { region: REGION } } } }],
  ];
  it.each(elsewhere)('HDR-14, T-95: refuses an annotation in %s', (_where, schema) => {
    expect(compileParameterHeaders(schema)).toEqual({
      problem: expect.stringContaining('not on a property that is reached through "properties" alone'),
    });
  });

  it('HDR-14: refuses a property that is annotated with its type in a $ref', () => {
    const schema = withProperty({ $ref: '#/$defs/region', 'x-mcp-header': 'Region' });
    expect(compileParameterHeaders({ ...schema, $defs: { region: { type: 'string' } } })).toHaveProperty('problem');
  });

  it('refuses what nests or grows without end, in bounded time', () => {
    const cycle: { properties?: object } = {};
    cycle.properties = { a: cycle, b: cycle };
    expect(compileParameterHeaders(cycle)).toHaveProperty('problem');
    let deep: object = REGION;
    for (let level = 0; level < 200_000; level++) deep = { properties: { a: deep } };
    expect(compileParameterHeaders(deep)).toEqual({ problem: expect.stringContaining('more than 128 schemas') });
    const wide = { anyOf: Array.from({ length: 200_000 }, () => ({})) };
    expect(compileParameterHeaders(wide)).toEqual({ problem: expect.stringContaining('more than 100000 schemas') });
  });

  it('keeps problems short', () => {
    const key = 'k'.repeat(100_000);
    const schema = { properties: { [key]: { type: 'string', 'x-mcp-header': ' '.repeat(100_000) } } };
    const compiled = compileParameterHeaders(schema);
    expect('problem' in compiled && compiled.problem.length < 400).toBe(true);
  });
});

const HEADERS = compile({
  type: 'object',
  properties: {
    region: REGION,
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    flag: { type: 'boolean', 'x-mcp-header': 'Flag' },
    target: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
  },
});

function check(
  toolArguments: Record<string, unknown> | undefined,
  received: Record<string, string>,
): string | undefined {
  const headers = new Headers(received);
  return checkParameterHeaders(HEADERS, toolArguments, (header) => headers.get(header));
}

describe('checkParameterHeaders', () => {
  it.each([
    ['HDR-18: no arguments at all', undefined, {}],
    ['HDR-18: absent values', {}, {}],
    ['HDR-18, T-93: null', { region: null, count: null, target: null }, {}],
    ['HDR-18: undefined', { region: undefined }, {}],
    ['HDR-18: a value off the path', { target: 'x', zone: 'z' }, {}],
    ['HDR-18: no arrays on the path', { target: ['z'] }, {}],
    [
      'HDR-19: equal values',
      { region: 'us-west1', flag: true },
      { 'Mcp-Param-Region': 'us-west1', 'mcp-param-FLAG': 'true' },
    ],
    ['HDR-19: a nested value', { target: { zone: 'z' } }, { 'mcp-param-zone': 'z' }],
    ['HDR-10: an encoded value', { region: '日本語' }, { 'mcp-param-region': '=?base64?5pel5pys6Kqe?=' }],
    ['HDR-10: an encoded plain value', { region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8=?=' }],
    ['HDR-10: an encoded number', { count: 42 }, { 'mcp-param-count': '=?base64?NDI=?=' }],
    ['T-88: an almost encoded value', { region: '=?BASE64?SGVsbG8=?=' }, { 'mcp-param-region': '=?BASE64?SGVsbG8=?=' }],
    ['T-92: an empty value', { region: '' }, { 'mcp-param-region': '' }],
    ['T-98: an unknown header', {}, { 'mcp-param-other': 'x', 'x-mcp-param-region': 'y' }],
    ['a number where a string belongs, which the schema refuses', { region: 5 }, { 'mcp-param-region': '5' }],
    ['a fraction where an integer belongs', { count: 4.5 }, { 'mcp-param-count': '4.5' }],
  ])('accepts %s', (_what, toolArguments, received) => {
    expect(check(toolArguments, received)).toBeUndefined();
  });

  it.each([
    ['42', 42],
    ['42.0', 42],
    ['42.000', 42],
    ['-7', -7],
    ['0', 0],
    ['-0', 0],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
  ])('HDR-20, T-94: %j is the integer %d', (received, count) => {
    expect(check({ count }, { 'mcp-param-count': received })).toBeUndefined();
  });

  it.each([
    ['', 0],
    ['0x2a', 42],
    ['4.2e1', 42],
    ['42e0', 42],
    ['+42', 42],
    ['042', 42],
    ['42.', 42],
    ['.0', 0],
    ['4 2', 42],
    ['42, 42', 42],
    ['42.00000000000000000001', 42],
    ['٤٢', 42],
    ['Infinity', 42],
    ['9007199254740993', 9007199254740992],
    ['9007199254740992', 9007199254740992],
    ['43', 42],
  ])('HDR-20, T-94: %j is not the integer %d', (received, count) => {
    const message = checkParameterHeaders(HEADERS, { count }, (header) =>
      header === 'mcp-param-count' ? received : null,
    );
    expect(message).toMatch(/^Header mismatch: Mcp-Param-Count: expected /);
  });

  it.each([
    ['HDR-19: a missing header', { region: 'a' }, {}, 'expected "a" as in arguments.region, got no header'],
    [
      'T-92: a missing header for an empty value',
      { region: '' },
      {},
      'expected "" as in arguments.region, got no header',
    ],
    [
      'HDR-19: another value',
      { region: 'a' },
      { 'mcp-param-region': 'b' },
      'expected "a" as in arguments.region, got "b"',
    ],
    [
      'T-85: another case',
      { region: 'a' },
      { 'mcp-param-region': 'A' },
      'expected "a" as in arguments.region, got "A"',
    ],
    [
      'T-93: a header for null',
      { region: null },
      { 'mcp-param-region': 'null' },
      'expected no header, as arguments.region is null or absent, got "null"',
    ],
    [
      'T-93: a header for nothing',
      undefined,
      { 'mcp-param-region': '' },
      'expected no header, as arguments.region is null or absent, got ""',
    ],
    ['T-86: a header sent twice', { region: 'a' }, { 'mcp-param-region': 'a, a' }, 'got "a, a"'],
    [
      'T-87: bad padding',
      { region: 'Hello' },
      { 'mcp-param-region': '=?base64?SGVsbG8?=' },
      'got the invalid value "=?base64?SGVsbG8?="',
    ],
    [
      'T-88: a missing suffix',
      { region: 'Hello' },
      { 'mcp-param-region': '=?base64?SGVsbG8=' },
      'got "=?base64?SGVsbG8="',
    ],
    [
      'T-89: a look-alike sent raw',
      { region: '=?base64?SGVsbG8=?=' },
      { 'mcp-param-region': '=?base64?SGVsbG8=?=' },
      'got "Hello"',
    ],
    [
      'HDR-17: a boolean in upper case',
      { flag: true },
      { 'mcp-param-flag': 'TRUE' },
      'expected true as in arguments.flag, got "TRUE"',
    ],
    [
      'HDR-17: the other boolean',
      { flag: false },
      { 'mcp-param-flag': 'true' },
      'expected false as in arguments.flag, got "true"',
    ],
    [
      'HDR-17: a boolean as a number',
      { flag: true },
      { 'mcp-param-flag': '1' },
      'expected true as in arguments.flag, got "1"',
    ],
    [
      'a string that looks like a number',
      { count: '42' },
      { 'mcp-param-count': '42.0' },
      'expected "42" as in arguments.count, got "42.0"',
    ],
    [
      'an array',
      { region: ['a'] },
      { 'mcp-param-region': 'a' },
      'expected arguments.region to be a string, boolean or safe integer, got "a"',
    ],
    [
      'an object without a header',
      { region: {} },
      {},
      'expected arguments.region to be a string, boolean or safe integer, got no header',
    ],
    [
      'a nested value',
      { target: { zone: 'z' } },
      {},
      'Mcp-Param-Zone: expected "z" as in arguments.target.zone, got no header',
    ],
  ])('refuses %s', (_what, toolArguments, received, message) => {
    expect(check(toolArguments, received)).toContain(message);
  });

  it('HDR-07: refuses characters that no field value may hold', () => {
    const message = checkParameterHeaders(HEADERS, { region: 'é' }, (header) =>
      header === 'mcp-param-region' ? 'é' : undefined,
    );
    expect(message).toContain('got the invalid value "é"');
  });

  it('reads own properties only', () => {
    const headers = compile({ properties: { constructor: REGION, __proto__: null } });
    expect(checkParameterHeaders(headers, {}, () => undefined)).toBeUndefined();
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string","x-mcp-header":"Proto"}}}');
    expect(checkParameterHeaders(compile(schema), {}, () => undefined)).toBeUndefined();
    expect(checkParameterHeaders(compile(schema), JSON.parse('{"__proto__":"a"}'), () => 'a')).toBeUndefined();
  });

  it('finds nothing inside arrays and strings', () => {
    const size = { type: 'integer', 'x-mcp-header': 'Size' };
    const headers = compile({ properties: { list: { properties: { length: size } } } });
    for (const list of [['a'], 'a']) {
      expect(checkParameterHeaders(headers, { list }, () => undefined)).toBeUndefined();
      expect(parameterHeaderValues(headers, { list })).toEqual([]);
    }
  });

  it('keeps messages short', () => {
    const long = 'x'.repeat(1_000_000);
    expect(check({ region: long }, { 'mcp-param-region': `${long}y` })?.length).toBeLessThan(500);
  });
});

describe('parameterHeaderValues', () => {
  it('HDR-12, HDR-17: writes strings, integers and booleans', () => {
    expect(
      parameterHeaderValues(HEADERS, { region: 'us west 1', count: -7, flag: false, target: { zone: ' z' } }),
    ).toEqual([
      ['mcp-param-region', 'us west 1'],
      ['mcp-param-count', '-7'],
      ['mcp-param-flag', 'false'],
      ['mcp-param-zone', '=?base64?IHo=?='],
    ]);
  });

  it.each([
    ['HDR-18: absent values', {}],
    ['HDR-18: no arguments', undefined],
    ['HDR-18, T-93: null', { region: null, target: { zone: null } }],
    ['values that no header can carry', { region: {}, count: 2 ** 53, flag: [], target: { zone: Number.NaN } }],
  ])('omits %s', (_what, toolArguments) => {
    expect(parameterHeaderValues(HEADERS, toolArguments)).toEqual([]);
  });

  it('T-92: keeps the empty string', () => {
    expect(parameterHeaderValues(HEADERS, { region: '' })).toEqual([['mcp-param-region', '']]);
  });

  it('writes what checkParameterHeaders accepts for the same arguments, and refuses for others', () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, undefined, '', '42', '42.0', 42, -0, 'true', true, ' '),
    );
    const toolArguments = fc.record({ region: value, count: value, flag: value, target: fc.record({ zone: value }) });
    fc.assert(
      fc.property(toolArguments, toolArguments, (sent, other) => {
        const written = new Headers(parameterHeaderValues(HEADERS, sent).map(([name, text]) => [name, text]));
        const read = (header: string): string | null => written.get(header);
        expect(checkParameterHeaders(HEADERS, JSON.parse(JSON.stringify(sent)), read)).toBeUndefined();
        const seen = (call: typeof sent): unknown[] =>
          [call.region, call.count, call.flag, call.target.zone].map((part) => String(part ?? '\u0000absent'));
        if (JSON.stringify(seen(sent)) === JSON.stringify(seen(other))) return;
        if (seen(sent).some((text, index) => Number(text) === Number(seen(other)[index]))) return;
        expect(checkParameterHeaders(HEADERS, other, read)).toBeDefined();
      }),
      { numRuns: 1000 },
    );
  });
});
