import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type DefinitionConfig, McpServer, type McpServerOptions, ResourceTemplate } from '../../src/server/index.ts';

const info = { name: 'registration', version: '1.0.0' };
const nothing = () => '';

describe('registration refuses', () => {
  it('a name or URI that is taken, whether it is enabled or not, and says so', () => {
    const server = new McpServer(info);
    const tool = server.registerTool('x', {}, nothing);
    server.registerPrompt('x', {}, nothing);
    server.registerResource('x', 'x:///1', {}, nothing);
    server.registerResource('x', new ResourceTemplate('x:///{id}'), {}, nothing);
    expect(() => server.registerTool('x', {}, nothing)).toThrow(/tool "x" is registered already/);
    expect(() => server.registerPrompt('x', {}, nothing)).toThrow(/prompt "x" is registered already/);
    expect(() => server.registerResource('y', 'x:///1', {}, nothing)).toThrow(
      /resource "x:\/\/\/1" is registered already/,
    );
    expect(() => server.registerResource('y', new ResourceTemplate('x:///{id}'), {}, nothing)).toThrow(
      /registered already/,
    );
    tool.disable();
    expect(() => server.registerTool('x', {}, nothing)).toThrow(/registered already/);
    tool.remove();
    server.registerTool('x', {}, nothing);
  });

  it.each([
    ['{}', {}],
    ['true', true],
    ['a schema of something else', { type: 'string' }],
    ['a union with something else', { anyOf: [{ type: 'object' }, { type: 'string' }] }],
    ['an unknown reference', { $ref: '#/$defs/missing' }],
    ['a reference into the network', { $ref: 'https://example.com/schema.json' }],
    ['a Zod string', z.string()],
    ['a Zod date', z.object({ at: z.date() })],
    ['a Valibot schema that cannot describe itself', v.object({ a: v.string() })],
    ['a Valibot string', toStandardJsonSchema(v.string())],
    ['a function', () => true],
    ['a text', 'object'],
  ])('FEAT-04: %s as the schema of arguments, and names the definition', (_, schema) => {
    const server = new McpServer(info);
    expect(() => server.registerTool('x', { inputSchema: schema as object }, nothing)).toThrow(/tool "x" inputSchema/);
    expect(() => server.registerPrompt('x', { argsSchema: schema as object }, nothing)).toThrow(
      /prompt "x" argsSchema/,
    );
    // Nothing of what was refused is left.
    server.registerTool('x', {}, nothing);
    server.registerPrompt('x', {}, nothing);
  });

  it('FEAT-04: an output schema that cannot be advertised', () => {
    const server = new McpServer(info);
    for (const outputSchema of [z.date(), v.string(), { $ref: '#/$defs/missing' }]) {
      expect(() => server.registerTool('x', { outputSchema }, nothing)).toThrow(/tool "x" outputSchema/);
    }
  });

  it.each([
    ['no token', { a: { type: 'string', 'x-mcp-header': 'a b' } }],
    ['empty', { a: { type: 'string', 'x-mcp-header': '' } }],
    ['no text', { a: { type: 'string', 'x-mcp-header': 7 } }],
    ['on a number', { a: { type: 'number', 'x-mcp-header': 'A' } }],
    ['on an object', { a: { type: 'object', 'x-mcp-header': 'A' } }],
    ['without a type', { a: { 'x-mcp-header': 'A' } }],
    ['used twice', { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } }],
    ['in a list', { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } }],
  ])('an x-mcp-header that is %s', (_, properties) => {
    const server = new McpServer(info);
    const inputSchema = { type: 'object', properties };
    expect(() => server.registerTool('x', { inputSchema }, nothing)).toThrow(/tool "x" inputSchema: .*x-mcp-header/);
  });

  it('names that are empty or too long', () => {
    const server = new McpServer(info);
    expect(() => server.registerTool('', {}, nothing)).toThrow(/tool ""/);
    expect(() => server.registerTool('x'.repeat(129), {}, nothing)).toThrow(RangeError);
    server.registerTool('x'.repeat(128), {}, nothing);
    expect(() => server.registerPrompt('', {}, nothing)).toThrow(/prompt ""/);
    expect(() => server.registerResource('', 'x:///1', {}, nothing)).toThrow(/needs a name/);
    expect(() => server.registerResource('', new ResourceTemplate('x:///{id}'), {}, nothing)).toThrow(/needs a name/);
  });

  it.each(['', 'relative', '/path', '://x', 'http://', 'a b:c'])('%j as a URI', (uri) => {
    const server = new McpServer(info);
    expect(() => server.registerResource('x', uri, {}, nothing)).toThrow(/absolute URI/);
  });

  it.each(['x:///{', 'x:///{}', 'x:///{a}{b}', 'x:///{a b}', 'x:///{=a}', 'x:///}'])('%j as a template', (template) => {
    expect(() => new ResourceTemplate(template)).toThrow(TypeError);
  });

  it('completers of arguments and variables that do not exist', () => {
    const server = new McpServer(info);
    const complete = { other: () => [] };
    const argsSchema = z.object({ a: z.string() });
    expect(() => server.registerPrompt('x', { argsSchema, complete }, nothing)).toThrow(/prompt "x" complete\.other/);
    expect(() => server.registerPrompt('x', { complete }, nothing)).toThrow(/complete\.other/);
    expect(() => new ResourceTemplate('x:///{a}', { complete })).toThrow(/complete\.other/);
  });

  it('a size of a whole family', () => {
    const server = new McpServer(info);
    expect(() => server.registerResource('x', new ResourceTemplate('x:///{a}'), { size: 1 }, nothing)).toThrow(/size/);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, '5', null])('%s as a limit, and names the option', (value) => {
    const server = new McpServer(info);
    for (const limit of ['timeoutMs', 'maxConcurrency']) {
      const config = { [limit]: value } as DefinitionConfig;
      const expected = new RegExp(`"x.*${limit}.*${String(value)}`);
      expect(() => server.registerTool('x', config, nothing)).toThrow(expected);
      expect(() => server.registerPrompt('x', config, nothing)).toThrow(expected);
      expect(() => server.registerResource('x', 'x:///1', config, nothing)).toThrow(expected);
      expect(() => server.registerResource('x', new ResourceTemplate('x:///{a}'), config, nothing)).toThrow(expected);
    }
    for (const option of ['pageSize', 'maxSubscriptions', 'maxSubscriptionAgeMs']) {
      const options = { [option]: value } as McpServerOptions;
      expect(() => new McpServer(info, options)).toThrow(new RegExp(`${option}.*${String(value)}`));
    }
  });
});

