import { describe, expect, it } from 'vitest';
import { McpClient, type Subscription } from '../../src/client/index.ts';
import { LocalError } from '../../src/protocol/index.ts';
import { rejection, scriptedPeer, type ScriptedPeer, turn } from './scripted-peer.ts';
import { fakeClock } from '../../src/testing/index.ts';

function setUp(): { readonly client: McpClient; readonly peer: ScriptedPeer } {
  const peer = scriptedPeer();
  return { client: new McpClient(peer, { clock: fakeClock() }), peer };
}

const answer = (name: string): object & Readonly<Record<string, unknown>> => ({ tools: [{ name }], ttlMs: 1000 });
const named = (name: string): object => ({ tools: [{ name }] });

describe('those who want the same at the same time', () => {
  it('share one request and its answer, kept or not', async () => {
    for (const ttlMs of [1000, 0]) {
      const { client, peer } = setUp();
      const readers = [client.listTools(), client.listTools(), client.listTools({ signal: AbortSignal.any([]) })];
      (await peer.next()).answer({ tools: [], ttlMs });
      const [first, ...others] = await Promise.all(readers);
      for (const other of others) expect(other).toBe(first);
      expect(peer.requests).toHaveLength(1);
    }
  });

  it('share all pages of a list', async () => {
    const { client, peer } = setUp();
    const first = client.listTools();
    (await peer.next()).answer({ tools: [{ name: 'a' }], nextCursor: 'x' });
    const second = client.listTools();
    (await peer.next()).answer({ tools: [{ name: 'b' }] });
    expect(await second).toBe(await first);
    expect(peer.requests).toHaveLength(2);
  });

  it('share its failure, and the next one asks again', async () => {
    const { client, peer } = setUp();
    const readers = [client.listTools(), client.listTools()];
    const failure = new LocalError('unreachable', 'down');
    (await peer.next()).fail(failure);
    for (const reader of readers) expect(await rejection(reader)).toBe(failure);
    const again = client.listTools();
    (await peer.next()).answer(answer('a'));
    expect(await again).toMatchObject(named('a'));
  });

  it('do not share with those who ask for something else', async () => {
    const { client, peer } = setUp();
    const readers = [client.readResource('x:1'), client.readResource('x:2')];
    const [one, two] = [await peer.next(), await peer.next()];
    one.answer({ contents: [{ uri: 'x:1', text: '' }] });
    two.answer({ contents: [{ uri: 'x:2', text: '' }] });
    expect(await Promise.all(readers)).toMatchObject([{ contents: [{ uri: 'x:1' }] }, { contents: [{ uri: 'x:2' }] }]);
  });

  it('do not share with those who want it anew, without being kept, or their own way', async () => {
    const { client, peer } = setUp();
    const readers = [
      client.listTools(),
      client.listTools({ cache: 'reload' }),
      client.listTools({ cache: 'no-store' }),
      client.listTools({ totalTimeoutMs: 1000 }),
    ];
    for (const name of ['a', 'b', 'c', 'd']) (await peer.next()).answer(answer(name));
    expect(await Promise.all(readers)).toMatchObject(['a', 'b', 'c', 'd'].map(named));
  });

  it('do not wait for a request with limits of its own', async () => {
    const { client, peer } = setUp();
    const own = client.listTools({ totalTimeoutMs: 1000 });
    const ownRequest = await peer.next();
    const other = client.listTools();
    (await peer.next()).answer(answer('other'));
    expect(await other).toMatchObject(named('other'));
    ownRequest.answer(answer('own'));
    expect(await own).toMatchObject(named('own'));
  });
});

