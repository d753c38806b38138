import { expect, it } from 'vitest';
import {
  McpServer,
  type McpServerOptions,
  type ResourceListProvider,
  type ResourcePageRequest,
  ResourceTemplate,
} from '../../src/server/index.ts';
import { type Connect, describeMatrix, type MatrixClient } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'providers', version: '1.0.0' };

async function serve(
  connect: Connect,
  providers: Readonly<Record<string, ResourceListProvider>>,
  options: McpServerOptions = {},
  registered: readonly string[] = [],
) {
  const logger = recordingLogger();
  const server = new McpServer(info, { logger, ...options });
  for (const uri of registered) server.registerResource(uri, uri, {}, () => '');
  for (const [scheme, list] of Object.entries(providers)) {
    server.registerResource(scheme, new ResourceTemplate(`${scheme}:///{id}`, { list }), {}, () => '');
  }
  return { client: await connect(server), logger };
}

/** Walks all pages; the URIs of each. */
async function pagesOf(client: MatrixClient): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  let cursor: unknown;
  do {
    const result = await client.result('resources/list', { ...(cursor !== undefined && { cursor }) });
    pages.push((result.resources as { uri: string }[]).map(({ uri }) => uri));
    cursor = result.nextCursor;
    expect(pages.length).toBeLessThan(50);
  } while (cursor !== undefined);
  return pages;
}

const entries = (scheme: string, ...ids: (string | number)[]) =>
  ids.map((id) => ({ uri: `${scheme}:///${id}`, name: String(id) }));

/** Lists as many resources as were asked for, by a cursor that is the number of those before. */
function numbered(scheme: string, total: number, asked: ResourcePageRequest[] = []): ResourceListProvider {
  return (request) => {
    asked.push(request);
    const start = Number(request.cursor ?? 0);
    const end = Math.min(total, start + (request.pageSize ?? total));
    const ids = Array.from({ length: end - start }, (_, index) => start + index);
    return { resources: entries(scheme, ...ids), ...(end < total && { nextCursor: String(end) }) };
  };
}

