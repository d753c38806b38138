import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Exchange,
  type ExtensionNotification,
  LocalError,
  LOG_LEVEL_META_KEY,
  type McpNotification,
  type McpPeer,
  type McpResult,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
  RemoteError,
  SUBSCRIPTION_ID_META_KEY,
} from '../protocol/index.ts';
import { type RecordingLogger, recordingLogger } from '../../test/recording-logger.ts';
import { streamPeer, type StreamPeerOptions } from './stream-peer.ts';

type Json = Readonly<Record<string, unknown>>;

interface Written {
  readonly id?: number;
  readonly method: string;
  readonly params: Json & { readonly _meta: Json };
}

/** A peer, and the bare streams at its other end. */
class Pair {
  readonly toServer: PassThrough;
  readonly toClient = new PassThrough();
  readonly logger: RecordingLogger = recordingLogger();
  readonly unattributed: unknown[] = [];
  readonly peer: McpPeer;
  #unread = '';

  constructor(options: StreamPeerOptions = {}, writableHighWaterMark = 16 * 1024) {
    this.toServer = new PassThrough({ writableHighWaterMark, readableHighWaterMark: 1 });
    const streams = { readable: this.toClient, writable: this.toServer };
    this.peer = streamPeer(streams, { logger: this.logger, ...options });
    this.peer.on('unattributed', (notification) => this.unattributed.push(notification));
    onTestFinished(async () => {
      this.toServer.resume();
      await this.peer.close();
    });
  }

  /** The next message that the peer writes. */
  async read(): Promise<Written> {
    for (;;) {
      const end = this.#unread.indexOf('\n');
      if (end !== -1) {
        const line = this.#unread.slice(0, end);
        this.#unread = this.#unread.slice(end + 1);
        return JSON.parse(line) as Written;
      }
      const chunk: unknown = this.toServer.read();
      if (chunk === null) await once(this.toServer, 'readable');
      else this.#unread += String(chunk);
    }
  }

  /** What was written and not read, once everything that was pending has run. */
  async unread(): Promise<string> {
    await settled();
    this.#unread += String(this.toServer.read() ?? '');
    return this.#unread;
  }

