import { expect, it } from 'vitest';
import { z } from 'zod';
import { SERVER_INFO_META_KEY } from '../../src/protocol/index.ts';
import { McpServer, type McpServerOptions, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix } from '../matrix.ts';

const info = { name: 'discover', version: '1.2.3', title: 'Discover', websiteUrl: 'https://example.com' };

describeMatrix('server/discover', (connect) => {
  it('DISC-03: says what is served, and by whom', async () => {
    const server = new McpServer(info, { instructions: 'Call echo first.' });
    expect(await (await connect(server)).result('server/discover')).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { logging: {} },
      instructions: 'Call echo first.',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [SERVER_INFO_META_KEY]: info },
    });
  });

  it('DISC-08: a capability appears with the first definition that needs it', async () => {
    const server = new McpServer(info);
    const client = await connect(server);
    const capabilities = async () => (await client.result('server/discover')).capabilities;
    expect(await capabilities()).toEqual({ logging: {} });
    expect((await client.error('tools/list')).code).toBe(-32601);
    server.registerTool('x', {}, () => '');
    expect(await capabilities()).toEqual({ logging: {}, tools: {} });
    server.registerPrompt('x', {}, () => '');
    expect(await capabilities()).toEqual({ logging: {}, tools: {}, prompts: {} });
    server.registerResource('x', new ResourceTemplate('x:///{a}'), {}, () => '');
    expect(await capabilities()).toEqual({ logging: {}, tools: {}, prompts: {}, resources: {} });
    const argsSchema = z.object({ a: z.string() });
    server.registerPrompt('y', { argsSchema, complete: { a: () => [] } }, () => '');
    expect(await capabilities()).toEqual({ logging: {}, tools: {}, prompts: {}, resources: {}, completions: {} });
  });

  it('completions come with a template too, and go with it', async () => {
    const server = new McpServer(info);
    const template = new ResourceTemplate('x:///{a}', { complete: { a: () => [] } });
    const handle = server.registerResource('x', template, {}, () => '');
    const client = await connect(server);
    const capabilities = async () => (await client.result('server/discover')).capabilities;
    expect(await capabilities()).toEqual({ logging: {}, resources: {}, completions: {} });
    handle.disable();
    expect(await capabilities()).toEqual({ logging: {}, resources: {} });
    handle.remove();
    expect(await capabilities()).toEqual({ logging: {} });
  });

  it('DISC-10: what is declared is served before anything is registered', async () => {
    const capabilities = { tools: {}, prompts: { listChanged: false }, resources: { subscribe: true } };
    const client = await connect(new McpServer(info, { capabilities }));
    expect((await client.result('server/discover')).capabilities).toEqual({ logging: {}, ...capabilities });
    for (const [method, member] of [
      ['tools/list', 'tools'],
      ['prompts/list', 'prompts'],
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates'],
    ] as const) {
      expect((await client.result(method))[member]).toEqual([]);
    }
  });

  it('VER-07: extensions and experimental capabilities are passed on with their settings', async () => {
    const extensions = { 'io.modelcontextprotocol/tasks': {}, 'com.example/a': { deep: { er: [1] } } };
    const experimental = { anything: { at: 'all' } };
    const client = await connect(new McpServer(info, { capabilities: { extensions, experimental } }));
    expect((await client.result('server/discover')).capabilities).toEqual({ logging: {}, extensions, experimental });
  });

  it('META-13: every result says who made it, unless that is switched off', async () => {
    const serve = (options?: McpServerOptions) => {
      const server = new McpServer(info, options);
      server.registerTool('x', {}, () => ({ content: [], _meta: { 'com.example/k': 1 } }));
      server.registerTool('y', {}, () => '');
      return server;
    };
    const requests = [
      ['server/discover', {}],
      ['tools/list', {}],
      ['tools/call', { name: 'x' }],
      ['tools/call', { name: 'y' }],
    ] as const;
    const telling = await connect(serve());
    const silent = await connect(serve({ sendServerInfo: false }));
    for (const [method, params] of requests) {
      expect((await telling.result(method, params))._meta).toMatchObject({ [SERVER_INFO_META_KEY]: info });
      expect((await silent.result(method, params))._meta ?? {}).not.toHaveProperty(SERVER_INFO_META_KEY);
    }
    expect((await silent.result('tools/call', { name: 'x' }))._meta).toEqual({ 'com.example/k': 1 });
  });
});
