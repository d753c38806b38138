import { describe, expect, it } from 'vitest';
import { McpClient, type McpClientOptions } from '../../src/client/index.ts';
import { LocalError } from '../../src/protocol/index.ts';
import { rejection, type Script, scriptedPeer, type ScriptedPeer } from './scripted-peer.ts';
import { fakeClock, type FakeClock } from '../../src/testing/index.ts';

interface Setup {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
  readonly clock: FakeClock;
}

function setUp(script: Script, options: McpClientOptions = {}): Setup {
  const peer = scriptedPeer(script);
  const clock = fakeClock();
  return { client: new McpClient(peer, { clock, ...options }), peer, clock };
}

/** Every answer tells which one it is. */
const numbered =
  (hints: object = { ttlMs: 1000 }): Script =>
  ({ method, params }, index) => ({
    ...(method === 'server/discover' && { supportedVersions: ['2026-07-28'], capabilities: {} }),
    tools: [],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    contents: [{ uri: params.uri, text: String(index) }],
    index,
    ...hints,
  });

const reads = [
  ['discover', (client: McpClient) => client.discover()],
  ['listTools', (client: McpClient) => client.listTools()],
  ['listPrompts', (client: McpClient) => client.listPrompts()],
  ['listResources', (client: McpClient) => client.listResources()],
  ['listResourceTemplates', (client: McpClient) => client.listResourceTemplates()],
  ['readResource', (client: McpClient) => client.readResource('x:1')],
] as const;