  /** What the server writes, when everything that was pending has run. */
  async write(...messages: readonly (string | Json)[]): Promise<void> {
    await settled();
    for (const message of messages) {
      this.toClient.write(
        typeof message === 'string' ? message : `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
      );
    }
  }

  warnings(): readonly string[] {
    return this.logger.entries.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }
}

interface Call {
  readonly answer: Promise<McpResult>;
  readonly notifications: readonly (McpNotification | ExtensionNotification)[];
  readonly leave: (reason?: unknown) => void;
}

function call(
  peer: McpPeer,
  method: string,
  params: Json = {},
  { meta, ...changes }: Partial<Exchange> & { readonly meta?: Json } = {},
): Call {
  const leaving = new AbortController();
  const notifications: (McpNotification | ExtensionNotification)[] = [];
  const answer = peer(
    { method, params: { ...params, _meta: { [CLIENT_CAPABILITIES_META_KEY]: {}, ...meta } } },
    {
      signal: leaving.signal,
      closing: new AbortController().signal,
      wantsProgress: false,
      versions: [],
      notify: (notification) => void notifications.push(notification),
      ...changes,
    },
  );
  answer.catch(() => undefined);
  return { answer, notifications, leave: (reason) => leaving.abort(reason) };
}

async function failureOf(promise: Promise<unknown>): Promise<LocalError> {
  const error = await promise.then(
    () => new Error('It succeeded'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof LocalError)) throw error;
  return error;
}

/** Lets everything run that does not wait for anything from outside. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

const tool = { name: 'add', arguments: {} };
const done = { resultType: 'complete', content: [] };

describe('requests and answers over a stream', () => {
  it('STDIO-02, STDIO-08, JR-01: writes one line per request, with its metadata in the body', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', { name: 'add', arguments: { text: 'a\nb\u2028c' } });
    expect(await pair.read()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'add',
        arguments: { text: 'a\nb\u2028c' },
        _meta: { [CLIENT_CAPABILITIES_META_KEY]: {}, [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION },
      },
    });
    await pair.write({ id: 1, result: { content: [] } });
    expect(await answer).toEqual({ content: [], resultType: 'complete' });
  });

  it('JR-02, JR-04, T-58: counts ids up and never uses one again', async () => {
    const pair = new Pair();
    const ids: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const { answer, leave } = call(pair.peer, 'tools/call', tool);
      const { id } = await pair.read();
      ids.push(id);
      if (round === 0) {
        leave();
        await pair.read();
      } else {
        await pair.write({ id, result: done });
        await answer;
      }
    }
    expect(ids).toEqual([1, 2, 3]);
  });

  it('JR-05: gives each of many parallel requests its own answer, in any order', async () => {
    const pair = new Pair();
    const calls = Array.from({ length: 50 }, (_, index) => call(pair.peer, 'tools/call', { name: String(index) }));
    const requests: Written[] = [];
    for (const _ of calls) requests.push(await pair.read());
    for (const { id, params } of requests.reverse()) await pair.write({ id, result: { ...done, name: params.name } });
    const names = await Promise.all(calls.map(async ({ answer }) => (await answer).name));
    expect(names).toEqual(calls.map((_, index) => String(index)));
  });

  it('passes errors of the server on as what they are', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.read();
    await pair.write({ id: 1, error: { code: -32602, message: 'No such tool', data: { name: 'add' } } });
    await expect(answer).rejects.toThrow(RemoteError);
    await expect(answer).rejects.toMatchObject({ code: -32602, message: 'No such tool', data: { name: 'add' } });
  });

  it('JR-09, JR-10: completes results of older servers and refuses unknown result types', async () => {
    const pair = new Pair();
    const list = call(pair.peer, 'tools/list');
    const strange = call(pair.peer, 'tools/list');
    await pair.write({ id: 1, result: { tools: [] } }, { id: 2, result: { tools: [], resultType: 'later' } });
    expect(await list.answer).toEqual({ tools: [], resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    expect(await failureOf(strange.answer)).toMatchObject({ code: 'invalid_answer', maybeExecuted: true });
  });

  it('VER: writes the revision that the server names when it refuses the first one', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'server/discover');
    await pair.read();
    const data = { supported: [PROTOCOL_VERSION], requested: PROTOCOL_VERSION };
    await pair.write({ id: 1, error: { code: -32022, message: 'Unsupported', data } });
    expect(await pair.read()).toMatchObject({
      id: 2,
      params: { _meta: { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION } },
    });
    await pair.write({ id: 2, result: { supportedVersions: [], capabilities: {} } });
    await answer;
    expect(pair.peer.explain()).toMatchObject({
      transport: 'stream',
      requests: 2,
      reason: expect.stringMatching(/second/),
    });
  });

  it('rejects what JSON cannot carry, and goes on', async () => {
    const pair = new Pair();
    const broken = call(pair.peer, 'tools/call', { name: 'add', arguments: { big: 1n } });
    await expect(broken.answer).rejects.toThrow(TypeError);
    const { answer } = call(pair.peer, 'tools/call', tool);
    const { id } = await pair.read();
    await pair.write({ id, result: done });
    expect(await answer).toEqual(done);
  });

  it('T-62: reads answers however they are cut into chunks, with CRLF and without a last line end', async () => {
    const lines = [
      JSON.stringify({ jsonrpc: '2.0', id: 1, result: { ...done, text: 'Grüße 🎉' } }),
      JSON.stringify({ jsonrpc: '2.0', id: 2, result: { ...done, text: '\u2028\u2029\u0085' } }),
    ];
    const bytes = Buffer.from(`\n${lines[0]}\r\n\n${lines[1]}`);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 20 }), async (cuts) => {
        const pair = new Pair();
        const calls = [call(pair.peer, 'tools/call', tool), call(pair.peer, 'tools/call', tool)];
        await pair.unread();
        let start = 0;
        for (const end of [...cuts.sort((a, b) => a - b), bytes.length]) {
          pair.toClient.write(bytes.subarray(start, end));
          await settled();
          start = end;
        }
        pair.toClient.end();
        const texts = await Promise.all(calls.map(async ({ answer }) => (await answer).text));
        expect(texts).toEqual(['Grüße 🎉', '\u2028\u2029\u0085']);
      }),
      { numRuns: 30 },
    );
  });
});

describe('what is not for anybody', () => {
  it('STDIO-03, T-63: skips lines that are no messages and shows the first with a hint', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.write(
      'Listening on stdio…\n',
      '\n',
      '  \r\n',
      '{"jsonrpc":"2.0","id":1,"res\n',
      'debug: token=abcdefgh\n',
    );
    await pair.write({ id: 1, result: done });
    await answer;
    expect(pair.warnings()).toEqual([expect.stringMatching(/^stream: a line is no message, and was skipped\./)]);
    expect(pair.logger.entries[0]?.fields.line).toBe('"Listening on stdio…"');
  });

  it('shows no secrets and no control characters of such a line', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.write('\u001b[31mtoken=abcdefgh\n', { id: 1, result: done });
    await answer;
    const line = pair.logger.entries[0]?.fields.line;
    expect(line).toMatch(/redacted/);
    expect(line).not.toContain('abcdefgh');
    expect(line).not.toContain('\u001b');
  });

  it('STDIO-07, JR-13, JR-14, T-06, T-08: drops requests, batches and other values without an answer', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.read();
    await pair.write({ id: 1, method: 'sampling/createMessage', params: {} }, { id: 'ping', method: 'ping' });
    await pair.write('[{"jsonrpc":"2.0","id":1,"result":{}}]\n', '42\n', 'null\n', '{"level":30,"msg":"hello"}\n');
    await pair.write({ id: 1, result: done });
    await answer;
    expect(await pair.unread()).toBe('');
    expect(pair.warnings()).toEqual([expect.stringMatching(/servers do not send requests/)]);
  });

  it('T-09: fails no request for an error that names none, not even the only one', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.write(
      { error: { code: -32700, message: 'Parse error' } },
      { id: null, error: 'odd' },
      { id: 1, result: done },
    );
    await answer;
    expect(pair.warnings()).toEqual([expect.stringMatching(/an error names no request/)]);
    expect(pair.logger.entries[0]?.fields.line).toContain('Parse error');
  });

  it('T-02: takes the text "1" for no answer to request 1', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.write({ id: '1', result: { ...done, wrong: true } }, { id: 1, result: done });
    expect(await answer).toEqual(done);
  });

  it('counts answers to requests that never were, and is silent about late and repeated ones', async () => {
    const pair = new Pair();
    const first = call(pair.peer, 'tools/call', tool);
    await pair.write({ id: 1, result: done }, { id: 1, result: done });
    await first.answer;
    const second = call(pair.peer, 'tools/call', tool);
    await pair.write({ id: 2, result: done });
    await second.answer;
    expect(pair.warnings()).toEqual([]);
    const third = call(pair.peer, 'tools/call', tool);
    await pair.write({ id: 99, result: done }, { id: 'x', result: done }, { id: 3, result: done });
    await third.answer;
    expect(pair.warnings()).toEqual([expect.stringMatching(/belongs to no request/)]);
  });

  it('fails the request whose answer nests too deep', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
    await pair.write(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","deep":${deep}}}\n`);
    expect(await failureOf(answer)).toMatchObject({ code: 'invalid_answer', message: expect.stringMatching(/deeper/) });
  });

