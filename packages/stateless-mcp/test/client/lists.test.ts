import { describe, expect, it } from 'vitest';
import { LIST_TOOLS, LocalError } from '../../src/protocol/index.ts';
import { McpClient } from '../../src/client/index.ts';
import { recordingLogger } from '../recording-logger.ts';
import { rejection, type Script, scriptedPeer, type ScriptedPeer } from './scripted-peer.ts';
import { fakeClock } from '../../src/testing/index.ts';

const lists = [
  ['listTools', 'tools/list', 'tools', 'name'],
  ['listPrompts', 'prompts/list', 'prompts', 'name'],
  ['listResources', 'resources/list', 'resources', 'uri'],
  ['listResourceTemplates', 'resources/templates/list', 'resourceTemplates', 'uriTemplate'],
] as const;

interface Page {
  readonly names: readonly string[];
  readonly nextCursor?: string;
  readonly [member: string]: unknown;
}

/** Serves pages by cursor; the first one has none. */
function pagesScript(pages: ReadonlyMap<string | undefined, Page>, member = 'tools', key = 'name'): Script {
  return ({ params }) => {
    const page = pages.get(params.cursor as string | undefined);
    if (page === undefined) throw new Error(`No page at ${String(params.cursor)}`);
    const { names, ...rest } = page;
    return { [member]: names.map((name) => ({ [key]: name })), ...rest };
  };
}

function listOf(...pages: ReadonlyArray<readonly [string | undefined, Page]>): {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
} {
  const peer = scriptedPeer(pagesScript(new Map(pages)));
  return { client: new McpClient(peer, { clock: fakeClock() }), peer };
}

function cursorsOf(peer: ScriptedPeer): readonly unknown[] {
  return peer.requests.map(({ params }) => params.cursor);
}