describe('one of them leaving', () => {
  it('does not hurt the others', async () => {
    const { client, peer } = setUp();
    const leaving = new AbortController();
    const [first, second, third] = [
      client.listTools({ signal: leaving.signal }),
      client.listTools({ signal: new AbortController().signal }),
      client.listTools(),
    ];
    const request = await peer.next();
    leaving.abort(new Error('enough'));
    expect(await rejection(first)).toMatchObject({ code: 'aborted', cause: { message: 'enough' } });
    expect(request.exchange.signal.aborted).toBe(false);
    request.answer(answer('a'));
    expect(await second).toMatchObject(named('a'));
    expect(await third).toMatchObject(named('a'));
    expect(peer.requests).toHaveLength(1);
  });

  it('the last one takes the request along', async () => {
    const { client, peer } = setUp();
    const leaving = [new AbortController(), new AbortController()];
    const readers = leaving.map(({ signal }) => client.listTools({ signal }));
    const request = await peer.next();
    leaving[0]?.abort();
    expect(request.exchange.signal.aborted).toBe(false);
    leaving[1]?.abort();
    for (const reader of readers) expect(await rejection(reader)).toMatchObject({ code: 'aborted' });
    expect(request.exchange.signal.aborted).toBe(true);
  });

  it('whoever comes after the last one asks anew', async () => {
    const { client, peer } = setUp();
    const leaving = new AbortController();
    const left = client.listTools({ signal: leaving.signal });
    await peer.next();
    leaving.abort();
    const next = client.listTools();
    (await peer.next()).answer(answer('b'));
    expect(await rejection(left)).toMatchObject({ code: 'aborted' });
    expect(await next).toMatchObject(named('b'));
  });

  it('says what was given up, in which phase, and that it may have been carried out', async () => {
    const { client, peer } = setUp();
    const leaving = new AbortController();
    const left = client.listTools({ signal: leaving.signal });
    await peer.next();
    leaving.abort();
    const error = await rejection(left);
    expect(error).toMatchObject({ phase: 'list', maybeExecuted: true });
    expect(String(error)).toContain('tools/list was given up');
  });

  it('before anything was sent, nothing was', async () => {
    const { client, peer } = setUp();
    const error = await rejection(client.readResource('x:1', { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: 'aborted', maybeExecuted: false });
    expect(String(error)).toContain('resources/read was given up');
    expect(peer.requests).toHaveLength(0);
  });

  it('after the answer changes nothing', async () => {
    const { client, peer } = setUp();
    const leaving = new AbortController();
    const reader = client.listTools({ signal: leaving.signal });
    (await peer.next()).answer(answer('a'));
    await reader;
    leaving.abort();
    expect(await client.listTools()).toBe(await reader);
  });
});

describe('answers that come late', () => {
  it('one that was given up does not take the place of a newer one', async () => {
    const peer = scriptedPeer(undefined, { ignoresAbort: true });
    const client = new McpClient(peer);
    const leaving = new AbortController();
    const left = client.listTools({ signal: leaving.signal });
    const old = await peer.next();
    leaving.abort();
    await rejection(left);
    const next = client.listTools();
    (await peer.next()).answer(answer('new'));
    await next;
    old.answer(answer('old'));
    await turn();
    expect(await client.listTools()).toMatchObject(named('new'));
  });

  it('neither does one that was asked for before a reload', async () => {
    const { client, peer } = setUp();
    const before = client.listTools();
    const old = await peer.next();
    const reload = client.listTools({ cache: 'reload' });
    (await peer.next()).answer(answer('new'));
    await reload;
    old.answer(answer('old'));
    expect(await before).toMatchObject(named('old'));
    expect(await client.listTools()).toMatchObject(named('new'));
  });
});

describe('a change while it is being asked for', () => {
  async function listening(): Promise<{
    readonly client: McpClient;
    readonly peer: ScriptedPeer;
    readonly subscription: Subscription;
    readonly change: (method: `notifications/${string}`, params?: object) => void;
  }> {
    const { client, peer } = setUp();
    const opening = client.listen({}, { onChange: () => {} });
    const { exchange } = await peer.next();
    const notify = (method: `notifications/${string}`, params: object = {}): void =>
      void exchange.notify({ method, params: { ...params } });
    notify('notifications/subscriptions/acknowledged', { notifications: {} });
    return { client, peer, subscription: await opening, change: notify };
  }

  it('CACHE-06: its answer goes to those who wait, and is not kept', async () => {
    const { client, peer, change } = await listening();
    const before = client.listTools();
    const old = await peer.next();
    change('notifications/tools/list_changed');
    old.answer(answer('old'));
    expect(await before).toMatchObject(named('old'));
    expect(client.explain().cache.entries).toBe(0);
  });

  it('CACHE-06: who comes after the change does not get what was asked for before it', async () => {
    const { client, peer, change } = await listening();
    const before = client.listTools();
    const old = await peer.next();
    change('notifications/tools/list_changed');
    const after = client.listTools();
    const next = await peer.next();
    next.answer(answer('new'));
    expect(await after).toMatchObject(named('new'));
    old.answer(answer('old'));
    expect(await before).toMatchObject(named('old'));
    expect(await client.listTools()).toBe(await after);
  });

  it('CACHE-06, T-125: on a later page, the whole list is not kept', async () => {
    const { client, peer, change } = await listening();
    const before = client.listTools();
    (await peer.next()).answer({ tools: [{ name: 'a' }], nextCursor: 'x', ttlMs: 1000 });
    const last = await peer.next();
    change('notifications/tools/list_changed');
    last.answer(answer('b'));
    expect((await before).tools).toHaveLength(2);
    expect(client.explain().cache.entries).toBe(0);
  });

  it('the last of those who waited for the old answer takes only that request along', async () => {
    const { client, peer, change } = await listening();
    const leaving = new AbortController();
    const before = client.listTools({ signal: leaving.signal });
    const old = await peer.next();
    change('notifications/tools/list_changed');
    const after = client.listTools();
    const next = await peer.next();
    leaving.abort();
    expect(await rejection(before)).toMatchObject({ code: 'aborted' });
    expect([old.exchange.signal.aborted, next.exchange.signal.aborted]).toEqual([true, false]);
    const third = client.listTools();
    next.answer(answer('new'));
    expect(await third).toBe(await after);
  });
});