  it('fails only the request whose answer is too large, and names limit, size and option', async () => {
    const pair = new Pair({ maxMessageBytes: 1000 });
    const large = call(pair.peer, 'tools/call', tool);
    const small = call(pair.peer, 'tools/call', tool);
    const line = `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(5000) } })}\n`;
    await pair.write(line, `"${'y'.repeat(3000)}"\n`, { id: 2, result: done });
    await small.answer;
    const error = await failureOf(large.answer);
    expect(error).toMatchObject({ code: 'too_large', maybeExecuted: true, phase: 'call' });
    expect(error.message).toMatch(new RegExp(`${line.length - 1} bytes.*1000.*maxMessageBytes`));
    expect(pair.warnings()).toEqual([expect.stringMatching(/3002 bytes.*maxMessageBytes/)]);
  });
});

describe('notifications over a stream', () => {
  const progress = (progressToken: unknown, value: number): Json => ({
    method: 'notifications/progress',
    params: { progressToken, progress: value },
  });
  const log = (data: string): Json => ({ method: 'notifications/message', params: { level: 'info', data } });

  it('gives progress to the request whose token it carries, without the token', async () => {
    const pair = new Pair();
    const first = call(pair.peer, 'tools/call', tool, { wantsProgress: true });
    const second = call(pair.peer, 'tools/call', tool, { wantsProgress: true });
    const third = call(pair.peer, 'tools/call', tool);
    const tokens = [await pair.read(), await pair.read(), await pair.read()].map(
      ({ params }) => params._meta.progressToken,
    );
    expect(tokens[0]).not.toBe(tokens[1]);
    expect(tokens[2]).toBeUndefined();
    await pair.write(
      progress(tokens[1], 1),
      progress(tokens[0], 2),
      progress(3, 3),
      progress(77, 4),
      progress(undefined, 5),
    );
    await pair.write({ id: 1, result: done }, { id: 2, result: done }, { id: 3, result: done }, progress(tokens[0], 6));
    await Promise.all([first.answer, second.answer, third.answer]);
    expect(first.notifications).toEqual([{ method: 'notifications/progress', params: { progress: 2 } }]);
    expect(second.notifications).toEqual([{ method: 'notifications/progress', params: { progress: 1 } }]);
    expect(third.notifications).toEqual([]);
    expect(pair.unattributed).toEqual([]);
  });

  it('LOG: gives log messages to the one request that asked for some, otherwise to the listeners', async () => {
    const pair = new Pair();
    const meta = { [LOG_LEVEL_META_KEY]: 'info' };
    const silent = call(pair.peer, 'tools/call', tool);
    const listen = call(pair.peer, 'subscriptions/listen', { notifications: {} }, { meta });
    await pair.write(log('none asked'));
    await settled();
    const first = call(pair.peer, 'tools/call', tool, { meta });
    await pair.write(log('one asked'));
    await settled();
    const second = call(pair.peer, 'tools/call', tool, { meta });
    await pair.write(log('two asked'));
    await settled();
    await pair.write({ id: 3, result: done }, log('one again'), { id: 4, result: done }, { id: 1, result: done });
    await Promise.all([silent.answer, first.answer, second.answer]);
    const texts = (list: readonly unknown[]): unknown[] =>
      list.map((notification) => (notification as { readonly params: { readonly data: unknown } }).params.data);
    expect(texts(first.notifications)).toEqual(['one asked']);
    expect(texts(second.notifications)).toEqual(['one again']);
    expect(texts(pair.unattributed)).toEqual(['none asked', 'two asked']);
    expect([...silent.notifications, ...listen.notifications]).toEqual([]);
  });

  it('SUB-06, SUB-08, SUB-09, SUB-11: tells listen streams apart by the subscription id', async () => {
    const pair = new Pair();
    const tagged = (id: unknown, method: string, params: Json = {}): Json => ({
      method,
      params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } },
    });
    const acknowledged = 'notifications/subscriptions/acknowledged';
    const streams = [0, 1].map(() =>
      call(pair.peer, 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
    );
    const other = call(pair.peer, 'tools/call', tool);
    await pair.write(
      tagged(2, acknowledged, { notifications: {} }),
      tagged(2, 'notifications/tools/list_changed'),
      // Some servers make text of a number.
      tagged('1', acknowledged, { notifications: { toolsListChanged: true } }),
      tagged(1, 'notifications/resources/updated', { uri: 'a://b/c' }),
      tagged(3, 'notifications/tools/list_changed'),
      tagged('elsewhere', 'notifications/tools/list_changed'),
      { method: 'notifications/tools/list_changed' },
      { id: 3, result: done },
    );
    await other.answer;
    expect(streams[0]?.notifications).toEqual([
      { method: acknowledged, params: { notifications: { toolsListChanged: true } } },
      { method: 'notifications/resources/updated', params: { uri: 'a://b/c' } },
    ]);
    expect(streams[1]?.notifications).toEqual([
      { method: acknowledged, params: { notifications: {} } },
      { method: 'notifications/tools/list_changed', params: {} },
    ]);
    expect(other.notifications).toEqual([]);
    expect(pair.unattributed).toEqual([{ method: 'notifications/tools/list_changed' }]);
    expect(pair.warnings()).toEqual([expect.stringMatching(/belongs to no request/)]);
  });

  it('survives receivers that throw or reject', async () => {
    const pair = new Pair();
    const failing = [
      call(pair.peer, 'tools/call', tool, {
        wantsProgress: true,
        notify: () => {
          throw new Error('thrown');
        },
      }),
      call(pair.peer, 'tools/call', tool, {
        wantsProgress: true,
        notify: async () => Promise.reject(new Error('rejected')),
      }),
    ];
    await pair.write(progress(1, 1), progress(2, 1), { id: 1, result: done }, { id: 2, result: done });
    await Promise.all(failing.map(async ({ answer }) => answer));
    await settled();
    const errors = pair.logger.entries.map(({ fields }) => (fields.error as Error).message);
    expect(errors).toEqual(['thrown', 'rejected']);
  });

  it('does not wait for a receiver that is slow', async () => {
    const pair = new Pair();
    const slow = call(pair.peer, 'tools/call', tool, {
      wantsProgress: true,
      notify: async () => new Promise(() => undefined),
    });
    await pair.write(progress(1, 1), { id: 1, result: done });
    expect(await slow.answer).toEqual(done);
  });
});

