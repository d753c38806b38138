import { describe, expect, it } from 'vitest';
import { McpClient, type McpClientOptions, type RequestOptions } from '../../src/client/index.ts';
import { LocalError, RemoteError } from '../../src/protocol/index.ts';
import { type OpenRequest, rejection, scriptedPeer, type ScriptedPeer, turn } from './scripted-peer.ts';
import { fakeClock, type FakeClock } from '../../src/testing/index.ts';

interface Setup {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
  readonly clock: FakeClock;
}

function setUp(options: McpClientOptions = {}): Setup {
  const peer = scriptedPeer();
  const clock = fakeClock();
  return { client: new McpClient(peer, { clock, ...options }), peer, clock };
}

/** A call that is waiting, and what became of it. */
async function calling(
  { client, peer }: Setup,
  options?: RequestOptions,
): Promise<{ readonly request: OpenRequest; readonly outcome: () => unknown }> {
  let outcome: unknown;
  client.callTool('slow', {}, options).then(
    (result) => (outcome = result),
    (error: unknown) => (outcome = error),
  );
  return { request: await peer.next(), outcome: () => outcome };
}

const progress = (amount: number, rest: object = {}) =>
  ({ method: 'notifications/progress', params: { progress: amount, ...rest } }) as const;

describe('silence', () => {
  it('CANC-12: ends a request after a minute, and tells the server', async () => {
    const setup = setUp();
    const { request, outcome } = await calling(setup);
    await setup.clock.advance(59_999);
    expect(outcome()).toBeUndefined();
    expect(request.exchange.signal.aborted).toBe(false);
    await setup.clock.advance(1);
    expect(outcome()).toMatchObject({
      name: 'LocalError',
      code: 'timeout',
      timer: 'idle',
      phase: 'call',
      maybeExecuted: true,
    });
    expect(request.exchange.signal.aborted).toBe(true);
  });

  it('JR-22, T-13: is an error of this end, with no code of the protocol', async () => {
    const setup = setUp({ idleTimeoutMs: 10 });
    const { outcome } = await calling(setup);
    await setup.clock.advance(10);
    expect(outcome()).toBeInstanceOf(LocalError);
    expect(outcome()).not.toBeInstanceOf(RemoteError);
    expect(String(outcome())).toBe(
      'LocalError: tools/call timed out: no sign of life for 10 ms (idleTimeoutMs); no progress was heard of',
    );
  });

  it.each([
    ['CANC-13: progress', ({ exchange }: OpenRequest) => void exchange.notify(progress(1))],
    ['a sign of life without a message', ({ exchange }: OpenRequest) => exchange.alive?.()],
    [
      'a log message',
      ({ exchange }: OpenRequest) =>
        void exchange.notify({ method: 'notifications/message', params: { level: 'info', data: '' } }),
    ],
  ])('%s begins it anew, whether anybody listens or not', async (_, sign) => {
    const setup = setUp({ idleTimeoutMs: 100 });
    const { request, outcome } = await calling(setup);
    for (let signs = 0; signs < 5; signs++) {
      await setup.clock.advance(99);
      sign(request);
    }
    await setup.clock.advance(99);
    expect(outcome()).toBeUndefined();
    await setup.clock.advance(1);
    expect(outcome()).toMatchObject({ code: 'timeout', timer: 'idle' });
  });

  it('META-18: progress is asked for in any case', async () => {
    const setup = setUp();
    const { request } = await calling(setup);
    expect(request.exchange.wantsProgress).toBe(true);
  });

  it('tells the last progress', async () => {
    const setup = setUp({ idleTimeoutMs: 100 });
    const { request, outcome } = await calling(setup);
    void request.exchange.notify(progress(2, { total: 5, message: 'halfway' }));
    await setup.clock.advance(100);
    expect(outcome()).toMatchObject({ lastProgress: { progress: 2, total: 5, message: 'halfway' } });
    expect(String(outcome())).toContain('the last progress was 2 of 5 ("halfway")');
  });

  it.each([
    [{ message: 5 }, '1'],
    [{ message: { slice: 1 } }, '1'],
    [{ total: { toString: 1 }, message: ['a'] }, '1'],
    [{ total: '2', message: null }, '1'],
    [{ message: 'x'.repeat(500) }, `1 ("${'x'.repeat(100)}")`],
  ])('tells only what makes sense of it: %j', async (rest, told) => {
    const setup = setUp({ idleTimeoutMs: 100 });
    const { request, outcome } = await calling(setup);
    void request.exchange.notify(progress(1, rest));
    await setup.clock.advance(100);
    expect(outcome()).toMatchObject({ code: 'timeout', message: expect.stringMatching(/the last progress was /) });
    expect(String(outcome()).endsWith(`the last progress was ${told}`)).toBe(true);
  });

  it('a listener that returns something else than a promise is done with it', async () => {
    const setup = setUp({ idleTimeoutMs: 100, onLog: () => 1 });
    const { request, outcome } = await calling(setup);
    const log = { method: 'notifications/message', params: { level: 'info', data: '' } } as const;
    expect(request.exchange.notify(log)).toBeUndefined();
    await setup.clock.advance(100);
    expect(outcome()).toMatchObject({ code: 'timeout', timer: 'idle' });
  });

  it('a listener that takes its time is no silence of the server', async () => {
    const setup = setUp({ idleTimeoutMs: 100 });
    let done = (): void => {};
    const { request, outcome } = await calling(setup, {
      onProgress: async () =>
        new Promise<void>((resolve) => {
          done = resolve;
        }),
    });
    void request.exchange.notify(progress(1));
    await setup.clock.advance(1000);
    expect(outcome()).toBeUndefined();
    done();
    await setup.clock.advance(99);
    expect(outcome()).toBeUndefined();
    await setup.clock.advance(1);
    expect(outcome()).toMatchObject({ code: 'timeout', timer: 'idle' });
  });
});

