import { afterEach, describe, expect, it, vi } from 'vitest';
import type { McpHandler } from './handler.ts';
import { type McpPeer, PeerListeners, peerOf } from './peer.ts';

const request = { method: 'tools/list', params: { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } } };
const exchange = {} as Parameters<McpHandler>[1];
const notification = { method: 'notifications/tools/list_changed' } as const;

function lifeOf(close: () => Promise<void>): Omit<McpPeer, typeof Symbol.asyncDispose> {
  return {
    endpoint: 'somewhere',
    close,
    explain: () => ({ endpoint: 'somewhere', transport: 'http', revision: 'r', reason: 'why', requests: 0 }),
    on: new PeerListeners().on,
  };
}

describe('peerOf', () => {
  it('is the handler with a life, and leaves the handler as it was', async () => {
    const handler: McpHandler = async ({ method }) => ({ resultType: 'complete', method });
    const peer = peerOf(
      handler,
      lifeOf(async () => {}),
    );
    expect(await peer(request, exchange)).toMatchObject({ method: 'tools/list' });
    expect(peer.endpoint).toBe('somewhere');
    expect(Object.keys(handler)).toEqual([]);
  });

  it('a handler that throws rejects', async () => {
    const handler = (() => {
      throw new Error('at once');
    }) as McpHandler;
    await expect(
      peerOf(
        handler,
        lifeOf(async () => {}),
      )(request, exchange),
    ).rejects.toThrow('at once');
  });

  it('is closed by leaving its scope', async () => {
    let closed = 0;
    const close = async (): Promise<void> => {
      closed += 1;
    };
    {
      await using peer = peerOf(async () => ({ resultType: 'complete' }), lifeOf(close));
      expect(peer.close).toBe(close);
    }
    expect(closed).toBe(1);
  });
});

describe('PeerListeners', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('tells those who listen, until they no longer do', () => {
    const listeners = new PeerListeners();
    const heard: unknown[] = [];
    const stop = listeners.on('unattributed', (value) => void heard.push(value));
    listeners.on('credentialsChanged', () => void heard.push('changed'));
    listeners.unattributed(notification);
    listeners.credentialsChanged();
    stop();
    stop();
    listeners.unattributed(notification);
    expect(heard).toEqual([notification, 'changed']);
  });

  it('one that throws hurts neither the others nor the peer, and is reported by the platform', () => {
    const reported: Array<() => void> = [];
    vi.stubGlobal('queueMicrotask', (callback: () => void) => void reported.push(callback));
    const listeners = new PeerListeners();
    const heard: string[] = [];
    listeners.on('credentialsChanged', () => {
      throw new Error('mine');
    });
    listeners.on('credentialsChanged', () => void heard.push('other'));
    listeners.credentialsChanged();
    expect(heard).toEqual(['other']);
    expect(reported).toHaveLength(1);
    expect(reported[0]).toThrow('mine');
  });

  it('what is no listener is refused', () => {
    const { on } = new PeerListeners();
    expect(() => on('unattributed', undefined as never)).toThrow('on: the listener of "unattributed" must be');
    expect(() => (on as (event: string, listener: () => void) => unknown)('other', () => {})).toThrow(TypeError);
  });
});
