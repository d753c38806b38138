import { describe, expect, it } from 'vitest';
import { McpClient } from '../../src/client/index.ts';
import { fakeClock, type FakeClock } from '../../src/testing/index.ts';
import { type Script, scriptedPeer, type ScriptedPeer } from './scripted-peer.ts';

interface Setup {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
  readonly clock: FakeClock;
}

function setUp(script: Script): Setup {
  const peer = scriptedPeer(script);
  const clock = fakeClock();
  return { client: new McpClient(peer, { clock }), peer, clock };
}

/** Every answer tells which one it is. */
const numbered =
  (ttlMs = 1000): Script =>
  (_, index) => ({ tools: [], contents: [], index, ttlMs });

describe('bounds', () => {
  it('the oldest entries make room', async () => {
    const { client } = setUp(numbered());
    for (let index = 0; index < 1001; index++) await client.readResource(`x:${index}`);
    expect(client.explain().cache).toEqual({ entries: 1000, hits: 0, misses: 1001 });
    expect(await client.readResource('x:1')).toMatchObject({ index: 1 });
    expect(await client.readResource('x:0')).toMatchObject({ index: 1001 });
  });

  it('large results make room too, and one that takes a quarter of it is not kept', async () => {
    const sizes = [15, 15, 15, 15, 15, 17];
    const { client, peer } = setUp(({ params }, index) => ({
      contents: [{ uri: params.uri, text: 'x'.repeat((sizes[index] ?? 0) * 1024 * 1024) }],
      ttlMs: 1000,
    }));
    for (const index of sizes.keys()) await client.readResource(`x:${index}`);
    expect(client.explain().cache.entries).toBe(4);
    for (const index of [1, 2, 3, 4]) await client.readResource(`x:${index}`);
    expect(peer.requests).toHaveLength(6);
    await client.readResource('x:5');
    await client.readResource('x:0');
    expect(peer.requests).toHaveLength(8);
  });

  it('what is stale goes when it is looked up', async () => {
    const { client, clock } = setUp((request, index) => numbered(index === 0 ? 10 : 0)(request, index));
    await client.listTools();
    await clock.advance(10);
    await client.listTools();
    expect(client.explain().cache).toEqual({ entries: 0, hits: 0, misses: 2 });
  });
});