describe('what is kept', () => {
  it.each(reads)('T-123: %s is fresh for ttlMs, and asked for again after it', async (_, read) => {
    const { client, peer, clock } = setUp(numbered());
    const first = await read(client);
    await clock.advance(999);
    expect(await read(client)).toBe(first);
    await clock.advance(1);
    expect(await read(client)).toMatchObject({ index: 1 });
    expect(peer.requests).toHaveLength(2);
  });

  it('CACHE-07: nothing is asked for while nobody wants it', async () => {
    const { client, peer, clock } = setUp(numbered());
    await client.listTools();
    await clock.advance(1_000_000);
    expect(peer.requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('T-123: the time counts from the answer, not from the request', async () => {
    const { client, peer, clock } = setUp(() => undefined);
    const first = client.listTools();
    const request = await peer.next();
    await clock.advance(5000);
    request.answer({ tools: [], ttlMs: 1000 });
    await first;
    await clock.advance(999);
    expect(await client.listTools()).toBe(await first);
  });

  it('T-123: a list is fresh as long as each of its pages, from when that page came', async () => {
    const { client, peer, clock } = setUp(() => undefined);
    const first = client.listTools();
    (await peer.next()).answer({ tools: [{ name: 'a' }], nextCursor: 'x', ttlMs: 1000 });
    const second = await peer.next();
    await clock.advance(600);
    second.answer({ tools: [{ name: 'b' }], ttlMs: 1000 });
    expect(await first).toMatchObject({ ttlMs: 400 });
    await clock.advance(399);
    expect(await client.listTools()).toBe(await first);
    await clock.advance(1);
    void client.listTools();
    await peer.next();
    expect(peer.requests).toHaveLength(3);
  });

  it('T-123: a list whose first page has become stale meanwhile is not kept', async () => {
    const { client, peer, clock } = setUp(() => undefined);
    const first = client.listTools();
    (await peer.next()).answer({ tools: [{ name: 'a' }], nextCursor: 'x', ttlMs: 1000 });
    const second = await peer.next();
    await clock.advance(2000);
    second.answer({ tools: [{ name: 'b' }], ttlMs: 9000 });
    expect(await first).toMatchObject({ ttlMs: 0 });
    expect(client.explain().cache.entries).toBe(0);
  });

  it.each([
    ['CACHE-03, BC-15: no', {}],
    ['CACHE-03: a negative', { ttlMs: -5 }],
    ['a ttlMs of 0 as', { ttlMs: 0 }],
    ['a ttlMs that is text as', { ttlMs: '1000' }],
    ['no number as', { ttlMs: null }],
  ])('%s ttlMs means stale', async (_, hints) => {
    const { client, peer } = setUp(numbered(hints));
    expect(await client.listTools()).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    await client.listTools();
    expect(peer.requests).toHaveLength(2);
    expect(client.explain().cache.entries).toBe(0);
  });

  it('CACHE-04, T-122: an entry answers for its own method and parameters alone', async () => {
    const { client, peer } = setUp(numbered());
    await client.readResource('x:1');
    await client.readResource('x:2');
    await client.readResource('tools/list');
    await client.readResource('');
    for (const [, read] of reads) await read(client);
    expect(peer.requests).toHaveLength(4 + reads.length - 1);
    expect((await client.readResource('x:2')).contents).toMatchObject([{ uri: 'x:2', text: '1' }]);
  });

  it('CACHE-04: a private entry is never another client’s, nor is a public one', async () => {
    const peer = scriptedPeer(numbered({ ttlMs: 1000, cacheScope: 'public' }));
    await new McpClient(peer).listTools();
    await new McpClient(peer).listTools();
    expect(peer.requests).toHaveLength(2);
  });

  it('CACHE-05, T-124: a question is not kept', async () => {
    const { client, peer } = setUp(() => ({ resultType: 'input_required', requestState: 's', ttlMs: 1000 }));
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await rejection(client.readResource('x:1'))).toMatchObject({ code: 'input_required' });
    }
    expect(peer.requests).toHaveLength(2);
    expect(client.explain().cache.entries).toBe(0);
  });

  it('CACHE-05: what is asked with request() is not kept, and neither are calls', async () => {
    const { client, peer } = setUp(() => ({ content: [], ttlMs: 1000, messages: [] }));
    await client.callTool('a');
    await client.callTool('a');
    await client.getPrompt('a');
    await client.getPrompt('a');
    expect(peer.requests).toHaveLength(4);
  });

  it('a failure is not kept', async () => {
    const { client } = setUp((request, index) => {
      if (index === 0) throw new LocalError('unreachable', 'down');
      return numbered()(request, index);
    });
    expect(await rejection(client.listTools())).toMatchObject({ code: 'unreachable' });
    expect(await client.listTools()).toMatchObject({ index: 1 });
  });

  it('results that are kept are frozen to their depth, for the first reader too', async () => {
    const { client } = setUp(() => ({ tools: [{ name: 'a', inputSchema: { type: 'object' } }], ttlMs: 1000 }));
    for (let reader = 0; reader < 2; reader++) {
      const { tools } = await client.listTools();
      expect(() => (tools as unknown[]).push({})).toThrow(TypeError);
      expect(() => Object.assign(tools[0]?.inputSchema ?? {}, { type: 'x' })).toThrow(TypeError);
    }
  });
});

describe('asking anew', () => {
  it('reload asks in any case, and its answer takes the place of the old one', async () => {
    const { client, peer } = setUp(numbered());
    await client.listTools();
    const reloaded = await client.listTools({ cache: 'reload' });
    expect(reloaded).toMatchObject({ index: 1 });
    expect(await client.listTools()).toBe(reloaded);
    expect(peer.requests).toHaveLength(2);
  });

  it('an answer to reload that may not be kept ends the old one all the same', async () => {
    const { client } = setUp((request, index) => numbered({ ttlMs: index === 0 ? 60_000 : 0 })(request, index));
    await client.listTools();
    await client.listTools({ cache: 'reload' });
    expect(await client.listTools()).toMatchObject({ index: 2 });
  });

  it('no-store asks in any case, and changes nothing', async () => {
    const { client, peer } = setUp(numbered());
    const first = await client.listTools();
    expect(await client.listTools({ cache: 'no-store' })).toMatchObject({ index: 1 });
    expect(await client.listTools()).toBe(first);
    expect(peer.requests).toHaveLength(2);
  });

  it.each([
    ['idleTimeoutMs', { idleTimeoutMs: 5 }],
    ['totalTimeoutMs', { totalTimeoutMs: 5 }],
    ['onProgress', { onProgress: () => {} }],
    ['onLog', { onLog: () => {} }],
    ['logLevel', { logLevel: 'debug' }],
  ] as const)('with its own %s: uses what was kept, and what it reads is kept', async (_, options) => {
    const { client, peer } = setUp(numbered());
    const first = await client.readResource('x:1', options);
    expect(await client.readResource('x:1', options)).toBe(first);
    expect(await client.readResource('x:1')).toBe(first);
    expect(await client.readResource('x:1', { ...options, cache: 'reload' })).toMatchObject({ index: 1 });
    expect(await client.readResource('x:1')).toMatchObject({ index: 1 });
    expect(peer.requests).toHaveLength(2);
  });

  it('T-122: metadata may decide what the answer is: nothing is kept, nothing that was kept is used', async () => {
    const { client, peer } = setUp(numbered());
    const first = await client.readResource('x:1');
    expect(await client.readResource('x:1', { meta: {} })).toMatchObject({ index: 1 });
    expect(await client.readResource('x:1', { meta: {}, cache: 'reload' })).toMatchObject({ index: 2 });
    expect(await client.readResource('x:1')).toBe(first);
    expect(peer.requests).toHaveLength(3);
  });

  it('options that are undefined are none', async () => {
    const { client, peer } = setUp(numbered());
    await client.listTools();
    await client.listTools({ signal: undefined, meta: undefined, onLog: undefined, cache: undefined });
    expect(peer.requests).toHaveLength(1);
  });

  it('what was kept serves those who can still be served, not those who have left', async () => {
    const { client } = setUp(numbered());
    await client.listTools();
    expect(await client.listTools({ signal: new AbortController().signal })).toMatchObject({ index: 0 });
    expect(await rejection(client.listTools({ signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' });
  });
});

describe('other credentials', () => {
  it('CACHE-04: end everything that was kept', async () => {
    const { client, peer } = setUp(numbered({ ttlMs: 1000, cacheScope: 'public' }));
    for (const [, read] of reads) await read(client);
    peer.changeCredentials();
    expect(client.explain()).toMatchObject({ cache: { entries: 0 } });
    expect(client.explain()).not.toHaveProperty('server');
    for (const [, read] of reads) await read(client);
    expect(peer.requests).toHaveLength(2 * reads.length);
  });

  it('CACHE-04: an answer to the old ones goes to those who asked with them, and is not kept', async () => {
    const { client, peer } = setUp(() => undefined);
    const [tools, server] = [client.listTools(), client.discover()];
    const [toolsRequest, serverRequest] = [await peer.next(), await peer.next()];
    peer.changeCredentials();
    const after = client.listTools();
    const afterRequest = await peer.next();
    toolsRequest.answer({ tools: [{ name: 'old', annotations: { idempotentHint: true } }], ttlMs: 9000 });
    serverRequest.answer({ supportedVersions: ['old'], capabilities: {}, ttlMs: 9000 });
    afterRequest.answer({ tools: [{ name: 'new' }], ttlMs: 9000 });
    expect((await tools).tools).toMatchObject([{ name: 'old' }]);
    expect((await after).tools).toMatchObject([{ name: 'new' }]);
    await server;
    expect((await client.listTools()).tools).toMatchObject([{ name: 'new' }]);
    expect(client.explain().cache.entries).toBe(1);
    expect(client.explain()).not.toHaveProperty('server');
  });

  it('are not listened to after the client was closed', async () => {
    const { client, peer } = setUp(numbered());
    await client.listTools();
    await client.close();
    peer.changeCredentials();
    expect(client.explain().cache.entries).toBe(1);
  });
});
