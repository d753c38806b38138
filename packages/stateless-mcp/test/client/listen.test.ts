import { describe, expect, it } from 'vitest';
import { type ListenOptions, McpClient, type McpClientOptions, type Subscription } from '../../src/client/index.ts';
import {
  type ExtensionNotification,
  LocalError,
  type McpNotification,
  RemoteError,
  type SubscriptionFilter,
} from '../../src/protocol/index.ts';
import { recordingLogger } from '../recording-logger.ts';
import { type OpenRequest, rejection, scriptedPeer, type ScriptedPeer, turn } from './scripted-peer.ts';
import { fakeClock, type FakeClock } from '../../src/testing/index.ts';

type Notification = McpNotification | ExtensionNotification;

const toolsChanged: Notification = { method: 'notifications/tools/list_changed' };
const updated = (uri: string): Notification => ({ method: 'notifications/resources/updated', params: { uri } });
const acknowledged = (notifications: SubscriptionFilter): Notification => ({
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications },
});

interface Setup {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
  readonly clock: FakeClock;
  readonly changes: Notification[];
}

function setUp(options: McpClientOptions = {}, ignoresAbort = false): Setup {
  const peer = scriptedPeer(undefined, { ignoresAbort });
  const clock = fakeClock();
  return { client: new McpClient(peer, { clock, ...options }), peer, clock, changes: [] };
}

async function open(
  { client, peer, changes }: Setup,
  filter: SubscriptionFilter = { toolsListChanged: true },
  options: Partial<ListenOptions> = {},
): Promise<{ readonly subscription: Subscription; readonly request: OpenRequest }> {
  const opening = client.listen(filter, { onChange: (change) => void changes.push(change), ...options });
  const request = await peer.next();
  void request.exchange.notify(acknowledged(filter));
  return { subscription: await opening, request };
}

describe('opening a stream of changes', () => {
  it('SUB-01, SUB-02: asks for what is wanted, as it is wanted, with metadata', async () => {
    const setup = setUp();
    const filter = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: true,
      resourceSubscriptions: ['x:1', 'x:2'],
      'com.example/other': [1],
    };
    const { request } = await open(setup, filter);
    expect(request.method).toBe('subscriptions/listen');
    expect(request.params).toMatchObject({ notifications: filter });
    expect(request.params._meta).toHaveProperty(['io.modelcontextprotocol/clientCapabilities']);
  });

  it('SUB-01: an empty filter is sent as one', async () => {
    const { request } = await open(setUp(), {});
    expect(request.params.notifications).toEqual({});
  });

  it('SUB-10: waits for the acknowledgement, and tells what is honoured', async () => {
    const { client, peer } = setUp();
    let subscription: Subscription | undefined;
    void client
      .listen({ toolsListChanged: true, resourceSubscriptions: ['x:1', 'x:2'] }, { onChange: () => {} })
      .then((result) => (subscription = result));
    const { exchange } = await peer.next();
    await turn();
    expect(subscription).toBeUndefined();
    void exchange.notify(acknowledged({ resourceSubscriptions: ['x:2'] }));
    await turn();
    expect(subscription?.honored).toEqual({ resourceSubscriptions: ['x:2'] });
  });

  it.each([
    ['that is refused', new RemoteError(-32601, 'no changes here')],
    ['that is refused for lack of a capability', new RemoteError(-32021, 'no', { data: {} })],
    ['whose connection breaks', new LocalError('closed', 'gone', { maybeExecuted: true })],
    ['that is refused for a while', new RemoteError(429, 'busy', { retryAfterMs: 10 })],
  ])('%s fails with that error, once', async (_, error) => {
    const { client, peer } = setUp();
    const opening = rejection(client.listen({}, { onChange: () => {} }));
    (await peer.next()).fail(error);
    expect(await opening).toBe(error);
    await turn();
    expect(peer.requests).toHaveLength(1);
  });

  it('that the server completes at once delivers nothing', async () => {
    const { client, peer } = setUp();
    const opening = client.listen({ toolsListChanged: true }, { onChange: () => {} });
    (await peer.next()).answer({});
    const subscription = await opening;
    expect(subscription.honored).toEqual({});
    await subscription.closed;
  });

  it('that the server acknowledges and completes in one breath is open and over', async () => {
    const { client, peer } = setUp();
    const opening = client.listen({ toolsListChanged: true }, { onChange: () => {} });
    const { exchange, answer } = await peer.next();
    void exchange.notify(acknowledged({ toolsListChanged: false }));
    answer({});
    const subscription = await opening;
    expect(subscription.honored).toEqual({ toolsListChanged: false });
    await subscription.closed;
  });

  it('can be given up', async () => {
    const { client, peer } = setUp();
    const leaving = new AbortController();
    const opening = rejection(client.listen({}, { onChange: () => {}, signal: leaving.signal }));
    const { exchange } = await peer.next();
    leaving.abort();
    expect(await opening).toMatchObject({ code: 'aborted' });
    expect(exchange.signal.aborted).toBe(true);
  });

  it('T-35, CANC-12: has a deadline until it is acknowledged', async () => {
    const { client, peer, clock } = setUp();
    const opening = rejection(client.listen({}, { onChange: () => {} }));
    const { exchange } = await peer.next();
    await clock.advance(60_000);
    expect(await opening).toMatchObject({ code: 'timeout', timer: 'idle' });
    expect(exchange.signal.aborted).toBe(true);
  });

  it('T-35: has none afterwards', async () => {
    const setup = setUp({ idleTimeoutMs: 10, totalTimeoutMs: 100 });
    const { request } = await open(setup);
    expect(setup.clock.pending).toBe(0);
    await setup.clock.advance(100_000_000);
    void request.exchange.notify(toolsChanged);
    expect(setup.changes).toEqual([toolsChanged]);
    expect(request.exchange.signal.aborted).toBe(false);
  });
});