describe('the end of a listen stream', () => {
  const result = { id: 1, result: { ...done, _meta: { [SUBSCRIPTION_ID_META_KEY]: 1 } } };
  const cancelled = (requestId: unknown): Json => ({ method: 'notifications/cancelled', params: { requestId } });

  it('SUB-14, T-33: is its result, and a cancellation after that means nothing', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'subscriptions/listen', { notifications: {} });
    await pair.write(result, cancelled(1));
    expect(await answer).toMatchObject(done);
    await settled();
    expect(pair.warnings()).toEqual([]);
  });

  it('SUB-15, SUB-16, T-33: without a result it is an error, and a result after that means nothing', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'subscriptions/listen', { notifications: {} });
    await pair.write(cancelled('1'), result);
    expect(await failureOf(answer)).toMatchObject({
      code: 'closed',
      message: expect.stringMatching(/without a result/),
    });
    await settled();
    expect(pair.warnings()).toEqual([]);
  });

  it('T-37, CANC-11: a server cancels nothing else', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.write(cancelled(1), cancelled('x'), { method: 'notifications/cancelled' }, { id: 1, result: done });
    expect(await answer).toEqual(done);
  });
});

describe('giving up', () => {
  it('CANC-01, CANC-14, T-59: rejects at once and tells the server', async () => {
    const pair = new Pair();
    const { answer, leave } = call(pair.peer, 'tools/call', tool);
    await pair.read();
    leave('the user pressed Escape');
    const error = await failureOf(answer);
    expect(error).toMatchObject({
      code: 'aborted',
      maybeExecuted: true,
      phase: 'call',
      cause: 'the user pressed Escape',
    });
    const { id, method, params } = await pair.read();
    expect(id).toBeUndefined();
    expect(method).toBe('notifications/cancelled');
    expect(params).toEqual({ requestId: 1, reason: expect.any(String) });
    expect(params.reason).not.toMatch(/Escape/);
  });

  it('keeps the reason of its caller if that is one of our errors', async () => {
    const pair = new Pair();
    const { answer, leave } = call(pair.peer, 'tools/list');
    await pair.read();
    leave(new LocalError('timeout', 'Nothing for 60 s', { timer: 'idle' }));
    const error = await failureOf(answer);
    expect(error).toMatchObject({
      code: 'timeout',
      timer: 'idle',
      message: 'Nothing for 60 s',
      phase: 'list',
      maybeExecuted: true,
    });
    expect((await pair.read()).params).toEqual({ requestId: 1, reason: 'timed out' });
  });

  it('CANC-09, CANC-10, T-36: ignores what still comes for it', async () => {
    const pair = new Pair();
    const cancelledCall = call(pair.peer, 'tools/call', tool, { wantsProgress: true });
    const listen = call(pair.peer, 'subscriptions/listen', { notifications: {} });
    await pair.read();
    cancelledCall.leave();
    listen.leave();
    const late = {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {}, _meta: { [SUBSCRIPTION_ID_META_KEY]: 2 } },
    };
    await pair.write(late, { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    await pair.write({ id: 1, result: done }, { id: 2, error: { code: -32603, message: 'Cancelled' } });
    await settled();
    await failureOf(listen.answer);
    expect([...cancelledCall.notifications, ...listen.notifications, ...pair.unattributed]).toEqual([]);
    expect(pair.warnings()).toEqual([]);
  });

  it('CANC-06: sends nothing for what was never written, nor for what is over', async () => {
    const pair = new Pair();
    const early = call(pair.peer, 'tools/call', tool, { signal: AbortSignal.abort() });
    expect(await failureOf(early.answer)).toMatchObject({ code: 'aborted', maybeExecuted: false });
    const { answer, leave } = call(pair.peer, 'tools/call', tool);
    const { id } = await pair.read();
    await pair.write({ id, result: done });
    await answer;
    leave();
    expect(await pair.unread()).toBe('');
  });

  it('SUB-12: ends a listen stream by cancelling its request', async () => {
    const pair = new Pair();
    const { answer, leave } = call(pair.peer, 'subscriptions/listen', { notifications: {} });
    const { id } = await pair.read();
    leave();
    await failureOf(answer);
    expect(await pair.read()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
  });
});

describe('a server that does not read', () => {
  const big = { name: 'big', arguments: { text: 'x'.repeat(100_000) } };

  it('T-64: holds a bounded amount of what is written for it, and the rest waits unwritten', async () => {
    const pair = new Pair();
    const calls = Array.from({ length: 100 }, () => call(pair.peer, 'tools/call', big));
    await settled();
    const held = pair.toServer.writableLength + pair.toServer.readableLength;
    expect(held).toBeGreaterThan(100_000);
    expect(held).toBeLessThan(1_000_000);
    // Who waits can leave without a word; nobody else is hurt.
    const last = calls.at(-1);
    last?.leave();
    expect(await failureOf(last?.answer ?? Promise.resolve())).toMatchObject({ code: 'aborted', maybeExecuted: false });
    const ids: unknown[] = [];
    for (let index = 0; index < 99; index++) {
      const { id, method } = await pair.read();
      expect(method).toBe('tools/call');
      ids.push(id);
      await pair.write({ id, result: done });
    }
    expect(ids).toEqual(Array.from({ length: 99 }, (_, index) => index + 1));
    await Promise.all(calls.slice(0, 99).map(async ({ answer }) => answer));
    expect(await pair.unread()).toBe('');
  });

  it('goes on with streams that hold more than that', async () => {
    const pair = new Pair({}, 4 * 1024 * 1024);
    const calls = Array.from({ length: 100 }, () => call(pair.peer, 'tools/call', big));
    for (let index = 0; index < 100; index++) {
      const { id } = await pair.read();
      await pair.write({ id, result: done });
    }
    const answers = await Promise.all(calls.map(async ({ answer }) => answer));
    expect(answers).toHaveLength(100);
  });
});

describe('the end of a stream', () => {
  it('STDIO-11, T-67: fails what is open, and says what may have been executed', async () => {
    const pair = new Pair();
    const written = call(pair.peer, 'tools/call', tool);
    const listen = call(pair.peer, 'subscriptions/listen', { notifications: {} });
    const discover = call(pair.peer, 'server/discover');
    await pair.read();
    pair.toClient.end();
    expect(await failureOf(written.answer)).toMatchObject({ code: 'closed', maybeExecuted: true, phase: 'call' });
    expect(await failureOf(listen.answer)).toMatchObject({ code: 'closed' });
    expect(await failureOf(discover.answer)).toMatchObject({ code: 'closed', phase: 'negotiate' });
    const after = call(pair.peer, 'tools/call', tool);
    expect(await failureOf(after.answer)).toMatchObject({ code: 'closed', maybeExecuted: false });
  });

  it('distinguishes those that were never written', async () => {
    const pair = new Pair();
    const big = { name: 'big', arguments: { text: 'x'.repeat(1_000_000) } };
    const written = call(pair.peer, 'tools/call', big);
    const waiting = call(pair.peer, 'tools/call', big);
    await settled();
    pair.toClient.destroy();
    expect(await failureOf(written.answer)).toMatchObject({ maybeExecuted: true });
    expect(await failureOf(waiting.answer)).toMatchObject({ maybeExecuted: false });
  });

  it('reads what was answered before the other side broke', async () => {
    const pair = new Pair();
    const answered = call(pair.peer, 'tools/call', tool);
    const lost = call(pair.peer, 'tools/call', tool);
    await pair.read();
    pair.toServer.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await settled();
    await pair.write({ id: 1, result: done });
    pair.toClient.end();
    expect(await answered.answer).toEqual(done);
    expect(await failureOf(lost.answer)).toMatchObject({ code: 'closed', message: expect.stringMatching(/EPIPE/) });
  });

  it('is noticed for a stream that was over before', async () => {
    const readable = new PassThrough();
    readable.destroy();
    const peer = streamPeer({ readable, writable: new PassThrough() });
    expect(await failureOf(call(peer, 'tools/list').answer)).toMatchObject({ code: 'closed', maybeExecuted: false });
  });

  it('closing fails what is open, ends the stream, and takes nothing more', async () => {
    const pair = new Pair();
    const { answer } = call(pair.peer, 'tools/call', tool);
    await pair.read();
    pair.toServer.resume();
    await pair.peer.close();
    await pair.peer[Symbol.asyncDispose]();
    expect(await failureOf(answer)).toMatchObject({ code: 'closed', maybeExecuted: true });
    expect(pair.toServer.writableEnded).toBe(true);
    expect(pair.toClient.destroyed).toBe(true);
    expect(await failureOf(call(pair.peer, 'tools/call', tool).answer)).toMatchObject({
      code: 'closed',
      maybeExecuted: false,
    });
  });
});

describe('streamPeer', () => {
  it('refuses what is no stream of bytes, and options that are not valid', () => {
    const bytes = new PassThrough();
    const objects = new PassThrough({ objectMode: true });
    expect(() => streamPeer({ readable: bytes } as never)).toThrow(TypeError);
    expect(() => streamPeer({ readable: objects, writable: bytes })).toThrow(/bytes/);
    expect(() => streamPeer(bytes, { maxMessageBytes: 0 })).toThrow(/maxMessageBytes.*0/);
  });
});
