import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { compileInputSchema, compileOutputSchema, type ValidationOutcome } from './compiled-schema.ts';
import type { SchemaIssue } from './schema-issue.ts';
import type { ArgumentsOf, ResultOf, SchemaSource, ValueOf } from './schema-source.ts';
import type { SchemaValidator } from './schema-validator.ts';

const where = 'tool "forecast" inputSchema';
const input = <Source extends SchemaSource>(schema: Source) => compileInputSchema(schema, { where });
const output = <Source extends SchemaSource>(schema: Source) =>
  compileOutputSchema(schema, { where: 'tool "forecast" outputSchema' });

const CITY = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 1 }, days: { type: 'number' } },
  required: ['city'],
};

async function valueOf(outcome: ValidationOutcome<unknown> | Promise<ValidationOutcome<unknown>>): Promise<unknown> {
  const settled = await outcome;
  if ('issues' in settled) throw new Error(`refused: ${JSON.stringify(settled.issues)}`);
  return settled.value;
}

async function issuesOf(
  outcome: ValidationOutcome<unknown> | Promise<ValidationOutcome<unknown>>,
): Promise<readonly SchemaIssue[]> {
  const settled = await outcome;
  if (!('issues' in settled)) throw new Error(`accepted: ${JSON.stringify(settled.value)}`);
  return settled.issues;
}

describe.each<[string, SchemaSource]>([
  ['Zod', z.object({ city: z.string().min(1), days: z.number().optional() })],
  ['Zod Mini style checks', z.object({ city: z.string().check(z.minLength(1)), days: z.optional(z.number()) })],
  [
    'Valibot',
    toStandardJsonSchema(v.object({ city: v.pipe(v.string(), v.minLength(1)), days: v.optional(v.number()) })),
  ],
  ['ArkType', type({ city: 'string>0', 'days?': 'number' })],
  ['JSON Schema', CITY],
])('FEAT-04: %s', (_, schema) => {
  it('is advertised as JSON Schema 2020-12 with an object root, frozen', () => {
    const { json } = input(schema);
    expect(json).toEqual(CITY);
    expect(Object.isFrozen(json) && Object.isFrozen(json['properties'])).toBe(true);
    expect(new Ajv2020().validateSchema(json)).toBe(true);
  });

  it('accepts what fits and names the path of what does not', async () => {
    const { validate } = input(schema);
    expect(await valueOf(validate({ city: 'Rome' }))).toEqual({ city: 'Rome' });
    expect(await issuesOf(validate({ city: 'Rome', days: 'two' }))).toEqual([
      { path: '/days', message: expect.stringMatching(/number/) },
    ]);
    expect(await issuesOf(validate({}))).toHaveLength(1);
  });

  it('answers at once when it can', async () => {
    const { validate } = input(schema);
    await validate({ city: 'Rome' });
    expect(validate({ city: 'Rome' })).not.toBeInstanceOf(Promise);
  });

  it('gives outcomes that are told apart by their members', async () => {
    const { validate } = input(schema);
    expect('issues' in (await validate({ city: 'Rome' }))).toBe(false);
    expect('value' in (await validate({ city: '' }))).toBe(false);
  });
});

const OBJECT_A = { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'] };
const OBJECT_B = { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] };

