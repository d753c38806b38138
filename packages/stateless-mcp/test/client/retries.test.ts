import { describe, expect, it } from 'vitest';
import { McpClient, type McpClientOptions } from '../../src/client/index.ts';
import {
  defineMethod,
  type EmptyResult,
  LocalError,
  type LocalErrorCode,
  RemoteError,
  type RequestParams,
  type ToolAnnotations,
} from '../../src/protocol/index.ts';
import { rejection, scriptedPeer, type ScriptedPeer, turn } from './scripted-peer.ts';
import { fakeClock, type FakeClock } from '../../src/testing/index.ts';

const everything = {
  supportedVersions: [],
  capabilities: {},
  resources: [],
  contents: [],
  content: [],
  messages: [],
  completion: { values: [] },
};

const reads = [
  ['discover', (client: McpClient) => client.discover()],
  ['listResources', (client: McpClient) => client.listResources()],
  ['readResource', (client: McpClient) => client.readResource('x:1')],
  ['getPrompt', (client: McpClient) => client.getPrompt('p')],
  [
    'complete',
    (client: McpClient) =>
      client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }),
  ],
] as const;
const call = ['callTool', (client: McpClient) => client.callTool('t')] as const;

interface Setup {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
  readonly clock: FakeClock;
}

/** Fails as often as there are errors, then succeeds. */
function failing(errors: readonly unknown[], options: McpClientOptions = {}, tools: readonly object[] = []): Setup {
  const left = [...errors];
  const peer = scriptedPeer(({ method }) => {
    if (method === 'tools/list') return { tools };
    if (left.length > 0) throw left.shift();
    return everything;
  });
  const clock = fakeClock();
  return { client: new McpClient(peer, { clock, ...options }), peer, clock };
}

const busy = (retryAfterMs?: number) => new RemoteError(429, 'slow down', { status: 429, retryAfterMs });
const lost = new LocalError('closed', 'connection lost', { phase: 'call', maybeExecuted: true });
const notSent = new LocalError('closed', 'connection lost', { phase: 'http' });