describe('a stream of changes', () => {
  it('hands over each change as it came', async () => {
    const setup = setUp();
    const { request } = await open(setup, {});
    const changes: Notification[] = [
      toolsChanged,
      { method: 'notifications/prompts/list_changed', params: { _meta: { k: 1 } } },
      updated('x:1'),
      { method: 'notifications/com.example/x', params: { a: [1] } },
    ];
    for (const change of changes) void request.exchange.notify(change);
    expect(setup.changes).toEqual(changes);
  });

  it('SUB-11: is one of several, each with its own changes', async () => {
    const [one, two] = [setUp(), setUp()];
    const first = await open(one);
    const second = await open({ ...one, changes: two.changes });
    void first.request.exchange.notify(toolsChanged);
    void second.request.exchange.notify(updated('x:1'));
    expect(one.changes).toEqual([toolsChanged]);
    expect(two.changes).toEqual([updated('x:1')]);
    await first.subscription.close();
    void second.request.exchange.notify(updated('x:2'));
    expect(two.changes).toHaveLength(2);
    expect(second.request.exchange.signal.aborted).toBe(false);
  });

  it('SUB-12: is ended by closing it, which tells the server', async () => {
    for (const ignoresAbort of [false, true]) {
      const setup = setUp({}, ignoresAbort);
      const { subscription, request } = await open(setup);
      const closing = subscription.close();
      expect(request.exchange.signal.aborted).toBe(true);
      void request.exchange.notify(toolsChanged);
      await closing;
      await subscription.closed;
      await subscription.close();
      void request.exchange.notify(toolsChanged);
      expect(setup.changes).toEqual([]);
      expect(setup.clock.pending).toBe(0);
    }
  });

  it('SUB-12: is ended by leaving its scope', async () => {
    const setup = setUp();
    let request: OpenRequest;
    {
      const opened = await open(setup);
      await using subscription = opened.subscription;
      request = opened.request;
      expect(subscription.honored).toEqual({ toolsListChanged: true });
    }
    expect(request.exchange.signal.aborted).toBe(true);
  });

  it('is ended by its signal', async () => {
    const leaving = new AbortController();
    const { subscription, request } = await open(setUp(), {}, { signal: leaving.signal });
    leaving.abort();
    await subscription.closed;
    expect(request.exchange.signal.aborted).toBe(true);
  });

  it('SUB-16: that the server ends is over in good order', async () => {
    const { subscription, request } = await open(setUp());
    let isOver = false;
    void subscription.closed.then(() => (isOver = true));
    await turn();
    expect(isOver).toBe(false);
    request.answer({});
    await subscription.closed;
    await subscription.close();
  });

  it('SUB-16: that breaks is told, and nobody listens again unasked', async () => {
    const setup = setUp();
    const { subscription, request } = await open(setup);
    const error = new LocalError('closed', 'connection lost', { maybeExecuted: true });
    request.fail(error);
    expect(await rejection(subscription.closed)).toBe(error);
    await subscription.close();
    expect(setup.peer.requests).toHaveLength(1);
  });

  it('that breaks is no harm to those who do not look', async () => {
    const { request } = await open(setUp());
    request.fail(new LocalError('closed', 'connection lost'));
    await turn();
    expect(request.exchange.signal.aborted).toBe(false);
  });

  it('whose listener fails goes on', async () => {
    const logger = recordingLogger();
    const setup = setUp({ logger });
    const { request } = await open(
      setup,
      {},
      {
        onChange: () => {
          throw new Error('mine');
        },
      },
    );
    void request.exchange.notify(toolsChanged);
    await request.exchange.notify(toolsChanged);
    expect(logger.entries).toMatchObject([
      { level: 'error', fields: { error: { message: 'mine' } } },
      { level: 'error' },
    ]);
    expect(request.exchange.signal.aborted).toBe(false);
  });

  it('is read as fast as its listener likes', async () => {
    let done = (): void => {};
    const { request } = await open(
      setUp(),
      {},
      {
        onChange: async () =>
          new Promise<void>((resolve) => {
            done = resolve;
          }),
      },
    );
    let isFree = false;
    void Promise.resolve(request.exchange.notify(toolsChanged)).then(() => (isFree = true));
    await turn();
    expect(isFree).toBe(false);
    done();
    await turn();
    expect(isFree).toBe(true);
  });
});

describe('a listener that is none', () => {
  it('is refused by name', async () => {
    const { client, peer } = setUp();
    for (const options of [{}, { onChange: 'x' }]) {
      const error = await rejection(client.listen({}, options as never));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain('onChange');
    }
    expect(peer.requests).toHaveLength(0);
  });
});
