import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { McpClient } from '../../src/client/index.ts';
import { LocalError, RemoteError } from '../../src/protocol/index.ts';
import { recordingLogger } from '../recording-logger.ts';
import { rejection, scriptedPeer, turn } from './scripted-peer.ts';
import { fakeClock } from '../../src/testing/index.ts';

const progress = { method: 'notifications/progress', params: { progress: 1 } } as const;
const log = { method: 'notifications/message', params: { level: 'info', data: 'x' } } as const;

describe('giving up', () => {
  it('settles at once and tells the server', async () => {
    const peer = scriptedPeer();
    const leaving = new AbortController();
    const call = rejection(new McpClient(peer).callTool('a', {}, { signal: leaving.signal }));
    const { exchange } = await peer.next();
    const reason = new Error('enough');
    leaving.abort(reason);
    expect(exchange.signal.aborted).toBe(true);
    const error = await call;
    expect(error).toBeInstanceOf(LocalError);
    expect(error).toMatchObject({ code: 'aborted', cause: reason, phase: 'call', maybeExecuted: true });
    expect(String(error)).toContain('tools/call was given up');
  });

  it('before anything was sent sends nothing', async () => {
    const peer = scriptedPeer();
    const client = new McpClient(peer);
    const signal = AbortSignal.abort('no');
    for (const request of [client.callTool('a', {}, { signal }), client.getPrompt('a', {}, { signal })]) {
      expect(await rejection(request)).toMatchObject({ code: 'aborted', cause: 'no', maybeExecuted: false });
    }
    expect(peer.requests).toHaveLength(0);
  });

  it('does not wait for a peer that never settles, nor for a clock that stands still', async () => {
    const peer = scriptedPeer(undefined, { ignoresAbort: true });
    const leaving = new AbortController();
    const client = new McpClient(peer, { clock: fakeClock() });
    const call = rejection(client.callTool('a', {}, { signal: leaving.signal }));
    await peer.next();
    leaving.abort();
    expect(await call).toMatchObject({ code: 'aborted', phase: 'call', maybeExecuted: true });
  });

  it('is an error of this end, whatever words the peer finds', async () => {
    const peer = scriptedPeer(
      ({ exchange: { signal }, fail }) => {
        signal.addEventListener('abort', () => fail(signal.reason));
        return undefined;
      },
      { ignoresAbort: true },
    );
    const leaving = new AbortController();
    const call = rejection(new McpClient(peer).callTool('a', {}, { signal: leaving.signal }));
    await peer.next();
    leaving.abort();
    expect(await call).toMatchObject({ name: 'LocalError', code: 'aborted', cause: { name: 'AbortError' } });
  });

  it('at the moment when the answer comes is no harm either way', async () => {
    const peer = scriptedPeer(undefined, { ignoresAbort: true });
    const leaving = new AbortController();
    const client = new McpClient(peer);
    const answered = client.callTool('a', {}, { signal: leaving.signal });
    const failed = rejection(client.callTool('a', {}, { signal: leaving.signal }));
    const [first, second] = [await peer.next(), await peer.next()];
    first.answer({ content: [] });
    second.fail(new RemoteError(-32603, 'no'));
    leaving.abort();
    expect(await answered).toMatchObject({ content: [] });
    expect(await failed).toBeInstanceOf(RemoteError);
  });

  it('CANC-09: what comes afterwards is not heard of', async () => {
    const peer = scriptedPeer(undefined, { ignoresAbort: true });
    const heard: unknown[] = [];
    const leaving = new AbortController();
    const call = rejection(
      new McpClient(peer).callTool(
        'a',
        {},
        {
          signal: leaving.signal,
          onProgress: (value) => void heard.push(value),
          onLog: (value) => void heard.push(value),
        },
      ),
    );
    const { exchange, answer } = await peer.next();
    leaving.abort();
    for (const when of ['at once', 'later']) {
      expect(exchange.notify(progress), when).toBeUndefined();
      void exchange.notify(log);
      exchange.alive?.();
      await call;
    }
    answer({ content: [] });
    await turn();
    expect(heard).toEqual([]);
  });

  it('between two pages asks for no more of them', async () => {
    const peer = scriptedPeer();
    const leaving = new AbortController();
    const list = rejection(new McpClient(peer).listTools({ signal: leaving.signal }));
    const page = await peer.next();
    page.answer({ tools: [], nextCursor: 'x' });
    leaving.abort();
    expect(await list).toMatchObject({ code: 'aborted' });
    await turn();
    expect(peer.requests.map(({ exchange }) => exchange.signal.aborted)).toEqual([true]);
  });

  it('by one signal ends all that have it', async () => {
    const peer = scriptedPeer();
    const client = new McpClient(peer);
    const { signal, abort } = boundController();
    const requests = [
      client.callTool('a', {}, { signal }),
      client.readResource('x:1', { signal }),
      client.complete({ ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'b', value: '' } }, { signal }),
    ].map(rejection);
    for (const _ of requests) await peer.next();
    abort();
    for (const error of await Promise.all(requests)) expect(error).toMatchObject({ code: 'aborted' });
  });

  it('leaves no listener on the signal, however a request ends', async () => {
    const peer = scriptedPeer(undefined, { ignoresAbort: true });
    const clock = fakeClock();
    const client = new McpClient(peer, { clock });
    const { signal } = new AbortController();
    const answered = client.callTool('a', {}, { signal });
    (await peer.next()).answer({ content: [] });
    await answered;
    const failed = rejection(client.readResource('x:1', { signal }));
    (await peer.next()).fail(new RemoteError(-32603, 'no'));
    await failed;
    const timedOut = rejection(client.callTool('a', {}, { signal }));
    await peer.next();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await clock.advance(60_000);
    await timedOut;
    await turn();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('listeners', () => {
  it('hear of progress and log messages, as they came, in their order', async () => {
    const peer = scriptedPeer();
    const heard: unknown[] = [];
    const call = new McpClient(peer).callTool(
      'a',
      {},
      { onProgress: (value) => void heard.push(value), onLog: (value) => void heard.push(value) },
    );
    const { exchange, answer } = await peer.next();
    void exchange.notify(progress);
    void exchange.notify(log);
    void exchange.notify({ ...progress, params: { progress: 2, total: 3, message: 'm', _meta: { k: 1 } } });
    answer({ content: [] });
    await call;
    expect(heard).toEqual([
      { progress: 1 },
      { level: 'info', data: 'x' },
      { progress: 2, total: 3, message: 'm', _meta: { k: 1 } },
    ]);
  });

  it('of a request hear of its logs; those of no request go to the client’s', async () => {
    const peer = scriptedPeer();
    const heard: string[] = [];
    const client = new McpClient(peer, { onLog: () => void heard.push('client') });
    const calls = [client.callTool('a'), client.callTool('b', {}, { onLog: () => void heard.push('call') })];
    for (const _ of calls) {
      const { exchange, answer } = await peer.next();
      void exchange.notify(log);
      answer({ content: [] });
    }
    await Promise.all(calls);
    expect(heard).toEqual(['client', 'call']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('mine');
      },
    ],
  ])('one that %s is reported, and the request goes on', async (_, onProgress) => {
    const peer = scriptedPeer();
    const logger = recordingLogger();
    const call = new McpClient(peer, { logger }).callTool('a', {}, { onProgress });
    const { exchange, answer } = await peer.next();
    await exchange.notify(progress);
    await exchange.notify(progress);
    answer({ content: [] });
    expect(await call).toMatchObject({ content: [] });
    expect(logger.entries).toHaveLength(2);
    expect(logger.entries[0]).toMatchObject({ level: 'error', fields: { error: { message: 'mine' } } });
  });

  it('hold back what comes next for as long as they like', async () => {
    const peer = scriptedPeer();
    let done = (): void => {};
    const waits = async (): Promise<void> =>
      new Promise((resolve) => {
        done = resolve;
      });
    const call = new McpClient(peer).callTool('a', {}, { onProgress: waits });
    const { exchange, answer } = await peer.next();
    let isFree = false;
    void Promise.resolve(exchange.notify(progress)).then(() => (isFree = true));
    await turn();
    expect(isFree).toBe(false);
    done();
    await turn();
    expect(isFree).toBe(true);
    answer({ content: [] });
    await call;
  });

  it('that nobody set hold nothing back', async () => {
    const peer = scriptedPeer();
    void new McpClient(peer).callTool('a');
    const { exchange } = await peer.next();
    expect(exchange.notify(progress)).toBeUndefined();
    expect(exchange.notify(log)).toBeUndefined();
    expect(exchange.notify({ method: 'notifications/com.example/other' })).toBeUndefined();
  });
});

function boundController(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