describe('unions, intersections and references at the root', () => {
  it.each<[string, SchemaSource, unknown]>([
    [
      'z.discriminatedUnion',
      z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
      { oneOf: [{}, {}] },
    ],
    ['z.union', z.union([z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]), { anyOf: [{}, {}] }],
    [
      'v.variant',
      toStandardJsonSchema(v.variant('kind', [v.object({ kind: v.literal('a') }), v.object({ kind: v.literal('b') })])),
      { oneOf: [OBJECT_A, OBJECT_B] },
    ],
    ['ArkType unions', type({ kind: "'a'" }).or({ kind: "'b'" }), {}],
    ['oneOf', { oneOf: [OBJECT_A, OBJECT_B] }, { oneOf: [OBJECT_A, OBJECT_B] }],
    ['nested compositions', { anyOf: [{ oneOf: [OBJECT_A] }, { $ref: '#/$defs/b' }], $defs: { b: OBJECT_B } }, {}],
  ])('keep their composition and say that they are objects: %s', async (_, schema, json) => {
    const compiled = input(schema);
    expect(compiled.json).toMatchObject({ type: 'object', ...(json as object) });
    expect(await valueOf(compiled.validate({ kind: 'b' }))).toEqual({ kind: 'b' });
    expect(await issuesOf(compiled.validate({ kind: 'c' }))).not.toEqual([]);
  });

  it.each<[string, SchemaSource]>([
    ['z.intersection', z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))],
    ['v.intersect', toStandardJsonSchema(v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })]))],
    ['ArkType and', type({ a: 'string' }).and({ b: 'string' })],
    [
      'allOf',
      { allOf: [{ required: ['b'] }, { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }] },
    ],
  ])('intersect: %s', async (_, schema) => {
    const compiled = input(schema);
    expect(compiled.json.type).toBe('object');
    expect(await valueOf(compiled.validate({ a: 'x', b: 'y' }))).toEqual({ a: 'x', b: 'y' });
    expect(await issuesOf(compiled.validate({ a: 'x' }))).not.toEqual([]);
  });

  it('replaces a converted root that is only a reference by its target', async () => {
    const tree = z
      .object({
        name: z.string(),
        get children() {
          return z.array(tree).optional();
        },
      })
      .meta({ id: 'Tree' });
    const compiled = input(tree);
    expect(compiled.json).toMatchObject({ type: 'object', properties: { name: { type: 'string' } } });
    expect(compiled.json).not.toHaveProperty('$ref');
    expect(
      new Ajv2020({ strict: false }).compile(compiled.json)({ name: 'a', children: [{ name: 'b', children: [{}] }] }),
    ).toBe(false);
    expect((await issuesOf(compiled.validate({ name: 'a', children: [{}] })))[0]?.path).toBe('/children/0/name');
  });
});