describe('the total', () => {
  it('CANC-13, T-60: ends a request however alive it is, after an hour', async () => {
    const setup = setUp();
    const { request, outcome } = await calling(setup);
    for (let minutes = 1; minutes <= 60; minutes++) {
      await setup.clock.advance(59_999);
      void request.exchange.notify(progress(minutes));
      request.exchange.alive?.();
    }
    await setup.clock.advance(59);
    expect(outcome()).toBeUndefined();
    await setup.clock.advance(1);
    expect(outcome()).toMatchObject({
      code: 'timeout',
      timer: 'total',
      maybeExecuted: true,
      lastProgress: { progress: 60 },
    });
    expect(String(outcome())).toContain('it was not done after 3600000 ms (totalTimeoutMs)');
    expect(request.exchange.signal.aborted).toBe(true);
  });

  it('may be shorter than the silence', async () => {
    const setup = setUp({ totalTimeoutMs: 50 });
    const { outcome } = await calling(setup);
    await setup.clock.advance(50);
    expect(outcome()).toMatchObject({ timer: 'total' });
  });

  it('of a list holds for all its pages together', async () => {
    const { client, peer, clock } = setUp({ totalTimeoutMs: 100 });
    const list = rejection(client.listTools());
    for (const cursor of ['a', 'b', 'c']) {
      const page = await peer.next();
      await clock.advance(30);
      page.answer({ tools: [], nextCursor: cursor });
    }
    const last = await peer.next();
    await clock.advance(9);
    expect(last.exchange.signal.aborted).toBe(false);
    await clock.advance(1);
    const error = await list;
    expect(error).toMatchObject({ code: 'timeout', timer: 'total', phase: 'list' });
    expect(String(error)).toContain('after 100 ms (totalTimeoutMs)');
  });
});

