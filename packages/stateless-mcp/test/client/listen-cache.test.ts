import { describe, expect, it } from 'vitest';
import { McpClient } from '../../src/client/index.ts';
import type { SubscriptionFilter } from '../../src/protocol/index.ts';
import { type OpenRequest, type Script, scriptedPeer, type ScriptedPeer } from './scripted-peer.ts';
import { fakeClock } from '../../src/testing/index.ts';

const everything: Script = ({ method }) =>
  method === 'subscriptions/listen'
    ? undefined
    : {
        supportedVersions: [],
        capabilities: {},
        tools: [],
        prompts: [],
        resources: [],
        resourceTemplates: [],
        contents: [],
        ttlMs: 1_000_000,
      };

const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
const uris = ['x:/a', 'x:/a/b', 'x:/c'];

interface Setup {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
  readonly request: OpenRequest;
  /** Reads everything; what had to be asked for. */
  readonly readAll: () => Promise<readonly string[]>;
}

async function listening(honored: SubscriptionFilter = {}, beforehand = false): Promise<Setup> {
  const peer = scriptedPeer(everything);
  const client = new McpClient(peer, { clock: fakeClock() });
  const readAll = async (): Promise<readonly string[]> => {
    const before = peer.requests.length;
    await client.discover();
    await client.listTools();
    await client.listPrompts();
    await client.listResources();
    await client.listResourceTemplates();
    for (const uri of uris) await client.readResource(uri);
    return peer.requests
      .slice(before)
      .map(({ method, params: { uri } }) => (typeof uri === 'string' ? uri : method))
      .sort();
  };
  if (beforehand) await readAll();
  const opening = client.listen(honored, { onChange: () => {} });
  const request = peer.requests.find(({ method }) => method === 'subscriptions/listen');
  if (request === undefined) throw new Error('Nothing was asked for');
  void request.exchange.notify({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: honored },
  });
  await opening;
  return { client, peer, request, readAll };
}

describe('what a change ends', () => {
  it.each([
    ['tools', ['tools/list']],
    ['prompts', ['prompts/list']],
    ['resources', ['resources/list', 'resources/templates/list']],
  ] as const)('CACHE-06, T-125: of %s: the lists of them, and nothing else', async (kind, ended) => {
    const { request, readAll } = await listening();
    expect(await readAll()).toHaveLength(lists.length + uris.length + 1);
    expect(await readAll()).toEqual([]);
    void request.exchange.notify({ method: `notifications/${kind}/list_changed` });
    expect(await readAll()).toEqual(ended);
    expect(await readAll()).toEqual([]);
  });

  it.each([
    ['the resource', 'x:/c', ['x:/c']],
    ['T-38: what lies above it', 'x:/a/b', ['x:/a', 'x:/a/b']],
    ['T-38: what lies above one that was never read', 'x:/a/z', ['x:/a']],
    ['nothing else', 'y:/', []],
  ])('CACHE-06: of a resource: %s', async (_, uri, ended) => {
    const { request, readAll } = await listening();
    await readAll();
    void request.exchange.notify({ method: 'notifications/resources/updated', params: { uri } });
    expect(await readAll()).toEqual(ended);
  });

  it('is ended before the listener hears of it', async () => {
    const peer = scriptedPeer(everything);
    const client = new McpClient(peer);
    await client.listTools();
    const read: unknown[] = [];
    const opening = client.listen({}, { onChange: () => void read.push(client.listTools()) });
    const { exchange } = peer.requests.at(-1) as OpenRequest;
    void exchange.notify({ method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } });
    await opening;
    void exchange.notify({ method: 'notifications/tools/list_changed' });
    await Promise.all(read);
    expect(peer.requests.map(({ method }) => method)).toEqual(['tools/list', 'subscriptions/listen', 'tools/list']);
  });

  it('of something else: nothing', async () => {
    const { request, readAll } = await listening();
    await readAll();
    void request.exchange.notify({ method: 'notifications/com.example/list_changed' });
    expect(await readAll()).toEqual([]);
  });
});

describe('an acknowledgement', () => {
  it('ends what is listened to from then on: it may have changed before', async () => {
    const honored = { toolsListChanged: true, resourceSubscriptions: ['x:/a'] };
    const { readAll } = await listening(honored, true);
    expect(await readAll()).toEqual(['tools/list', 'x:/a']);
  });

  it.each([
    [{ promptsListChanged: true, toolsListChanged: false }, ['prompts/list']],
    [{ resourcesListChanged: true }, ['resources/list', 'resources/templates/list']],
    [{ resourceSubscriptions: ['x:/a/b', 'x:/none'] }, ['x:/a', 'x:/a/b']],
    [{}, []],
    [{ resourceSubscriptions: 'x:/a', toolsListChanged: 'yes' } as unknown as SubscriptionFilter, []],
  ])('of %o ends that alone', async (honored, ended) => {
    const { readAll } = await listening(honored, true);
    expect(await readAll()).toEqual(ended);
  });

  it('that comes again does so again', async () => {
    const { request, readAll } = await listening({ toolsListChanged: true }, true);
    await readAll();
    void request.exchange.notify({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true } },
    });
    expect(await readAll()).toEqual(['tools/list']);
  });
});
