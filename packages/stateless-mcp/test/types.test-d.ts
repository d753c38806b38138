/** What the type checker says to users of the server: compiled with everything else, never run. */
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { fetchHandler } from '../src/http/index.ts';
import { nodeListener, serveHttp } from '../src/node/index.ts';
import { type McpHandler, type McpMiddleware, withExchange, withMiddleware } from '../src/protocol/index.ts';
import { McpServer, type RegisteredTool, type RequestContext, ResourceTemplate } from '../src/server/index.ts';

declare const server: McpServer;

// Arguments are what the schema makes of them: behind defaults and transformations.
const zodSchema = z.object({
  city: z.string(),
  days: z.number().default(3),
  unit: z.enum(['C', 'F']).optional(),
  at: z.string().transform((text) => new Date(text)),
});
server.registerTool('zod', { inputSchema: zodSchema }, (input, context) => {
  expectTypeOf<typeof input>().toEqualTypeOf<{ city: string; days: number; unit?: 'C' | 'F' | undefined; at: Date }>();
  expectTypeOf<typeof context>().toEqualTypeOf<RequestContext>();
  // @ts-expect-error There is no such argument.
  return String(input.other);
});
server.registerTool('zod', { inputSchema: zodSchema }, async ({ city, days }, { signal, progress }) => {
  expectTypeOf<typeof signal>().toEqualTypeOf<AbortSignal>();
  await progress(1, days, city);
  return city;
});

server.registerTool(
  'zod-union',
  {
    inputSchema: z.discriminatedUnion('by', [
      z.object({ by: z.literal('a'), a: z.string() }),
      z.object({ by: z.literal('b') }),
    ]),
  },
  (input) => (input.by === 'a' ? input.a : input.by),
);

const valibotSchema = toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 3) }));
server.registerTool('valibot', { inputSchema: valibotSchema }, (input) => {
  expectTypeOf<typeof input>().toEqualTypeOf<{ city: string; days: number }>();
  return input.city;
});

const arktypeSchema = type({ city: 'string', days: 'number = 3' });
server.registerTool('arktype', { inputSchema: arktypeSchema }, (input) => {
  expectTypeOf<typeof input>().toEqualTypeOf<{ city: string; days: number }>();
  return input.city;
});

// A plain JSON Schema tells nothing about types, so that every argument must be looked at.
const jsonSchema = { type: 'object', properties: { city: { type: 'string' } } } as const;
server.registerTool('json', { inputSchema: jsonSchema }, (input) => {
  expectTypeOf<typeof input.city>().toEqualTypeOf<unknown>();
  return 'ok';
});
// @ts-expect-error An unknown value is no text.
server.registerTool('json', { inputSchema: jsonSchema }, ({ city }) => city);
server.registerTool('json', { inputSchema: jsonSchema }, ({ city }) => (typeof city === 'string' ? city : 'nowhere'));

// Without a schema there are no arguments.
server.registerTool('none', {}, (input) => {
  // @ts-expect-error There are none.
  const city: string = input.city.toUpperCase();
  return city;
});
server.registerTool('none', { description: 'No parameters are needed' }, () => 'ok');

// What may be returned.
server.registerTool('text', {}, async () => 'text');
server.registerTool('whole', {}, () => ({ content: [{ type: 'text', text: 'x' }], isError: true }));
server.registerTool('whole', {}, () => ({ content: [], structuredContent: [1, 2], _meta: { k: 1 } }));
// @ts-expect-error A number is no result.
server.registerTool('number', {}, () => 7);
// @ts-expect-error Nothing is no result.
server.registerTool('nothing', {}, () => {});
// @ts-expect-error Without an outputSchema an object is no result.
server.registerTool('object', {}, async () => ({ count: 1 }));
// @ts-expect-error A content block has one of the known types.
server.registerTool('block', {}, () => ({ content: [{ type: 'sound', text: 'x' }] }));
// @ts-expect-error A text block has a text.
server.registerTool('block', {}, () => ({ content: [{ type: 'text' }] }));

// With an outputSchema, what it takes: before its defaults.
const outputSchema = z.object({ count: z.number(), unit: z.string().default('pieces') });
server.registerTool('output', { outputSchema }, () => ({ count: 1 }));
server.registerTool('output', { outputSchema }, async () => ({ count: 1, unit: 'boxes' }));
server.registerTool('output', { outputSchema }, () => ({ content: [], structuredContent: { count: 1 } }));
// @ts-expect-error The count is a number.
server.registerTool('output', { outputSchema }, () => ({ count: 'one' }));
// @ts-expect-error The count is missing.
server.registerTool('output', { outputSchema }, () => ({ unit: 'boxes' }));
server.registerTool('array', { outputSchema: z.array(z.number()) }, () => [1, 2]);
// @ts-expect-error The entries are numbers.
server.registerTool('array', { outputSchema: z.array(z.number()) }, () => ['a']);
server.registerTool('valibot', { outputSchema: toStandardJsonSchema(v.object({ n: v.number() })) }, () => ({ n: 1 }));
// @ts-expect-error The member is a number.
server.registerTool('valibot', { outputSchema: toStandardJsonSchema(v.object({ n: v.number() })) }, () => ({ n: '1' }));
server.registerTool('arktype', { outputSchema: type({ n: 'number' }) }, () => ({ n: 1 }));
// @ts-expect-error The member is a number.
server.registerTool('arktype', { outputSchema: type({ n: 'number' }) }, () => ({ n: '1' }));
server.registerTool('json', { outputSchema: jsonSchema }, () => ({ city: 'Rome' }));

