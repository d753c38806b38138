import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type McpMiddleware, type McpResult, withMiddleware } from '../../src/protocol/index.ts';
import { McpServer, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix } from '../matrix.ts';
import { recordingLogger } from '../recording-logger.ts';

const info = { name: 'immutability', version: '1.0.0' };

function serverWith(): McpServer {
  const server = new McpServer(info, { logger: recordingLogger() });
  const inputSchema = z.object({ a: z.object({ b: z.string() }).optional() });
  server.registerTool('x', { inputSchema, annotations: { readOnlyHint: true }, _meta: { k: { v: 1 } } }, () => 'x');
  server.registerPrompt('x', { argsSchema: z.object({ a: z.string() }) }, () => 'x');
  server.registerResource('x', 'x:///1', { annotations: { audience: ['user'] } }, () => 'x');
  server.registerResource('x', new ResourceTemplate('x:///{a}'), {}, () => 'x');
  return server;
}

const shared = ['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

function unfrozenPaths(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, member]) => unfrozenPaths(member, `${path}/${key}`));
  return Object.isFrozen(value) ? below : [path, ...below];
}

describeMatrix('shared results', (connect) => {
  it.each(shared)('of %s are frozen to their depth before anybody gets them', async (method) => {
    const results: McpResult[] = [];
    const keep: McpMiddleware = async (request, exchange, next) => {
      const result = await next(request, exchange);
      results.push(result);
      return result;
    };
    const client = await connect(withMiddleware(serverWith(), keep));
    const [first, second] = [await client.result(method), await client.result(method)];
    expect(second).toEqual(first);
    expect(results[0]).toBe(results[1]);
    expect(unfrozenPaths(results[0])).toEqual([]);
  });

  it.each(shared)(
    'of %s: a copy that middleware makes is what is sent, and the next one starts anew',
    async (method) => {
      const extend: McpMiddleware = async (request, exchange, next) => {
        const result = await next(request, exchange);
        const count = typeof result.extended === 'number' ? result.extended : 0;
        return { ...result, extended: count + 1 };
      };
      const client = await connect(withMiddleware(serverWith(), extend));
      expect((await client.result(method)).extended).toBe(1);
      expect((await client.result(method)).extended).toBe(1);
    },
  );
});

describeMatrix('what authors hand over', (connect) => {
  it('is not changed, and what they change afterwards has no effect', async () => {
    const server = new McpServer(info);
    const config = {
      title: 'Title',
      annotations: { readOnlyHint: true },
      inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
      _meta: { k: { v: 1 } },
    };
    const before = structuredClone(config);
    server.registerTool('x', config, () => '');
    const client = await connect(server);
    const listed = await client.result('tools/list');
    expect(config).toEqual(before);
    config.annotations.readOnlyHint = false;
    config.inputSchema.properties.a.type = 'number';
    config._meta.k.v = 2;
    server.registerTool('y', {}, () => '').remove();
    expect(await client.result('tools/list')).toEqual(listed);
    const call = { name: 'x', arguments: { a: 'text' } };
    expect((await client.result('tools/call', call)).isError).toBeUndefined();
  });

  it('may be frozen, and the same result may be returned again and again', async () => {
    const result = Object.freeze({ content: Object.freeze([Object.freeze({ type: 'text', text: 'x' } as const)]) });
    const server = new McpServer(info);
    server.registerTool('x', {}, () => result);
    const client = await connect(server);
    const first = await client.result('tools/call', { name: 'x' });
    expect(await client.result('tools/call', { name: 'x' })).toEqual(first);
    expect(first).toMatchObject({ resultType: 'complete', content: [{ text: 'x' }] });
    expect(result).toEqual({ content: [{ type: 'text', text: 'x' }] });
  });
});

describe('a server', () => {
  it('has a handler that needs no receiver', async () => {
    const { handler, methods } = serverWith();
    expect(typeof handler).toBe('function');
    expect(Object.isFrozen(methods)).toBe(true);
  });
});
