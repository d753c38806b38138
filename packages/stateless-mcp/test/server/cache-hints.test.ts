import { describe, expect, it } from 'vitest';
import { McpServer, type McpServerOptions, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'cache', version: '1.0.0' };
const uri = 'note:///1';

const lists = [
  ['tools', 'tools/list'],
  ['prompts', 'prompts/list'],
  ['resources', 'resources/list'],
  ['resourceTemplates', 'resources/templates/list'],
  ['discover', 'server/discover'],
] as const;

function serverWith(options: McpServerOptions): McpServer {
  const server = new McpServer(info, options);
  server.registerTool('a', {}, () => '');
  server.registerTool('b', {}, () => '');
  server.registerPrompt('a', {}, () => '');
  server.registerResource('a', uri, {}, () => '');
  server.registerResource('a', new ResourceTemplate('note:///{id}'), {}, () => '');
  return server;
}

describeMatrix('cache hints', (connect) => {
  it('CACHE-01: are 0 and private unless set', async () => {
    const client = await connect(serverWith({}));
    for (const [, method] of lists) {
      expect(await client.result(method)).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    }
  });

  it.each(lists)('of %s are those of its own option', async (name, method) => {
    const client = await connect(serverWith({ cacheHints: { [name]: { ttlMs: 60_000, cacheScope: 'public' } } }));
    for (const [other, otherMethod] of lists) {
      const expected = other === name ? { ttlMs: 60_000, cacheScope: 'public' } : { ttlMs: 0, cacheScope: 'private' };
      expect(await client.result(otherMethod)).toMatchObject(expected);
    }
    expect(await client.result(method)).toMatchObject({ ttlMs: 60_000 });
  });

  it('one of the two can be set alone', async () => {
    const client = await connect(
      serverWith({ cacheHints: { tools: { ttlMs: 5 }, prompts: { cacheScope: 'public' } } }),
    );
    expect(await client.result('tools/list')).toMatchObject({ ttlMs: 5, cacheScope: 'private' });
    expect(await client.result('prompts/list')).toMatchObject({ ttlMs: 0, cacheScope: 'public' });
  });

  it('CACHE-02: are the same on all pages', async () => {
    const hints = { ttlMs: 7, cacheScope: 'public' } as const;
    const client = await connect(serverWith({ pageSize: 1, cacheHints: { tools: hints } }));
    const first = await client.result('tools/list');
    expect(first).toMatchObject(hints);
    expect(await client.result('tools/list', { cursor: first.nextCursor })).toMatchObject(hints);
  });

  it('are not on results that nobody may keep', async () => {
    const client = await connect(serverWith({}));
    for (const [method, params] of [
      ['tools/call', { name: 'a' }],
      ['prompts/get', { name: 'a' }],
    ] as const) {
      const result = await client.result(method, params);
      expect(result).not.toHaveProperty('ttlMs');
      expect(result).not.toHaveProperty('cacheScope');
    }
  });
});

describeMatrix('public results', (connect) => {
  it.each(['auth', 'http', 'client', 'meta'] as const)(
    'of a resource may not look at ctx.%s: an error that the log explains',
    async (member) => {
      const logger = recordingLogger();
      const server = new McpServer(info, { logger });
      const config = { cacheHints: { cacheScope: 'public' } } as const;
      server.registerResource('a', uri, config, (_uri, context) => `for ${String(context[member])}`);
      const { code, message } = await (await connect(server)).error('resources/read', { uri });
      expect(code).toBe(-32603);
      expect(String(logger.byReference(referenceIn(message)).fields.error)).toContain(`ctx.${member}`);
    },
  );

  it.each([{ visible: () => true }, { scopes: ['s'] }])(
    'a resource that not everybody may read (%o) cannot make its own result public',
    async (restriction) => {
      const logger = recordingLogger();
      const server = new McpServer(info, { logger });
      server.registerResource('a', uri, restriction, () => ({
        contents: [{ uri, text: 'only for some' }],
        cacheScope: 'public',
        ttlMs: 60_000,
      }));
      const auth = { principal: 'alice', scopes: ['s'] };
      const { message } = await (await connect(server)).request('resources/read', { uri }, { auth });
      expect(message.result?.cacheScope).not.toBe('public');
      expect(logger.entries).toHaveLength(1);
    },
  );

  it('of a resource must be declared: a handler that may look at its caller cannot make one', async () => {
    const logger = recordingLogger();
    const server = new McpServer(info, { logger });
    server.registerResource('a', uri, {}, (_uri, { auth }) => ({
      contents: [{ uri, text: `for ${auth?.principal ?? 'nobody'}` }],
      cacheScope: 'public',
    }));
    const error = await (await connect(server)).error('resources/read', { uri }, { auth: { principal: 'alice' } });
    expect(error.code).toBe(-32603);
    expect(String(logger.byReference(referenceIn(error.message)).fields.error)).toContain('must be declared');
  });

  it('can be narrowed to private by the handler', async () => {
    const server = new McpServer(info);
    const config = { cacheHints: { cacheScope: 'public', ttlMs: 5 } } as const;
    server.registerResource('a', uri, config, () => ({ contents: [{ uri, text: 'x' }], cacheScope: 'private' }));
    const result = await (await connect(server)).result('resources/read', { uri });
    expect(result).toMatchObject({ cacheScope: 'private', ttlMs: 5 });
  });
});