describeMatrix('list providers of templates', (connect) => {
  it('add to what is registered, all members of their entries included', async () => {
    const entry = { uri: 'note:///a', name: 'a', title: 'A', mimeType: 'text/plain', size: 1, _meta: { k: 1 } };
    const { client } = await serve(connect, { note: () => ({ resources: [entry] }) }, {}, ['zzz:///registered']);
    expect(await client.result('resources/list')).toEqual({
      resultType: 'complete',
      resources: [{ uri: 'zzz:///registered', name: 'zzz:///registered' }, entry],
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': info },
    });
  });

  it('several are asked in the order of their templates, without pages all at once', async () => {
    const { client } = await serve(connect, { b: numbered('b', 2), a: numbered('a', 2), c: numbered('c', 0) });
    expect(await pagesOf(client)).toEqual([['a:///0', 'a:///1', 'b:///0', 'b:///1']]);
  });

  it('are paged by their own cursors, which they get back as they gave them out', async () => {
    const asked: ResourcePageRequest[] = [];
    const providers = { a: numbered('a', 5, asked), b: numbered('b', 1) };
    const { client } = await serve(connect, providers, { pageSize: 2 }, ['r:///1', 'r:///2', 'r:///3']);
    const pages = await pagesOf(client);
    expect(pages.flat()).toEqual(['r:///1', 'r:///2', 'r:///3', ...numbers('a', 5), 'b:///0']);
    expect(pages[0]).toEqual(['r:///1', 'r:///2']);
    expect(asked).toEqual([undefined, '2', '4'].map((cursor) => ({ cursor, pageSize: 2 })));
  });

  it('a provider with pages of its own is followed even if the server has none', async () => {
    const list: ResourceListProvider = ({ cursor }) =>
      cursor === undefined
        ? { resources: entries('a', 1), nextCursor: '' }
        : { resources: entries('a', cursor === '' ? 2 : 'wrong') };
    const { client } = await serve(connect, { a: list, b: numbered('b', 1) });
    expect((await pagesOf(client)).flat()).toEqual(['a:///1', 'a:///2', 'b:///0']);
  });

  it('an empty page in the middle does not end the list', async () => {
    const list: ResourceListProvider = ({ cursor }) =>
      cursor === undefined ? { resources: [], nextCursor: 'more' } : { resources: entries('a', 1) };
    const { client } = await serve(connect, { a: list });
    expect((await pagesOf(client)).flat()).toEqual(['a:///1']);
  });

  it('what is registered is left out, hidden and disabled ones too', async () => {
    const server = new McpServer(info);
    const list = () => ({ resources: entries('note', 'open', 'hidden', 'disabled', 'other') });
    server.registerResource('notes', new ResourceTemplate('note:///{id}', { list }), {}, () => '');
    server.registerResource('open', 'note:///open', { title: 'registered' }, () => '');
    server.registerResource('hidden', 'note:///hidden', { visible: () => false }, () => '');
    server.registerResource('disabled', 'note:///disabled', {}, () => '').disable();
    const client = await connect(server);
    expect((await client.result('resources/list')).resources).toEqual([
      { uri: 'note:///open', name: 'open', title: 'registered' },
      { uri: 'note:///other', name: 'other' },
    ]);
  });

  it('of hidden and disabled templates are not asked', async () => {
    let asked = 0;
    const list = () => {
      asked += 1;
      return { resources: entries('note', 1) };
    };
    const server = new McpServer(info);
    server.registerResource('a', new ResourceTemplate('a:///{id}', { list }), { visible: () => false }, () => '');
    server.registerResource('b', new ResourceTemplate('b:///{id}', { list }), {}, () => '').disable();
    const client = await connect(server);
    expect((await client.result('resources/list')).resources).toEqual([]);
    expect(asked).toBe(0);
  });

  it('see who asks', async () => {
    const list: ResourceListProvider = (_request, { auth }) => ({
      resources: entries('a', auth?.principal ?? 'nobody'),
    });
    const { client } = await serve(connect, { a: list });
    const list1 = await client.result('resources/list', {}, { auth: { principal: 'alice' } });
    const list2 = await client.result('resources/list');
    expect([list1.resources, list2.resources]).toEqual([entries('a', 'alice'), entries('a', 'nobody')]);
  });

  it('an error of one is −32603 with a reference that is in the log', async () => {
    const broken: ResourceListProvider = async () => Promise.reject(new Error('password hunter2'));
    const { client, logger } = await serve(connect, { a: numbered('a', 1), b: broken });
    const error = await client.error('resources/list');
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(logger.byReference(referenceIn(error.message)).fields.error).toEqual(new Error('password hunter2'));
  });

  it.each([
    undefined,
    null,
    [],
    {},
    { resources: {} },
    { resources: [null] },
    { resources: [{ uri: 'a:///1' }] },
    { resources: [{ name: 'a' }] },
    { resources: [], nextCursor: 7 },
    { resources: [], nextCursor: null },
  ])('what is no page (%j) is −32603, and the log says what to return', async (page) => {
    const { client, logger } = await serve(connect, { a: (() => page) as unknown as ResourceListProvider });
    const { code, message } = await client.error('resources/list');
    expect(code).toBe(-32603);
    expect(String(logger.byReference(referenceIn(message)).fields.error)).toMatch(/"a:\/\/\/\{id\}" must return/);
  });

  it('FEAT-01: a cursor of a provider that is gone is −32602', async () => {
    const server = new McpServer(info, { pageSize: 1 });
    const template = new ResourceTemplate('a:///{id}', { list: numbered('a', 3) });
    const handle = server.registerResource('a', template, {}, () => '');
    server.registerResource('z', 'z:///1', {}, () => '');
    const client = await connect(server);
    const first = await client.result('resources/list');
    const second = await client.result('resources/list', { cursor: first.nextCursor });
    const cursor = second.nextCursor ?? first.nextCursor;
    handle.disable();
    expect((await client.error('resources/list', { cursor })).code).toBe(-32602);
  });

  it('a list that is public may not look at the caller: the answer is an error that the log explains', async () => {
    for (const member of ['auth', 'http', 'client', 'meta'] as const) {
      const list: ResourceListProvider = (_request, context) => ({ resources: entries('a', String(context[member])) });
      const { client, logger } = await serve(
        connect,
        { a: list },
        { cacheHints: { resources: { cacheScope: 'public' } } },
      );
      const { code, message } = await client.error('resources/list', {}, { auth: { principal: 'alice' } });
      expect(code).toBe(-32603);
      const { error } = logger.byReference(referenceIn(message)).fields;
      expect(String(error)).toMatch(new RegExp(`ctx\\.${member}.*public.*private`));
    }
  });
});

function numbers(scheme: string, length: number): readonly string[] {
  return Array.from({ length }, (_, index) => `${scheme}:///${index}`);
}