describe('Retry-After', () => {
  it.each([
    ['a 429 with a message', busy(2000)],
    ['a 429 with another message', new RemoteError(-32000, 'busy', { status: 429, retryAfterMs: 2000 })],
    ['a 429 without one', new LocalError('http_status', 'busy', { status: 429, retryAfterMs: 2000 })],
    ['429 without HTTP', new RemoteError(429, 'busy', { retryAfterMs: 2000 })],
    ['503 as the code of a message', new RemoteError(503, 'busy', { status: 503, retryAfterMs: 2000 })],
  ])('of %s is waited for, once, by calls too', async (_, error) => {
    for (const [, request] of [...reads, call]) {
      const { client, peer, clock } = failing([error]);
      const result = request(client);
      await clock.advance(1999);
      expect(peer.requests).toHaveLength(1);
      await clock.advance(1);
      await result;
      expect(peer.requests).toHaveLength(2);
      expect(peer.requests[1]?.params).toEqual(peer.requests[0]?.params);
    }
  });

  it.each([
    ['a 503 without a message', new LocalError('http_status', 'busy', { status: 503, retryAfterMs: 2000 })],
    ['a 503 with another message', new RemoteError(-32603, 'busy', { status: 503, retryAfterMs: 2000 })],
  ])('of %s is waited for by what only reads', async (_, error) => {
    for (const [, request] of reads) {
      const { client, peer, clock } = failing([error]);
      const result = request(client);
      await clock.advance(2000);
      await result;
      expect(peer.requests).toHaveLength(2);
    }
    const { client, peer } = failing([error]);
    expect(await rejection(call[1](client))).toBe(error);
    expect(peer.requests).toHaveLength(1);
  });

  it('that comes a second time is the caller’s', async () => {
    const second = busy(500);
    const { client, peer, clock } = failing([busy(500), second]);
    const result = rejection(client.callTool('t'));
    await clock.advance(10_000);
    expect(await result).toBe(second);
    expect(peer.requests).toHaveLength(2);
  });

  it('that nobody sent is not made up', async () => {
    for (const [, request] of [...reads, call]) {
      const { client, peer } = failing([busy()]);
      expect(await rejection(request(client))).toMatchObject({ code: 429 });
      expect(peer.requests).toHaveLength(1);
    }
  });

  it('of no time at all is no wait', async () => {
    const { client, peer } = failing([busy(0)]);
    await client.callTool('t');
    expect(peer.requests).toHaveLength(2);
  });

  it.each([
    ['idleTimeoutMs', { idleTimeoutMs: 1000 }, 1001],
    ['totalTimeoutMs', { totalTimeoutMs: 1000 }, 1000],
  ])('that is longer than %s is told at once', async (_, limits, retryAfterMs) => {
    const { client, peer, clock } = failing([busy(retryAfterMs)], limits);
    expect(await rejection(client.callTool('t'))).toMatchObject({ code: 429, retryAfterMs });
    expect(peer.requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('counts in the total', async () => {
    const peer = scriptedPeer();
    const clock = fakeClock();
    const result = rejection(new McpClient(peer, { clock, totalTimeoutMs: 1000 }).callTool('t'));
    const first = await peer.next();
    await clock.advance(300);
    first.fail(busy(500));
    await clock.advance(500);
    await peer.next();
    await clock.advance(199);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    const error = await result;
    expect(error).toMatchObject({ code: 'timeout', timer: 'total' });
    expect(String(error)).toContain('1000 ms (totalTimeoutMs)');
  });

  it('is not waited for by those who give up', async () => {
    const { client, peer, clock } = failing([busy(2000)]);
    const leaving = new AbortController();
    const result = rejection(client.callTool('t', {}, { signal: leaving.signal }));
    await turn();
    leaving.abort();
    expect(await result).toMatchObject({ code: 'aborted', maybeExecuted: false });
    expect(peer.requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('of one page does not begin the list anew', async () => {
    const cursors: unknown[] = [];
    const peer = scriptedPeer(({ params: { cursor } }, index) => {
      cursors.push(cursor);
      if (index === 1) throw busy(100);
      return cursor === undefined ? { tools: [{ name: 'a' }], nextCursor: 'x' } : { tools: [{ name: 'b' }] };
    });
    const clock = fakeClock();
    const list = new McpClient(peer, { clock }).listTools();
    await clock.advance(100);
    expect((await list).tools).toHaveLength(2);
    expect(cursors).toEqual([undefined, 'x', 'x']);
  });
});

describe('a lost connection', () => {
  it.each(reads)('T-34: %s, which only reads, is asked for once more', async (_, request) => {
    const { client, peer } = failing([lost]);
    await request(client);
    expect(peer.requests).toHaveLength(2);
  });

  it('after a call was sent is told, and nothing is repeated', async () => {
    const { client, peer } = failing([lost]);
    expect(await rejection(client.callTool('t'))).toBe(lost);
    expect(peer.requests).toHaveLength(1);
  });

  it.each([
    ['readOnlyHint', { readOnlyHint: true }, 2],
    ['idempotentHint', { idempotentHint: true }, 2],
    ['none', {}, 1],
    ['destructiveHint alone', { destructiveHint: false }, 1],
    ['hints that say no', { readOnlyHint: false, idempotentHint: false }, 1],
    ['FEAT-05: what is no hint', { readOnlyHint: 'true', idempotentHint: 1 } as unknown as ToolAnnotations, 1],
  ])('after a call was sent, and hints of its tool: %s', async (_, annotations, attempts) => {
    const { client, peer } = failing([lost], {}, [{ name: 't', annotations }, { name: 'other' }]);
    await client.listTools();
    await client.callTool('t').catch(() => {});
    expect(peer.requests.filter(({ method }) => method === 'tools/call')).toHaveLength(attempts);
  });

  it('hints of another tool, or of another name, do not count', async () => {
    const { client, peer } = failing([lost, lost], {}, [{ name: 'other', annotations: { readOnlyHint: true } }]);
    await client.listTools();
    expect(await rejection(client.callTool('t'))).toBe(lost);
    expect(await rejection(client.callTool('__proto__'))).toBe(lost);
    expect(peer.requests).toHaveLength(3);
  });

  it('hints are forgotten when credentials change', async () => {
    const { client, peer } = failing([lost], {}, [{ name: 't', annotations: { readOnlyHint: true } }]);
    await client.listTools();
    peer.changeCredentials();
    expect(await rejection(client.callTool('t'))).toBe(lost);
  });

  it('hints of a list that was asked for in another name do not count', async () => {
    const peer = scriptedPeer();
    const client = new McpClient(peer);
    const list = client.listTools();
    const listing = await peer.next();
    peer.changeCredentials();
    listing.answer({ tools: [{ name: 't', annotations: { readOnlyHint: true } }] });
    await list;
    const call = rejection(client.callTool('t'));
    (await peer.next()).fail(lost);
    expect(await call).toBe(lost);
  });

  it('before anything was sent is no reason not to try again', async () => {
    for (const [, request] of [...reads, call]) {
      const { client, peer } = failing([notSent]);
      await request(client);
      expect(peer.requests).toHaveLength(2);
    }
  });

  it('a second time is told', async () => {
    const second = new LocalError('closed', 'again', { maybeExecuted: true });
    const { client, peer } = failing([lost, second]);
    expect(await rejection(client.readResource('x:1'))).toBe(second);
    expect(peer.requests).toHaveLength(2);
  });

  it('that may have been carried out stays so, whatever becomes of the second attempt', async () => {
    const second = new LocalError('unreachable', 'nobody there', { phase: 'connect' }, { cause: 'ECONNREFUSED' });
    const { client } = failing([lost, second], {}, [{ name: 't', annotations: { idempotentHint: true } }]);
    await client.listTools();
    expect(await rejection(client.callTool('t'))).toMatchObject({
      name: 'LocalError',
      code: 'unreachable',
      message: 'nobody there',
      phase: 'connect',
      cause: 'ECONNREFUSED',
      maybeExecuted: true,
    });
  });

  it('of an extension’s method: by what its row says', async () => {
    for (const readOnly of [true, false]) {
      const row = defineMethod<RequestParams, EmptyResult>({ name: 'com.example/x', readOnly });
      const { client, peer } = failing([lost]);
      await client.request(row, {}).catch(() => {});
      expect(peer.requests).toHaveLength(readOnly ? 2 : 1);
    }
  });
});

describe('everything else', () => {
  const codes: readonly LocalErrorCode[] = [
    'aborted',
    'timeout',
    'refused',
    'unreachable',
    'unauthorized',
    'too_large',
    'invalid_answer',
    'invalid_output',
  ];
  const failures: ReadonlyArray<readonly [string, Error]> = [
    ...codes.map((code) => [code, new LocalError(code, '', { status: 401, retryAfterMs: 10 })] as const),
    ['http_status 500', new LocalError('http_status', '', { status: 500, retryAfterMs: 10 })],
    ['-32603', new RemoteError(-32603, '', { status: 200, retryAfterMs: 10 })],
    ['-32602', new RemoteError(-32602, '')],
    ['403', new RemoteError(403, '', { status: 403, retryAfterMs: 10 })],
    ['an error of another kind', new TypeError('?')],
  ];
  it.each(failures)('%s is not repeated', async (_, error) => {
    for (const [, request] of [...reads, call]) {
      const { client, peer } = failing([error]);
      expect(await rejection(request(client))).toBe(error);
      expect(peer.requests).toHaveLength(1);
    }
  });
});
