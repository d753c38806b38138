import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { AuthInfo, Exchange, McpHandler, McpRequest } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { serveStream } from '../../src/stdio/serve-stream.ts';
import { aborted, deferred, DONE, eventually, parking, sleep, within } from '../http/harness.ts';
import { at, callTool, listen, LOG_LEVEL_KEY, notification, request, SUBSCRIPTION_ID_KEY } from '../wire/messages.ts';
import { LineClient, servePair } from './line-client.ts';

const MIB = 1024 * 1024;

const done: McpHandler = async () => DONE;

/** Answers with what it was asked. */
const echo: McpHandler = async ({ method, params }) => ({ ...DONE, method, params });

const cancelled = (requestId: unknown): object => ({
  ...notification('notifications/cancelled'),
  params: { requestId },
});

function makeServer(): McpServer {
  return new McpServer({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } } });
}

describe('messages on a stream', () => {
  it('STDIO-02, STDIO-03, STDIO-07: each answer is one line, whatever is in it', async () => {
    const { client } = servePair(echo);
    const text = 'a\nb\r\nc\u2028d"\\ 漢 🏔 \0';
    client.send(request('x', { text }, { id: 1 }));
    expect(at(await client.answer(1), 'result', 'params', 'text')).toBe(text);
  });

  it('STDIO-08: a request needs nothing but its line', async () => {
    let seen: [McpRequest, Exchange] | undefined;
    const { client } = servePair(async (received, exchange) => {
      seen = [received, exchange];
      return DONE;
    });
    client.send(request('tools/list', {}, { id: 1, meta: { progressToken: 'hop' } }));
    await client.answer(1);
    const [received, exchange] = seen ?? [];
    expect(exchange?.http).toBeUndefined();
    expect(exchange?.auth).toBeUndefined();
    expect(exchange?.versions).toContain('2026-07-28');
    expect(exchange?.wantsProgress).toBe(true);
    expect(at(received?.params, '_meta', 'progressToken')).toBeUndefined();
  });

  it('tells handlers who is at the other end, if that is known', async () => {
    const auth: AuthInfo = { principal: 'uid-1000' };
    const { client } = servePair(async (_request, exchange) => ({ ...DONE, principal: exchange.auth?.principal }), {
      auth,
    });
    client.send(request('x', {}, { id: 1 }));
    expect(await client.answer(1)).toMatchObject({ result: { principal: 'uid-1000' } });
  });

  it('keeps the type of an id', async () => {
    const { client } = servePair(echo);
    client.send(request('number', {}, { id: 1 }), request('string', {}, { id: '1' }));
    expect(await client.answer(1)).toMatchObject({ result: { method: 'number' } });
    expect(await client.answer('1')).toMatchObject({ result: { method: 'string' } });
  });

  it('STDIO-02: takes lines in halves, with CRLF, blank lines between them, and a last one without an end', async () => {
    const { client } = servePair(echo);
    const [first, second, third] = [1, 2, 3].map((id) => JSON.stringify(request('x', { text: '漢' }, { id })));
    const bytes = Buffer.from(`\n\r\n${first}\r\n\n${second}\n${third}`);
    for (const byte of bytes) client.output.write(Uint8Array.of(byte));
    client.output.end();
    expect((await client.all()).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('takes text from a stream that somebody has set an encoding on', async () => {
    const readable = new PassThrough().setEncoding('utf8');
    const writable = new PassThrough();
    await using _server = serveStream(echo, { readable, writable });
    const client = new LineClient(writable, readable);
    const line = Buffer.from(`${JSON.stringify(request('x', { text: '漢🏔' }, { id: 1 }))}\n`);
    for (const byte of line) readable.write(Uint8Array.of(byte));
    expect(at(await client.answer(1), 'result', 'params', 'text')).toBe('漢🏔');
  });

  it('STDIO-02: answers a line that is no JSON without an id, and goes on', async () => {
    const { client } = servePair(done);
    client.output.write('this is no JSON\n{"jsonrpc":\n\xff\n');
    client.output.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    client.output.write(`${'['.repeat(200)}${']'.repeat(200)}\n`);
    client.send(request('x', {}, { id: 1 }));
    await client.answer(1);
    const errors = client.messages.filter(({ error }) => error !== undefined);
    expect(errors.map(({ error }) => error?.code)).toEqual([-32700, -32700, -32700, -32700, -32700]);
    expect(errors.every((message) => !('id' in message))).toBe(true);
  });

  it('refuses what is no request with the id if it has one, and goes on', async () => {
    const { client } = servePair(done);
    client.send([request('x')], 5, null, { jsonrpc: '2.0', id: 3 }, { jsonrpc: '1.0', id: 4, method: 'x' });
    client.send({ jsonrpc: '2.0', id: 5, method: 'tools/list', params: {} }, request('x', {}, { id: 6 }));
    await client.answer(6);
    expect(client.messages.slice(0, -1).map(({ id, error }) => [id, error?.code])).toEqual([
      [undefined, -32600],
      [undefined, -32600],
      [undefined, -32600],
      [3, -32600],
      [4, -32600],
      [5, -32602],
    ]);
  });

  it('VER-02: names the revisions that are served', async () => {
    const { client } = servePair(done);
    client.send(request('x', {}, { id: 1, meta: { 'io.modelcontextprotocol/protocolVersion': '2020-01-01' } }));
    expect(await client.answer(1)).toMatchObject({
      error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2020-01-01' } },
    });
  });

  it('JR-14: drops responses of the client and says so in the log', async () => {
    const { client, log } = servePair(done);
    client.send({ jsonrpc: '2.0', id: 1, result: {} }, { jsonrpc: '2.0', id: 2, error: { code: 1, message: '' } });
    client.send(request('x', {}, { id: 3 }));
    await client.answer(3);
    expect(client.messages).toHaveLength(1);
    expect(log.map(({ level }) => level)).toEqual(['warn', 'warn']);
  });

  it('ignores notifications that it does not know', async () => {
    const { client, log } = servePair(done);
    client.send(notification('notifications/initialized'), notification('notifications/x', { a: 1 }), {
      jsonrpc: '2.0',
      method: 'tools/call',
    });
    client.send(request('x', {}, { id: 1 }));
    await client.answer(1);
    expect(client.messages).toHaveLength(1);
    expect(log).toEqual([]);
  });

  it('answers for a handler that throws, and keeps what it threw to the log', async () => {
    const { client, log } = servePair(() => {
      throw new Error('secret');
    });
    client.send(request('x', {}, { id: 1 }));
    const message = await client.answer(1);
    expect(message).toMatchObject({ error: { code: -32603 } });
    expect(JSON.stringify(message)).not.toContain('secret');
    expect(log).toHaveLength(1);
  });

  it('answers with an error for a result that JSON cannot carry', async () => {
    const { client } = servePair(async () => ({ ...DONE, big: 1n }));
    client.send(request('x', {}, { id: 1 }));
    expect(await client.answer(1)).toMatchObject({ error: { code: -32603 } });
  });

  it('serves names of prototypes like all others', async () => {
    const { client } = servePair(makeServer());
    client.send(request('__proto__', {}, { id: '__proto__' }), request('constructor', {}, { id: 'constructor' }));
    expect(await client.answer('__proto__')).toMatchObject({ error: { code: -32601 } });
    expect(await client.answer('constructor')).toMatchObject({ error: { code: -32601 } });
  });

  it('refuses streams of objects, and options that are not valid', () => {
    const bytes = new PassThrough();
    const objects = new PassThrough({ objectMode: true });
    expect(() => serveStream(done, { readable: bytes, writable: objects })).toThrow(/bytes, not objects/);
    expect(() => serveStream(done, objects)).toThrow(/bytes, not objects/);
    expect(() => serveStream(done, bytes, { maxMessageBytes: 0 })).toThrow(/maxMessageBytes .*not 0/);
    expect(() => serveStream(done, bytes, { maxResponseBytes: 1.5 })).toThrow(/maxResponseBytes .*not 1\.5/);
  });
});

describe('limits on a stream', () => {
  it('STDIO-02: refuses a message over maxMessageBytes under its id, and goes on', async () => {
    const { client } = servePair(echo, { maxMessageBytes: 1000 });
    client.send(request('x', { text: 'x'.repeat(2000) }, { id: 'big' }), request('x', {}, { id: 2 }));
    const { error } = await client.answer('big');
    expect(error?.code).toBe(-32600);
    expect(error?.message).toMatch(/\d{4} bytes.*1000.*maxMessageBytes/);
    expect(await client.answer(2)).toHaveProperty('result');
  });

  it('takes 4 MiB unless told otherwise', async () => {
    const { client } = servePair(done);
    client.send(request('x', { text: 'x'.repeat(4 * MIB - 1000) }, { id: 1 }));
    expect(await client.answer(1)).toHaveProperty('result');
    client.send(request('x', { text: 'x'.repeat(4 * MIB) }, { id: 2 }));
    expect(await client.answer(2)).toHaveProperty('error.code', -32600);
  });

  it('refuses a result over maxResponseBytes, and says so in the log', async () => {
    const { client, log } = servePair(async () => ({ ...DONE, text: '漢'.repeat(400) }), { maxResponseBytes: 1000 });
    client.send(request('x', {}, { id: 1 }));
    const { error } = await client.answer(1);
    expect(error?.code).toBe(-32603);
    expect(error?.message).toMatch(/1000 bytes.*maxResponseBytes/);
    expect(log).toHaveLength(1);
  });
});

describe('one id for two requests', () => {
  it('refuses the second without an id, and lets the first go on', async () => {
    const { handler, started, release } = parking();
    const { client, log } = servePair(handler);
    client.send(request('x', {}, { id: 'twin' }));
    await started;
    client.send(request('x', {}, { id: 'twin' }));
    const refusal = await client.answer(undefined);
    expect(refusal).toMatchObject({ error: { code: -32600, message: expect.stringContaining('"twin"') as unknown } });
    expect(refusal).not.toHaveProperty('id');
    expect(log).toHaveLength(1);
    release();
    expect(await client.answer('twin')).toHaveProperty('result');
  });

  it.each([
    ['malformed', { jsonrpc: '2.0', id: 'twin', method: 'x' }],
    ['no request', { jsonrpc: '2.0', id: 'twin', method: 5 }],
    ['too long', request('x', { text: 'x'.repeat(2000) }, { id: 'twin' })],
  ])('gives no error under an id in use for one that is %s', async (_, second) => {
    const { handler, started, release } = parking();
    const { client } = servePair(handler, { maxMessageBytes: 1000 });
    client.send(request('x', {}, { id: 'twin' }));
    await started;
    client.send(second);
    expect(await client.answer(undefined)).toMatchObject({ error: { code: -32600 } });
    release();
    expect(await client.answer('twin')).toHaveProperty('result');
    expect(client.messages).toHaveLength(2);
  });

  it('takes an id again once its request is answered', async () => {
    const { client } = servePair(done);
    for (let turn = 1; turn <= 3; turn++) {
      client.send(request('x', {}, { id: 1 }));
      await client.message(() => client.messages.length === turn);
    }
    expect(client.messages.every(({ id, result }) => id === 1 && result !== undefined)).toBe(true);
  });
});

describe('cancelling on a stream', () => {
  it('CANC-01, CANC-04: aborts the signal of the request', async () => {
    const started = deferred<AbortSignal>();
    const { client } = servePair(async (_request, { signal }) => {
      started.resolve(signal);
      await aborted(signal);
      return DONE;
    });
    client.send(request('x', {}, { id: 1 }));
    const signal = await started.promise;
    client.send(cancelled(1));
    await within(aborted(signal), 1000);
    expect(signal.reason).toMatchObject({ name: 'AbortError' });
  });

  it.each(['result', 'error', 'progress', 'log'] as const)(
    'CANC-05, SUB-13: sends no %s of a cancelled request any more',
    async (what) => {
      const settled = deferred();
      const { client, log } = servePair(async ({ method }, exchange) => {
        if (method !== 'late') return DONE;
        await aborted(exchange.signal);
        if (what === 'progress') void exchange.notify({ method: 'notifications/progress', params: { progress: 1 } });
        if (what === 'log')
          void exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 1 } });
        setTimeout(settled.resolve);
        if (what === 'error') throw new Error('too late');
        return DONE;
      });
      client.send(request('late', {}, { id: 1, meta: { progressToken: 1, [LOG_LEVEL_KEY]: 'info' } }), cancelled(1));
      await within(settled.promise, 1000);
      client.send(request('x', {}, { id: 2 }));
      await client.answer(2);
      expect(client.messages).toHaveLength(1);
      expect(log.filter(({ level }) => level !== 'debug')).toEqual([]);
    },
  );

  it.each([
    ['another type', '1'],
    ['an unknown id', 2],
    ['none', undefined],
    ['null', null],
    ['an object', { id: 1 }],
    ['a list', [1]],
    ['a prototype name', '__proto__'],
  ])('CANC-07, CANC-08: a cancel that names %s changes nothing', async (_, requestId) => {
    const { handler, started, release } = parking();
    const { client, log } = servePair(handler);
    client.send(request('x', {}, { id: 1 }));
    await started;
    client.send(cancelled(requestId), { jsonrpc: '2.0', method: 'notifications/cancelled' });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: [1] });
    client.send(request('x', {}, { id: 'behind' }));
    release();
    expect(await client.answer(1)).toMatchObject({ result: { aborted: false } });
    await client.answer('behind');
    expect(client.messages).toHaveLength(2);
    expect(log).toEqual([]);
  });

  it('CANC-10: a cancel that crosses the answer changes nothing', async () => {
    const { client } = servePair(done);
    client.send(request('x', {}, { id: 1 }));
    await client.answer(1);
    client.send(cancelled(1), request('x', {}, { id: 2 }));
    await client.answer(2);
    expect(client.messages).toHaveLength(2);
  });

  it('CANC-05: the answer of a cancelled request is never taken for that of a later one with its id', async () => {
    const parked = deferred();
    const { client } = servePair(async ({ method }) => {
      if (method === 'old') await parked.promise;
      return { ...DONE, method };
    });
    client.send(request('old', {}, { id: 1 }), cancelled(1), request('new', {}, { id: 1 }));
    expect(await client.answer(1)).toMatchObject({ result: { method: 'new' } });
    parked.resolve();
    client.send(request('x', {}, { id: 2 }));
    await client.answer(2);
    expect(client.messages).toHaveLength(2);
  });

  it('keeps the reason of the client for the log', async () => {
    const { handler, started } = parking();
    const { client, log } = servePair(handler);
    client.send(request('tools/list', {}, { id: 1 }));
    await started;
    client.send(notification('notifications/cancelled', { requestId: 1, reason: 'changed my mind' }));
    await eventually(() => log.length > 0);
    expect(log[0]).toMatchObject({ level: 'debug' });
    expect(log[0]?.message).toMatch(/tools\/list.*changed my mind/);
  });

  it('SUB-12, SUB-13: ends a listen stream without another word', async () => {
    const server = makeServer();
    const { client } = servePair(server);
    client.send(listen({ toolsListChanged: true }, { id: 'watch' }));
    await client.notification('notifications/subscriptions/acknowledged');
    client.send(cancelled('watch'));
    client.send(request('tools/list', {}, { id: 2 }));
    await client.answer(2);
    server.notify.toolsChanged();
    client.send(request('tools/list', {}, { id: 3 }));
    await client.answer(3);
    expect(client.messages).toHaveLength(3);
  });

  it('SUB-13: a listen that is cancelled before its acknowledgement never sends one', async () => {
    const { client } = servePair(makeServer());
    client.send(listen({ toolsListChanged: true }, { id: 'watch' }), cancelled('watch'), request('x', {}, { id: 2 }));
    await client.answer(2);
    await sleep(20);
    expect(client.messages.filter(({ id }) => id === 'watch')).toEqual([]);
    expect(client.messages.filter(({ method }) => method === 'notifications/cancelled')).toEqual([]);
  });
});