describe('lists', () => {
  it.each(lists)('FEAT-03: %s gathers the pages of %s', async (verb, method, member, key) => {
    const pages = new Map<string | undefined, Page>([
      [undefined, { names: ['a', 'b'], nextCursor: 'x' }],
      ['x', { names: ['c'], nextCursor: 'y' }],
      ['y', { names: ['d'] }],
    ]);
    const peer = scriptedPeer(pagesScript(pages, member, key));
    const result = await new McpClient(peer)[verb]();
    expect(result[member]).toEqual(['a', 'b', 'c', 'd'].map((name) => ({ [key]: name })));
    expect(result).not.toHaveProperty('nextCursor');
    expect(peer.requests.map((request) => request.method)).toEqual([method, method, method]);
    expect(cursorsOf(peer)).toEqual([undefined, 'x', 'y']);
  });

  it('FEAT-03: the first page is asked for without a cursor, not with an undefined one', async () => {
    const { client, peer } = listOf([undefined, { names: [] }]);
    await client.listTools();
    expect(peer.requests[0]?.params).not.toHaveProperty('cursor');
  });

  it('FEAT-03: an empty cursor is a cursor', async () => {
    const { client, peer } = listOf([undefined, { names: ['a'], nextCursor: '' }], ['', { names: ['b'] }]);
    expect((await client.listTools()).tools).toHaveLength(2);
    expect(cursorsOf(peer)).toEqual([undefined, '']);
  });

  it('FEAT-03: null is no cursor', async () => {
    const peer = scriptedPeer(() => ({ tools: [{ name: 'a' }], nextCursor: null, ttlMs: 5, cacheScope: 'public' }));
    const result = await new McpClient(peer).request(LIST_TOOLS, {});
    expect(result).not.toHaveProperty('nextCursor');
    expect(result).toMatchObject({ tools: [{ name: 'a' }], ttlMs: 5, cacheScope: 'public' });
    expect((await new McpClient(peer).listTools()).tools).toEqual([{ name: 'a' }]);
    expect(peer.requests).toHaveLength(2);
  });

  it('FEAT-03: a cursor is handed back as it came', async () => {
    const cursor = ' \u0000ü😀%20"\\{}__proto__ ';
    const { client, peer } = listOf([undefined, { names: ['a'], nextCursor: cursor }], [cursor, { names: ['b'] }]);
    expect((await client.listTools()).tools).toHaveLength(2);
    expect(cursorsOf(peer)).toEqual([undefined, cursor]);
  });

  it('META-01: every page is asked for with metadata', async () => {
    const { client, peer } = listOf([undefined, { names: ['a'], nextCursor: 'x' }], ['x', { names: ['b'] }]);
    await client.listTools();
    for (const { params } of peer.requests) {
      expect(params._meta).toHaveProperty(['io.modelcontextprotocol/clientCapabilities'], {});
    }
  });

  it('an entry that comes on two pages is there once, as it came first', async () => {
    const peer = scriptedPeer(({ params: { cursor } }) =>
      cursor === undefined
        ? { tools: [{ name: 'a', description: 'first' }], nextCursor: 'x' }
        : { tools: [{ name: 'a', description: 'second' }, { name: 'b' }] },
    );
    expect((await new McpClient(peer).listTools()).tools).toEqual([{ name: 'a', description: 'first' }, { name: 'b' }]);
  });

  it('tools are told apart by their name alone, resources by their URI', async () => {
    const tools = [
      { name: 'a', uri: 'ui://same' },
      { name: 'b', uri: 'ui://same' },
    ];
    const resources = [
      { name: 'same', uri: 'x:1' },
      { name: 'same', uri: 'x:2' },
    ];
    const client = new McpClient(scriptedPeer(() => ({ tools, resources })));
    expect((await client.listTools()).tools).toEqual(tools);
    expect((await client.listResources()).resources).toEqual(resources);
  });

  it('names of prototype members are names', async () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const { client } = listOf([undefined, { names }]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
  });

  it('T-127: what else the first page and its entries say is kept', async () => {
    const peer = scriptedPeer(({ params: { cursor } }) =>
      cursor === undefined
        ? { tools: [{ name: 'a', extra: 1 }], nextCursor: 'x', _meta: { 'com.example/k': 1 }, more: true }
        : { tools: [] },
    );
    expect(await new McpClient(peer).listTools()).toMatchObject({
      tools: [{ name: 'a', extra: 1 }],
      _meta: { 'com.example/k': 1 },
      more: true,
    });
  });

  it('CACHE-02: has the shortest time and the narrowest scope of its pages', async () => {
    const { client } = listOf(
      [undefined, { names: ['a'], nextCursor: 'x', ttlMs: 9000, cacheScope: 'public' }],
      ['x', { names: ['b'], nextCursor: 'y', ttlMs: 2000, cacheScope: 'private' }],
      ['y', { names: ['c'], ttlMs: 5000, cacheScope: 'public' }],
    );
    expect(await client.listTools()).toMatchObject({ ttlMs: 2000, cacheScope: 'private' });
  });

  it('T-121: a page without a scope makes the whole list private', async () => {
    const { client } = listOf(
      [undefined, { names: ['a'], nextCursor: 'x', ttlMs: 9000, cacheScope: 'public' }],
      ['x', { names: ['b'], ttlMs: 9000 }],
    );
    expect(await client.listTools()).toMatchObject({ ttlMs: 9000, cacheScope: 'private' });
  });

  it('is public if all its pages are', async () => {
    const { client } = listOf(
      [undefined, { names: ['a'], nextCursor: 'x', ttlMs: 1, cacheScope: 'public' }],
      ['x', { names: ['b'], ttlMs: 1, cacheScope: 'public' }],
    );
    expect(await client.listTools()).toMatchObject({ cacheScope: 'public' });
  });
});