// Configurations.
// @ts-expect-error There is no such option.
server.registerTool('config', { descripton: 'misspelt' }, () => '');
// @ts-expect-error A limit is a number.
server.registerTool('config', { timeoutMs: '5s' }, () => '');
server.registerTool(
  'config',
  { visible: async ({ auth }) => auth?.scopes?.includes('x') === true, scopes: ['x'] },
  () => '',
);

// Handles.
const tool: RegisteredTool<typeof zodSchema> = server.registerTool(
  'handle',
  { inputSchema: zodSchema },
  ({ city }) => city,
);
tool.update({ title: 'Title' });
tool.update({}, ({ city, days }) => city.repeat(days));
// @ts-expect-error There is no such argument.
tool.update({}, ({ other }) => String(other));
// @ts-expect-error Another schema would need another handler type: register another tool.
tool.update({ inputSchema: valibotSchema });
// @ts-expect-error There is no such option.
tool.update({ titel: 'misspelt' });
// Handles of different tools can be kept together.
export const handles: RegisteredTool[] = [tool, server.registerTool('none', {}, () => '')];
// @ts-expect-error It is told by enable and disable.
tool.enabled = false;

// Prompts.
server.registerPrompt(
  'prompt',
  { argsSchema: z.object({ name: z.string(), tone: z.string().optional() }) },
  (input) => {
    expectTypeOf<typeof input>().toEqualTypeOf<{ name: string; tone?: string | undefined }>();
    return input.name;
  },
);
server.registerPrompt('prompt', {}, async () => ({
  messages: [{ role: 'assistant', content: { type: 'text', text: 'x' } }],
}));
// @ts-expect-error There is no such role.
server.registerPrompt('prompt', {}, () => ({ messages: [{ role: 'system', content: { type: 'text', text: 'x' } }] }));
// @ts-expect-error Nothing is no prompt.
server.registerPrompt('prompt', {}, () => {});

// Resources: the kind of target decides what the handler gets.
server.registerResource('one', 'one:///1', { mimeType: 'text/plain' }, (uri, context) => {
  expectTypeOf<typeof uri>().toEqualTypeOf<string>();
  expectTypeOf<typeof context>().toEqualTypeOf<RequestContext>();
  return new Uint8Array();
});
server.registerResource('many', new ResourceTemplate('many:///{id}'), {}, (uri, variables, context) => {
  expectTypeOf<typeof uri>().toEqualTypeOf<string>();
  expectTypeOf<typeof variables>().toEqualTypeOf<Readonly<Record<string, string | readonly string[]>>>();
  expectTypeOf<typeof context>().toEqualTypeOf<RequestContext>();
  return { contents: [{ uri, text: 'x' }], ttlMs: 5 };
});
// @ts-expect-error One resource has no variables.
server.registerResource('one', 'one:///1', {}, (_uri, _variables, { signal }) => String(signal));
// @ts-expect-error Nothing is no content.
server.registerResource('one', 'one:///1', {}, () => undefined);
// @ts-expect-error A guard that may take its time would let everything through meanwhile.
new ResourceTemplate('many:///{id}', { guard: async () => true });
// @ts-expect-error A list provider returns pages.
new ResourceTemplate('many:///{id}', { list: () => [] });
new ResourceTemplate('many:///{id}', {
  list: async ({ cursor, pageSize }, { auth }) => {
    expectTypeOf<typeof cursor>().toEqualTypeOf<string | undefined>();
    expectTypeOf<typeof pageSize>().toEqualTypeOf<number | undefined>();
    return { resources: [{ uri: 'many:///1', name: auth?.principal ?? 'x' }], nextCursor: 'next' };
  },
  complete: { id: (value, chosen) => [value, ...Object.keys(chosen)] },
});

// A server is an endpoint for every binding, and so is a function.
const bare: McpHandler = async () => ({ resultType: 'complete' });
const middleware: McpMiddleware = async (request, exchange, next) =>
  next(request, withExchange(exchange, { auth: undefined }));
export const endpoints = [
  () => fetchHandler(server),
  () => fetchHandler(bare),
  () => fetchHandler(withMiddleware(server, middleware)),
  () => nodeListener(server, { allowedHosts: 'any' }),
  () => serveHttp(server),
  // @ts-expect-error Who mounts a listener says under which names it is reached.
  () => nodeListener(server, {}),
  // @ts-expect-error Middleware stands around an endpoint.
  () => withMiddleware(bare, middleware),
  // @ts-expect-error A handler has a result.
  () => fetchHandler(async () => {}),
];

// Messages are not changed after they are handed on.
export const immutable: McpMiddleware = async (request, exchange, next) => {
  // @ts-expect-error Make another request.
  request.method = 'tools/list';
  // @ts-expect-error Make other parameters.
  request.params.name = 'other';
  const result = await next(request, exchange);
  // @ts-expect-error Make another result.
  result.ttlMs = 0;
  return result;
};

// People who come from handlers with the context as their only argument learn it here and not at run time.
// @ts-expect-error The context is the second argument.
server.registerTool('context-first', {}, async ({ auth }) => String(auth));
// @ts-expect-error The same for prompts.
server.registerPrompt('context-first', {}, async ({ auth }) => String(auth));
server.registerTool('context-second', {}, async (_, { auth }) => String(auth?.principal));