describe('notifications on a stream', () => {
  it('carry the token of the request, of the type it had', async () => {
    const { client } = servePair(async (_request, exchange) => {
      void exchange.notify({ method: 'notifications/progress', params: { progress: 1 } });
      return DONE;
    });
    client.send(request('x', {}, { id: 1, meta: { progressToken: 7 } }), request('x', {}, { id: 2 }));
    await Promise.all([client.answer(1), client.answer(2)]);
    expect(client.messages.filter(({ method }) => method !== undefined)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1, progressToken: 7 } },
    ]);
  });

  it('SUB-06, SUB-08, SUB-11: several subscriptions and calls share the stream, each under its own id', async () => {
    const server = makeServer();
    server.registerTool('slow', {}, async (_input, { progress }) => {
      await progress(1);
      return 'slow';
    });
    const { client } = servePair(server);
    client.send(
      listen({ toolsListChanged: true }, { id: 1 }),
      callTool('slow', {}, { id: 2, meta: { progressToken: 't' } }),
    );
    client.send(listen({ toolsListChanged: true }, { id: '1' }));
    const subscriptionOf = (message: unknown): unknown => at(message, 'params', '_meta', SUBSCRIPTION_ID_KEY);
    for (const id of [1, '1']) await client.message((message) => subscriptionOf(message) === id);
    await client.answer(2);
    server.notify.toolsChanged();
    for (const id of [1, '1']) {
      await client.message(
        (message) => message.method === 'notifications/tools/list_changed' && subscriptionOf(message) === id,
      );
      const own = client.messages.filter((message) => subscriptionOf(message) === id);
      expect(own.map(({ method }) => method)).toEqual([
        'notifications/subscriptions/acknowledged',
        'notifications/tools/list_changed',
      ]);
    }
  });
});