describe('limits', () => {
  it.each([
    ['idle', { idleTimeoutMs: 10 }],
    ['total', { totalTimeoutMs: 10 }],
  ] as const)('CANC-12: of %s can be set for one request', async (timer, options) => {
    const setup = setUp({ idleTimeoutMs: 20, totalTimeoutMs: 20 });
    const { outcome } = await calling(setup, options);
    await setup.clock.advance(10);
    expect(outcome()).toMatchObject({ code: 'timeout', timer });
  });

  it('that are longer for one request hold too', async () => {
    const setup = setUp({ idleTimeoutMs: 20, totalTimeoutMs: 20 });
    const { request, outcome } = await calling(setup, { idleTimeoutMs: 100, totalTimeoutMs: 100 });
    await setup.clock.advance(99);
    request.answer({ content: [] });
    await turn();
    expect(outcome()).toMatchObject({ content: [] });
  });

  it.each(['idleTimeoutMs', 'totalTimeoutMs'] as const)('%s that no timer can wait for is refused', async (name) => {
    for (const value of [0, -1, 1.5, Number.NaN, Infinity, 2 ** 31]) {
      const text = `${name} must be an integer from 1 to 2147483647, not ${value}`;
      expect(() => new McpClient(scriptedPeer(), { [name]: value })).toThrow(text);
      const { client, peer } = setUp();
      expect(await rejection(client.callTool('a', {}, { [name]: value }))).toBeInstanceOf(RangeError);
      expect(await rejection(client.listTools({ [name]: value }))).toBeInstanceOf(RangeError);
      expect(peer.requests).toHaveLength(0);
    }
  });

  it.each([
    ['call', (client: McpClient) => client.callTool('a')],
    ['call', (client: McpClient) => client.readResource('x:1')],
    ['list', (client: McpClient) => client.listPrompts()],
    ['negotiate', (client: McpClient) => client.discover()],
  ])('name the phase: %s', async (phase, request) => {
    const { client, clock } = setUp({ idleTimeoutMs: 10 });
    const error = rejection(request(client));
    await clock.advance(10);
    expect(await error).toMatchObject({ code: 'timeout', phase });
  });

  it('leave no timer behind a request that was answered or failed', async () => {
    const setup = setUp();
    const answered = await calling(setup);
    answered.request.answer({ content: [] });
    const failed = await calling(setup);
    failed.request.fail(new RemoteError(-32603, 'no'));
    await turn();
    expect(setup.clock.pending).toBe(0);
  });
});

describe('a peer', () => {
  it('knows better whether anything was sent, and how far it came', async () => {
    const peer = scriptedPeer(
      ({ exchange: { signal }, fail }) => {
        signal.addEventListener('abort', () => {
          const { code, message, timer } = signal.reason as LocalError;
          fail(new LocalError(code, message, { timer, phase: 'connect', maybeExecuted: false }));
        });
        return undefined;
      },
      { ignoresAbort: true },
    );
    const clock = fakeClock();
    const error = rejection(new McpClient(peer, { clock }).callTool('a'));
    await clock.advance(60_000);
    expect(await error).toMatchObject({ code: 'timeout', timer: 'idle', phase: 'connect', maybeExecuted: false });
  });

  it('that does not react is not waited for', async () => {
    const clock = fakeClock();
    const peer = scriptedPeer(undefined, { ignoresAbort: true });
    const error = rejection(new McpClient(peer, { clock }).callTool('a'));
    await peer.next();
    await clock.advance(60_000);
    expect(await error).toMatchObject({ code: 'timeout', timer: 'idle', maybeExecuted: true });
    expect(clock.pending).toBe(0);
  });

  it('that reacts in its own words does not hide that time ran out', async () => {
    for (const [words, maybeExecuted] of [
      [new DOMException('gone', 'AbortError'), true],
      [new LocalError('closed', 'gone', { maybeExecuted: true }), true],
      [new LocalError('closed', 'gone'), false],
    ] as const) {
      const clock = fakeClock();
      const peer = scriptedPeer(
        ({ exchange: { signal }, fail }) => {
          signal.addEventListener('abort', () => fail(words));
          return undefined;
        },
        { ignoresAbort: true },
      );
      const error = rejection(new McpClient(peer, { clock }).readResource('x:1'));
      await clock.advance(60_000);
      expect(await error).toMatchObject({ name: 'LocalError', code: 'timeout', timer: 'idle', maybeExecuted });
      expect(peer.requests).toHaveLength(1);
    }
  });
});
