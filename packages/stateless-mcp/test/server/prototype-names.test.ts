import { expect, it } from 'vitest';
import { McpServer } from '../../src/server/index.ts';
import { describeMatrix } from '../matrix.ts';

const info = { name: 'prototypes', version: '1.0.0' };
const names = ['__proto__', 'constructor', 'hasOwnProperty', 'prototype', 'toString', 'valueOf'];

describeMatrix('names that every object has', (connect) => {
  it('are unknown where they were not registered', async () => {
    const server = new McpServer(info);
    server.registerTool('x', {}, () => '');
    server.registerPrompt('x', {}, () => '');
    server.registerResource('x', 'x:///1', {}, () => '');
    const client = await connect(server);
    for (const name of names) {
      expect(await client.error('tools/call', { name })).toMatchObject({
        code: -32602,
        message: expect.stringContaining(name),
      });
      expect(await client.error('prompts/get', { name })).toMatchObject({
        code: -32602,
        message: expect.stringContaining(name),
      });
      expect(await client.error('resources/read', { uri: name })).toMatchObject({ code: -32602, data: { uri: name } });
      expect((await client.error(name)).code).toBe(-32601);
    }
  });

  it('can be registered like any other', async () => {
    const server = new McpServer(info, { pageSize: 2 });
    for (const name of names) {
      server.registerTool(name, {}, () => `tool ${name}`);
      server.registerPrompt(name, {}, () => `prompt ${name}`);
    }
    const client = await connect(server);
    for (const name of names) {
      expect(await client.result('tools/call', { name })).toMatchObject({ content: [{ text: `tool ${name}` }] });
      expect(await client.result('prompts/get', { name })).toMatchObject({
        messages: [{ content: { text: `prompt ${name}` } }],
      });
    }
    const listed: string[] = [];
    let cursor: unknown;
    do {
      const result = await client.result('tools/list', cursor === undefined ? {} : { cursor });
      listed.push(...(result.tools as { name: string }[]).map(({ name }) => name));
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(listed).toEqual(names);
  });

  it('can be arguments, which reach the handler as own members and change no prototype', async () => {
    const server = new McpServer(info);
    const properties = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}') as object;
    const inputSchema = { type: 'object', properties, additionalProperties: false };
    server.registerTool('x', { inputSchema }, (input) =>
      JSON.stringify([Object.keys(input).sort(), Object.getPrototypeOf(input) === Object.prototype]),
    );
    const client = await connect(server);
    expect(JSON.stringify((await client.result('tools/list')).tools)).toContain('"__proto__":{"type":"string"}');
    const args = JSON.parse('{"__proto__":"a","constructor":"b"}') as object;
    expect(await client.result('tools/call', { name: 'x', arguments: args })).toMatchObject({
      content: [{ text: '[["__proto__","constructor"],true]' }],
    });
    expect(await client.result('tools/call', { name: 'x', arguments: { toString: 'c' } })).toMatchObject({
      isError: true,
    });
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false);
  });

  it('are no arguments that a schema requires', async () => {
    const server = new McpServer(info);
    const inputSchema = {
      type: 'object',
      properties: { toString: { type: 'string' }, constructor: { type: 'string' } },
      required: ['toString', 'constructor'],
    };
    server.registerTool('x', { inputSchema }, () => 'ran');
    const client = await connect(server);
    expect((await client.result('tools/call', { name: 'x' })).isError).toBe(true);
  });
});