describe('a server refuses', () => {
  it.each(['tasks', '', '/', '/x', '1com/x', 'com.example', 'com..example/x', 'com.example/-x', 'com.example/a/b'])(
    'VER-07: %j as the id of an extension',
    (id) => {
      const options = { capabilities: { extensions: { [id]: {} } } };
      expect(() => new McpServer(info, options)).toThrow(`capabilities.extensions["${id}"]`);
    },
  );

  it.each([undefined, null, {}, { name: 'x' }, { version: '1' }, { name: 7, version: '1' }])(
    '%j as its description',
    (wrong) => {
      expect(() => new McpServer(wrong as never)).toThrow(/name and a version/);
    },
  );
});

describe('registration accepts', () => {
  it.each([
    ['an object', { type: 'object' }],
    ['a union of objects', { oneOf: [{ type: 'object', properties: { a: {} } }, { type: 'object' }] }],
    ['a reference to an object', { $ref: '#/$defs/it', $defs: { it: { type: 'object' } } }],
    ['a recursive one', { type: 'object', properties: { child: { $ref: '#' } } }],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }],
    ['a Zod intersection', z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))],
    ['a Zod record', z.record(z.string(), z.number())],
  ])('%s as the schema of arguments', (_, inputSchema) => {
    expect(new McpServer(info).registerTool('x', { inputSchema }, nothing).enabled).toBe(true);
  });

  it('the author may change or freeze his own schema afterwards', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } } };
    new McpServer(info).registerTool('x', { inputSchema }, nothing);
    expect(Object.isFrozen(inputSchema)).toBe(false);
    expect(Object.isFrozen(inputSchema.properties)).toBe(false);
    const frozen = Object.freeze({ type: 'object' });
    new McpServer(info).registerTool('x', { inputSchema: frozen }, nothing);
  });
});

describe('a registration that cannot work', () => {
  const untyped = (): Record<'registerTool' | 'registerPrompt' | 'registerResource', (...args: unknown[]) => unknown> =>
    new McpServer({ name: 'test', version: '1' }) as never;

  it.each([
    ['registerTool', ['x', {}]],
    ['registerTool', ['x', () => 'y']],
    ['registerPrompt', ['p', {}]],
    ['registerResource', ['r', 'note:///a', {}]],
    ['registerResource', ['r', 'note:///a', () => 'y']],
    ['registerResource', ['r', new ResourceTemplate('note:///{id}'), {}]],
  ] as const)('%s without a handler is refused at once', (method, args) => {
    expect(() => untyped()[method](...args)).toThrow(/last argument must be its handler/);
  });

  it('a template as a plain string is refused, and the message says what to pass', () => {
    expect(() => untyped().registerResource('r', 'note:///{id}', {}, () => 'x')).toThrow(/new ResourceTemplate/);
  });

  it('a URI that is none is named as such', () => {
    expect(() => untyped().registerResource('r', 'readme', {}, () => 'x')).toThrow(/"readme" is not an absolute URI/);
  });
});
