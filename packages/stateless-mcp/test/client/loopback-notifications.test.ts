import { describe, expect, it } from 'vitest';
import { loopback, McpClient } from '../../src/client/index.ts';
import {
  type Exchange,
  type ExtensionNotification,
  LocalError,
  type McpHandler,
  type McpNotification,
  METHODS,
  withExchange,
} from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { buildExchange, buildRequest } from '../../src/testing/index.ts';
import { rejection, turn } from './scripted-peer.ts';

const info = { name: 'loop', version: '1.0.0' };

/** A caller that hears whatever reaches it. */
function listening({ wantsProgress }: { readonly wantsProgress: boolean }): {
  readonly exchange: Exchange;
  readonly heard: readonly unknown[];
  readonly leaving: AbortController;
} {
  const heard: unknown[] = [];
  const leaving = new AbortController();
  const exchange = withExchange(buildExchange({ wantsProgress }), {
    signal: leaving.signal,
    notify: (notification) => void heard.push(notification),
  });
  return { exchange, heard, leaving };
}

describe('notifications', () => {
  it('META-19: progress reaches the caller that wants it', async () => {
    const server = new McpServer(info);
    server.registerTool('work', {}, async (_, { progress }) => {
      await progress(1, 2, 'half');
      await progress(2, 2);
      return 'done';
    });
    const heard: unknown[] = [];
    const client = new McpClient(loopback(server));
    await client.callTool('work', {}, { onProgress: (value) => void heard.push(value) });
    expect(heard).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2 },
    ]);

    const { exchange, heard: unwanted } = listening({ wantsProgress: false });
    const insists: McpHandler = async (_, { notify }) => {
      await notify({ method: 'notifications/progress', params: { progress: 1 } });
      return { resultType: 'complete', content: [] };
    };
    await loopback(insists)(buildRequest('tools/call', { name: 'work' }), exchange);
    expect(unwanted).toEqual([]);
  });

  it('META-19, CANC-09: what a handler says to a caller that is no longer there goes nowhere', async () => {
    const late: Array<() => unknown> = [];
    const peer = loopback(async ({ params }, { notify }) => {
      late.push(() => notify({ method: 'notifications/progress', params: { progress: 1 } }));
      return params.name === 'endless' ? new Promise(() => {}) : { resultType: 'complete', content: [] };
    });
    const answered = listening({ wantsProgress: true });
    await peer(buildRequest('tools/call', { name: 'a' }), answered.exchange);
    const left = listening({ wantsProgress: true });
    const call = rejection(peer(buildRequest('tools/call', { name: 'endless' }), left.exchange));
    await turn();
    left.leaving.abort();
    await call;
    for (const say of late) expect(say()).toBeUndefined();
    expect([...answered.heard, ...left.heard]).toEqual([]);
  });

  it('META-08, META-09: log messages reach the caller that asked for their level', async () => {
    const server = new McpServer(info);
    server.registerTool('work', {}, async (_, { log }) => {
      await log('debug', 'a');
      await log('error', { b: 1 }, 'part');
      return 'done';
    });
    const heard: unknown[] = [];
    const client = new McpClient(loopback(server), { onLog: (value) => void heard.push(value) });
    await client.callTool('work');
    expect(heard).toEqual([]);
    await client.callTool('work', {}, { logLevel: 'warning' });
    expect(heard).toEqual([{ level: 'error', data: { b: 1 }, logger: 'part' }]);
  });

  it('that belong to no stream are told to those who listen for them', async () => {
    const stray: ExtensionNotification = { method: 'notifications/com.example/stray', params: { a: 1 } };
    const peer = loopback(async (_, { notify }) => {
      await notify(stray);
      return { resultType: 'complete', content: [] };
    });
    const heard: unknown[] = [];
    const stop = peer.on('unattributed', (notification) => void heard.push(notification));
    const client = new McpClient(peer);
    await client.callTool('a');
    stop();
    await client.callTool('a');
    expect(heard).toEqual([stray]);
  });

  it('wait for a caller that takes its time', async () => {
    const order: string[] = [];
    const peer = loopback(async (_, { notify }) => {
      await notify({ method: 'notifications/progress', params: { progress: 1 } });
      order.push('server goes on');
      return { resultType: 'complete', content: [] };
    });
    await new McpClient(peer).callTool(
      'a',
      {},
      {
        onProgress: async () => {
          await turn();
          order.push('caller is done');
        },
      },
    );
    expect(order).toEqual(['caller is done', 'server goes on']);
  });

  it('of a listen stream arrive until it is closed', async () => {
    const server = new McpServer(info, { capabilities: { tools: { listChanged: true } } });
    server.registerTool('a', {}, () => '');
    const changes: Array<McpNotification | ExtensionNotification> = [];
    let wake = (): void => {};
    await using client = new McpClient(loopback(server));
    const subscription = await client.listen(
      { toolsListChanged: true, resourceSubscriptions: ['x:1'] },
      {
        onChange: (change) => {
          changes.push(change);
          wake();
        },
      },
    );
    expect(subscription.honored).toEqual({ toolsListChanged: true });
    const next = new Promise<void>((resolve) => {
      wake = resolve;
    });
    server.registerTool('b', {}, () => '');
    await next;
    expect(changes).toMatchObject([{ method: 'notifications/tools/list_changed' }]);
    await subscription.close();
    await subscription.closed;
    server.registerTool('c', {}, () => '');
    await turn();
    expect(changes).toHaveLength(1);
  });
});

describe('the end', () => {
  it('of the caller’s patience is told to the server, and to the caller at once', async () => {
    let signal: AbortSignal | undefined;
    const peer = loopback(async (_, exchange) => {
      signal = exchange.signal;
      return new Promise(() => {});
    });
    const leaving = new AbortController();
    const call = rejection(new McpClient(peer).callTool('a', {}, { signal: leaving.signal }));
    await turn();
    leaving.abort('enough');
    expect(await call).toMatchObject({ code: 'aborted', cause: 'enough', phase: 'call', maybeExecuted: true });
    expect(signal?.aborted).toBe(true);
  });

  it('of the peer ends what is under way, and refuses the rest', async () => {
    const signals: AbortSignal[] = [];
    const peer = loopback({
      methods: METHODS,
      handler: async (_, exchange) => {
        signals.push(exchange.signal);
        return new Promise(() => {});
      },
    });
    const client = new McpClient(peer);
    const call = rejection(client.callTool('a'));
    await turn();
    await client.close();
    await client.close();
    expect(await call).toMatchObject({ name: 'LocalError', code: 'closed', maybeExecuted: true });
    const later = await rejection(client.callTool('b'));
    expect(later).toBeInstanceOf(LocalError);
    expect(later).toMatchObject({ code: 'closed', maybeExecuted: false });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