describe('what cannot be advertised is refused', () => {
  it.each<[string, SchemaSource]>([
    ['z.any', z.any()],
    ['z.string', z.string()],
    ['a union with a string', z.union([z.object({}), z.string()])],
    ['unknown of ArkType', type('unknown')],
    ['v.any', toStandardJsonSchema(v.any())],
    ['{}', {}],
    ['an array', { type: 'array' }],
    ['a nullable object', { type: ['object', 'null'] }],
    ['an empty composition with a type of its own', { type: 'string', oneOf: [OBJECT_A] }],
    ['properties without a type', { properties: {} }],
  ])('%s as input', (_, schema) => {
    expect(() => input(schema)).toThrow(/^tool "forecast" inputSchema would be advertised as \{.*"type": "object"/);
  });

  it.each<[string, SchemaSource]>([
    ['z.date', z.object({ a: z.date() })],
    ['z.custom', z.object({ a: z.custom(() => true) })],
    ['z.bigint', z.object({ a: z.array(z.bigint()) })],
    ['v.date', toStandardJsonSchema(v.object({ a: v.date() }))],
    [
      'v.check',
      toStandardJsonSchema(
        v.pipe(
          v.object({ a: v.string() }),
          v.check(() => true),
        ),
      ),
    ],
    ['a Date of ArkType', type({ a: 'Date' })],
    ['a bigint of ArkType', type({ a: 'bigint' })],
    ['undefined of ArkType', type({ a: 'string | undefined' })],
  ])('%s inside', (_, schema) => {
    expect(() => input(schema)).toThrow(/^tool "forecast" inputSchema cannot be expressed as JSON Schema: /);
    expect(() => input(schema)).toThrow(TypeError);
  });

  it('a transformation without a described result, as output', () => {
    expect(() => output(z.object({ a: z.string().transform(Number) }))).toThrow(
      /outputSchema cannot be expressed.*Describe what a transformation/,
    );
  });

  it('schemas that give no JSON Schema of themselves, with the remedy', () => {
    expect(() => input(v.object({}))).toThrow('wrap it in toStandardJsonSchema() of @valibot/to-json-schema');
    const zod3 = { '~standard': { version: 1, vendor: 'zod', validate: (value: unknown) => ({ value }) } };
    expect(() => input(zod3)).toThrow(
      'tool "forecast" inputSchema is a "zod" schema that gives no JSON Schema of itself: use Zod 4.2 or newer',
    );
  });

  it('a bare record of schemas, with the remedy', () => {
    expect(() => input({ city: z.string() })).toThrow(
      'at /city is a schema of "zod" inside a plain object: wrap the object',
    );
    expect(() => input({ city: type('string') })).toThrow('at /city is a schema of "arktype"');
  });

  it.each([null, 5, 'text', [], true])('%j', (schema) => {
    expect(() => compileInputSchema(schema as unknown as object, { where })).toThrow(TypeError);
  });
});

describe('Standard Schemas', () => {
  it('give handlers what they make of a value', async () => {
    const schema = z.object({ n: z.string().transform(Number), unit: z.enum(['C', 'F']).default('C') });
    const compiled = input(schema);
    expect(compiled.json).toMatchObject({ properties: { n: { type: 'string' } }, required: ['n'] });
    expect(await valueOf(compiled.validate({ n: '5' }))).toEqual({ n: 5, unit: 'C' });
    expect(await valueOf(input(type({ n: 'string.numeric.parse' })).validate({ n: '5' }))).toEqual({ n: 5 });
  });

  it('may refine, which only checking sees', async () => {
    const compiled = input(
      z
        .object({ from: z.number(), to: z.number() })
        .refine(({ from, to }) => from < to, { message: 'ends early', path: ['to'] }),
    );
    expect(compiled.json.type).toBe('object');
    expect(await issuesOf(compiled.validate({ from: 2, to: 1 }))).toEqual([{ path: '/to', message: 'ends early' }]);
  });

  it('may be asynchronous', async () => {
    const { validate } = input(z.object({ a: z.string().refine(async (text) => text === 'x') }));
    expect(validate({ a: 'x' })).toBeInstanceOf(Promise);
    expect(await valueOf(validate({ a: 'x' }))).toEqual({ a: 'x' });
    expect((await issuesOf(validate({ a: 'y' })))[0]?.path).toBe('/a');
  });

  it('that only describe are checked as JSON Schema', async () => {
    const schema = {
      '~standard': { version: 1 as const, vendor: 'mine', jsonSchema: { input: () => CITY, output: () => CITY } },
    };
    const { validate } = input(schema);
    expect(await valueOf(validate({ city: 'Rome' }))).toEqual({ city: 'Rome' });
    expect((await issuesOf(validate({ city: 5 })))[0]?.path).toBe('/city');
  });

  it('keep patterns of their own, which are never run here', () => {
    expect(input(z.object({ a: z.string().regex(/^(a|a)*$/) })).json).toMatchObject({
      properties: { a: { pattern: '^(a|a)*$' } },
    });
  });

  it('name paths as JSON Pointers and list ten issues at most', async () => {
    const schema = z.object({ 'a/b~c': z.array(z.object({ x: z.number() })) });
    const issues = await issuesOf(input(schema).validate({ 'a/b~c': Array.from({ length: 20 }, () => ({})) }));
    expect(issues).toHaveLength(10);
    expect(issues[9]?.path).toBe('/a~1b~0c/9/x');
  });

  it('describe as output what they make of a value', () => {
    const schema = z.object({ n: z.string().transform(Number).pipe(z.number()) });
    expect(output(schema).json).toMatchObject({ properties: { n: { type: 'number' } } });
    expect(output(z.array(z.string())).json).toEqual({ type: 'array', items: { type: 'string' } });
  });
});

describe('JSON Schemas', () => {
  const authored = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://example.com/args',
    title: 'Arguments',
    type: 'object',
    $defs: { unit: { $anchor: 'unit', enum: ['C', 'F'] } },
    properties: { unit: { $ref: '#unit' }, region: { type: 'string', 'x-mcp-header': 'Region' } },
    if: { properties: { unit: { const: 'F' } } },
    then: { required: ['region'] },
    else: { not: { required: ['region'] } },
    examples: [{ unit: 'C' }],
  };

  it('are advertised as written', () => {
    expect(JSON.stringify(input(authored).json)).toBe(JSON.stringify(authored));
    expect(JSON.stringify(output(authored).json)).toBe(JSON.stringify(authored));
    expect(Object.isFrozen(authored)).toBe(false);
  });

  it('do not change with what the author does to the object later', async () => {
    const schema = structuredClone(CITY);
    const { json, validate } = input(schema);
    schema.required = [];
    expect(json['required']).toEqual(['city']);
    expect(await issuesOf(validate({}))).toHaveLength(1);
  });

  it('check conditions and references', async () => {
    const { validate } = input(authored);
    expect(await valueOf(validate({ unit: 'F', region: 'eu' }))).toEqual({ unit: 'F', region: 'eu' });
    expect(await issuesOf(validate({ unit: 'F' }))).toEqual([{ path: '', message: expect.stringContaining('region') }]);
    expect(await issuesOf(validate({ unit: 'K' }))).not.toEqual([]);
  });

  it('return the value itself', async () => {
    const value = { city: 'Rome' };
    expect(await valueOf(input(CITY).validate(value))).toBe(value);
  });

  it('may describe any value as output', async () => {
    expect(await valueOf(output({ type: 'string' }).validate('text'))).toBe('text');
    expect(output({}).json).toEqual({});
    expect(await issuesOf(output({ type: 'array', items: { type: 'integer' } }).validate([1, 'x']))).toMatchObject([
      { path: '/1' },
    ]);
  });

  it('are refused when they are registered, not when they are used', () => {
    expect(() => output({ $ref: 'https://example.com/other' })).toThrow(
      'tool "forecast" outputSchema at /$ref points outside',
    );
    expect(() => input({ type: 'object', properties: { a: { pattern: '^(a|a)*$' } } })).toThrow(
      'tool "forecast" inputSchema at /properties/a/pattern',
    );
  });

  it('can be checked by a validator of the user', async () => {
    const ajv = new Ajv2020({ allErrors: true });
    const validator: SchemaValidator = {
      compile(schema) {
        const check = ajv.compile(schema);
        return (value) =>
          check(value)
            ? []
            : (check.errors ?? []).map(({ instancePath, message }) => ({ path: instancePath, message: message ?? '' }));
      },
    };
    const { validate } = compileInputSchema(CITY, { where, validator });
    expect(validate({ city: 5 })).toEqual({ issues: [{ path: '/city', message: 'must be string' }] });
    expect(validate({ city: 'Rome' })).toEqual({ value: { city: 'Rome' } });
    const unusable: SchemaValidator = {
      compile: () => {
        throw new Error('no such keyword');
      },
    };
    expect(() => compileInputSchema(CITY, { where, validator: unusable })).toThrow(
      'tool "forecast" inputSchema cannot be used by the validator: no such keyword',
    );
  });
});

it('types: arguments, results and checked values follow from the schema', () => {
  const zod = z.object({ n: z.string().transform(Number), unit: z.string().default('C') });
  expectTypeOf<ArgumentsOf<typeof zod>>().toEqualTypeOf<{ n: number; unit: string }>();
  expectTypeOf<ResultOf<typeof zod>>().toEqualTypeOf<{ n: string; unit?: string | undefined }>();
  const ark = type({ city: 'string' });
  expectTypeOf<ArgumentsOf<typeof ark>>().toEqualTypeOf<{ city: string }>();
  const valibot = toStandardJsonSchema(v.object({ city: v.string() }));
  expectTypeOf<ArgumentsOf<typeof valibot>>().toEqualTypeOf<{ city: string }>();
  expectTypeOf<ArgumentsOf<typeof CITY>>().toEqualTypeOf<{ readonly [name: string]: unknown }>();
  expectTypeOf<ValueOf<typeof CITY>>().toBeUnknown();
  const outcome = compileInputSchema(zod, { where }).validate({});
  expectTypeOf(outcome).toEqualTypeOf<
    ValidationOutcome<{ n: number; unit: string }> | Promise<ValidationOutcome<{ n: number; unit: string }>>
  >();
});