describe('lists without an end', () => {
  it.each([
    ['at once', [['x', 'x']], 2],
    [
      'after a while',
      [
        ['x', 'y'],
        ['y', 'z'],
        ['z', 'x'],
      ],
      4,
    ],
    ['being empty', [['', '']], 2],
  ] as const)('a cursor that comes again %s is an error', async (_, next, requests) => {
    let names = 0;
    const following = new Map<string, string>(next.map(([from, to]) => [from, to]));
    const peer = scriptedPeer(({ params: { cursor } }) => ({
      tools: [{ name: `tool ${names++}` }],
      nextCursor: typeof cursor === 'string' ? following.get(cursor) : next[0][0],
    }));
    const error = await rejection(new McpClient(peer).listTools());
    expect(error).toMatchObject({ name: 'LocalError', code: 'invalid_answer', phase: 'list' });
    expect(String(error)).toContain(`the cursor "${next[0][0]}" came twice`);
    expect(peer.requests).toHaveLength(requests);
  });

  it('a page with nothing but what came before, and a cursor, is an error', async () => {
    const peer = scriptedPeer((_, index) => ({ tools: [{ name: 'a' }, { name: 'b' }], nextCursor: String(index) }));
    const error = await rejection(new McpClient(peer).listTools());
    expect(error).toMatchObject({ code: 'invalid_answer' });
    expect(String(error)).toContain('nothing but what came before');
    expect(peer.requests).toHaveLength(2);
  });

  it('an empty page is none, and the last one may hold nothing new', async () => {
    const { client } = listOf(
      [undefined, { names: [], nextCursor: 'x' }],
      ['x', { names: ['a'], nextCursor: 'y' }],
      ['y', { names: [], nextCursor: 'z' }],
      ['z', { names: ['a'] }],
    );
    expect((await client.listTools()).tools).toEqual([{ name: 'a' }]);
  });

  it('more pages than maxPages are an error that names limit and option', async () => {
    const script: Script = (_, index) => ({ tools: [{ name: String(index) }], nextCursor: String(index) });
    const peer = scriptedPeer(script);
    const error = await rejection(new McpClient(peer, { maxPages: 3 }).listTools());
    expect(error).toMatchObject({ code: 'too_large', phase: 'list' });
    expect(String(error)).toContain('tools/list has more than 3 pages (maxPages)');
    expect(peer.requests).toHaveLength(3);

    const byDefault = scriptedPeer(script);
    await rejection(new McpClient(byDefault).listTools());
    expect(byDefault.requests).toHaveLength(1000);
  });

  it('as many pages as maxPages are fine', async () => {
    const peer = scriptedPeer((_, index) => ({
      tools: [{ name: String(index) }],
      ...(index < 2 && { nextCursor: String(index) }),
    }));
    expect((await new McpClient(peer, { maxPages: 3 }).listTools()).tools).toHaveLength(3);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity])('maxPages: %s is refused', (maxPages) => {
    expect(() => new McpClient(scriptedPeer(), { maxPages })).toThrow(RangeError);
    expect(() => new McpClient(scriptedPeer(), { maxPages })).toThrow(`maxPages must be an integer`);
  });
});

describe('pages that are no pages', () => {
  it.each([
    ['no list', {}],
    ['a list that is none', { tools: { name: 'a' } }],
    ['a cursor that is no text', { tools: [], nextCursor: 5 }],
    ['T-112: a question', { resultType: 'input_required', inputRequests: {} }],
    ['JR-10: a result of an unknown kind', { resultType: 'task', tools: [] }],
  ])('%s: the answer is not valid', async (_, result) => {
    const error = await rejection(new McpClient(scriptedPeer(() => result)).listTools());
    expect(error).toBeInstanceOf(LocalError);
    expect(error).toMatchObject({ code: 'invalid_answer' });
  });

  it('an entry without a name is left out with a warning, so that it does not hide the others', async () => {
    const logger = recordingLogger();
    const peer = scriptedPeer(({ params: { cursor } }) =>
      cursor === undefined
        ? { tools: [{ title: 'a' }, { name: 'b' }, 'c', null], nextCursor: 'x' }
        : { tools: [{ name: 1 }, { name: 'd' }] },
    );
    const { tools } = await new McpClient(peer, { logger }).listTools();
    expect(tools).toEqual([{ name: 'b' }, { name: 'd' }]);
    expect(logger.entries).toMatchObject([
      { level: 'warn', message: expect.stringContaining('tools/list: 4 entries') },
    ]);
  });

  it('one failing page fails the list, with its own error', async () => {
    const failure = new LocalError('closed', 'gone');
    const peer = scriptedPeer(({ params: { cursor } }) => {
      if (cursor !== undefined) throw failure;
      return { tools: [{ name: 'a' }], nextCursor: 'x', ttlMs: 9000 };
    });
    const client = new McpClient(peer);
    expect(await rejection(client.listTools())).toBe(failure);
    expect(client.explain().cache.entries).toBe(0);
  });
});
