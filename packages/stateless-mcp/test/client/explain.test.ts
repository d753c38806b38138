import { describe, expect, it } from 'vitest';
import { loopback, McpClient } from '../../src/client/index.ts';
import { METHODS } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { scriptedPeer } from './scripted-peer.ts';

const info = { name: 'explained', version: '1.2.3', title: 'Explained' };

describe('explain', () => {
  it('tells what the peer tells, and asks nobody', () => {
    const peer = scriptedPeer();
    const report = new McpClient(peer).explain();
    expect(report).toEqual({ ...peer.explain(), cache: { entries: 0, hits: 0, misses: 0 } });
    expect(peer.requests).toHaveLength(0);
  });

  it('VER-01: says which revision is spoken, and why', async () => {
    await using client = new McpClient(loopback(new McpServer(info)));
    expect(client.explain()).toMatchObject({
      endpoint: 'loopback',
      transport: 'loopback',
      revision: '2026-07-28',
      reason: 'the newest that this library speaks',
      requests: 0,
    });
    await client.discover();
    expect(client.explain()).toMatchObject({ requests: 1 });
  });

  it('DISC-09: knows the server from the last discover', async () => {
    const server = new McpServer(info);
    server.registerTool('a', {}, () => '');
    await using client = new McpClient(loopback(server));
    expect(client.explain()).not.toHaveProperty('server');
    await client.discover();
    expect(client.explain().server).toEqual({
      info,
      supportedVersions: ['2026-07-28'],
      capabilities: expect.arrayContaining(['tools']),
    });
  });

  it.each([
    ['in the metadata', { _meta: { 'io.modelcontextprotocol/serverInfo': info } }, { info }],
    ['in the body, as drafts had it', { serverInfo: info }, { info }],
    ['nowhere', {}, {}],
    ['without a version', { serverInfo: { name: 'x' } }, {}],
    ['that is no object', { _meta: { 'io.modelcontextprotocol/serverInfo': 'x' } }, {}],
  ])('an identity %s', async (_, result, expected) => {
    const peer = scriptedPeer(() => ({ supportedVersions: ['a', 'b'], capabilities: { x: {} }, ...result }));
    const client = new McpClient(peer);
    await client.discover();
    expect(client.explain().server).toEqual({ ...expected, supportedVersions: ['a', 'b'], capabilities: ['x'] });
  });

  it('counts what was read from what was kept', async () => {
    const client = new McpClient(scriptedPeer(() => ({ tools: [], ttlMs: 1000 })));
    await client.listTools();
    await client.listTools();
    await client.listTools();
    expect(client.explain().cache).toEqual({ entries: 1, hits: 2, misses: 1 });
  });

  it('is fit for a log', async () => {
    await using client = new McpClient(
      loopback({ handler: async () => ({ resultType: 'complete' }), methods: METHODS }),
    );
    expect(JSON.parse(JSON.stringify(client.explain()))).toEqual(client.explain());
  });
});