describe('registration of public definitions', () => {
  const visible = () => true;

  it('refuses a visible definition in a public list, and names both', () => {
    const server = new McpServer(info, {
      cacheHints: {
        tools: { cacheScope: 'public' },
        prompts: { cacheScope: 'public' },
        resources: { cacheScope: 'public' },
        resourceTemplates: { cacheScope: 'public' },
      },
    });
    const template = new ResourceTemplate('note:///{id}');
    expect(() => server.registerTool('a', { visible }, () => '')).toThrow(/cacheHints\.tools.*visible/);
    expect(() => server.registerPrompt('a', { visible }, () => '')).toThrow(/cacheHints\.prompts.*visible/);
    expect(() => server.registerResource('a', uri, { visible }, () => '')).toThrow(/cacheHints\.resources.*visible/);
    expect(() => server.registerResource('a', template, { visible }, () => '')).toThrow(/resourceTemplates.*visible/);
  });

  it('refuses a visible template whose provider lists into a public list', () => {
    const server = new McpServer(info, { cacheHints: { resources: { cacheScope: 'public' } } });
    const list = () => ({ resources: [] });
    const listing = new ResourceTemplate('listing:///{id}', { list });
    expect(() => server.registerResource('a', listing, { visible }, () => '')).toThrow(/cacheHints\.resources/);
    server.registerResource('a', new ResourceTemplate('silent:///{id}'), { visible }, () => '');
  });

  it('refuses to make a definition visible by an update', () => {
    const server = new McpServer(info, { cacheHints: { tools: { cacheScope: 'public' } } });
    const handle = server.registerTool('a', {}, () => '');
    expect(() => handle.update({ visible })).toThrow(TypeError);
  });

  it('allows scopes in a public list: they hide nothing', () => {
    const server = new McpServer(info, { cacheHints: { tools: { cacheScope: 'public' } } });
    expect(server.registerTool('a', { scopes: ['s'] }, () => '').enabled).toBe(true);
  });

  it.each([{ visible }, { scopes: ['s'] }])(
    'refuses a resource that is public and depends on the caller (%o)',
    (config) => {
      const server = new McpServer(info);
      const all = { ...config, cacheHints: { cacheScope: 'public' } } as const;
      const template = new ResourceTemplate('note:///{id}');
      expect(() => server.registerResource('a', uri, all, () => '')).toThrow(/cacheScope 'public'/);
      expect(() => server.registerResource('a', template, all, () => '')).toThrow(/cacheScope 'public'/);
    },
  );

  it.each([{ ttlMs: -1 }, { ttlMs: 0.5 }, { ttlMs: Infinity }, { ttlMs: '5' }, { cacheScope: 'shared' }])(
    'refuses hints that are not valid: %j',
    (hints) => {
      expect(() => new McpServer(info, { cacheHints: { tools: hints as object } })).toThrow(/cacheHints\.tools/);
      const server = new McpServer(info);
      expect(() => server.registerResource('a', uri, { cacheHints: hints as object }, () => '')).toThrow(
        `resource "${uri}"`,
      );
    },
  );
});
