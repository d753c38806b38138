import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { McpError, type McpHandler } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { serveStream } from '../../src/stdio/serve-stream.ts';
import { aborted, deferred, DONE, elapsed, parking, sleep, within } from '../http/harness.ts';
import { at, listen, request, SUBSCRIPTION_ID_KEY } from '../wire/messages.ts';
import { LineClient, servePair } from './line-client.ts';

const done: McpHandler = async () => DONE;
const never: McpHandler = async () => new Promise(() => {});

function makeServer(options: { readonly maxSubscriptionAgeMs?: number } = {}): McpServer {
  return new McpServer({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } }, ...options });
}

describe('drain', () => {
  it('closes at once when nothing runs, as often as it is asked', async () => {
    const { client, server } = servePair(done);
    expect(await elapsed(Promise.all([server.drain(), server.drain(), server.closed]), 1000)).toBeLessThan(100);
    await server.close();
    expect(await client.all()).toEqual([]);
  });

  it('lets running calls finish within their grace and refuses new ones', async () => {
    const { handler, started, release } = parking();
    const { client, server } = servePair(handler);
    client.send(request('x', {}, { id: 1 }));
    await started;
    const draining = server.drain({ graceMs: 5000 });
    client.send(request('x', {}, { id: 2 }));
    expect(await client.answer(2)).toMatchObject({ error: { code: 503 } });
    let isClosed = false;
    void server.closed.then(() => (isClosed = true));
    await sleep(20);
    expect(isClosed).toBe(false);
    release();
    await within(draining, 1000);
    expect(await client.all()).toContainEqual(expect.objectContaining({ id: 1, result: { ...DONE, aborted: false } }));
  });

  it('aborts what runs longer, with an error as its answer, and closes', async () => {
    const { handler, started } = parking();
    const { client, server } = servePair(handler);
    client.send(request('x', {}, { id: 1 }));
    await started;
    const took = await elapsed(server.drain({ graceMs: 100 }), 2000);
    console.log(`fault: a call ran longer than its grace, drained after ${took.toFixed(0)} ms`);
    expect(took).toBeGreaterThan(80);
    expect(await client.all()).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: 503, message: expect.any(String) as unknown } },
    ]);
  });

  it('close aborts at once', async () => {
    const started = deferred<AbortSignal>();
    const { client, server } = servePair(async (_request, { signal }) => {
      started.resolve(signal);
      return new Promise(() => {});
    });
    client.send(request('x', {}, { id: 1 }));
    const signal = await started.promise;
    expect(await elapsed(server.close(), 1000)).toBeLessThan(200);
    expect(signal.aborted).toBe(true);
    expect(await client.answer(1)).toMatchObject({ error: { code: 503 } });
  });

  it('a second call with less patience wins', async () => {
    const { client, server } = servePair(never);
    client.send(request('x', {}, { id: 1 }));
    const patient = server.drain({ graceMs: 60_000 });
    await within(server.drain({ graceMs: 20 }), 1000);
    await within(patient, 1000);
    expect(await client.answer(1)).toMatchObject({ error: { code: 503 } });
  });

  it('refuses a grace that is no time', async () => {
    const { server } = servePair(done);
    await expect(server.drain({ graceMs: -1 })).rejects.toThrow(/graceMs .*not -1/);
    await expect(server.drain({ graceMs: Number.NaN })).rejects.toThrow(/graceMs/);
  });

  it('tells calls by closing that time is short', async () => {
    const { client, server } = servePair(async (_request, exchange) => {
      void server.drain({ graceMs: 5000 });
      await within(aborted(exchange.closing), 1000);
      return { ...DONE, signal: exchange.signal.aborted };
    });
    client.send(request('x', {}, { id: 1 }));
    expect(await client.answer(1)).toMatchObject({ result: { signal: false } });
  });

  it('does not wait for ever for a client that takes nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { client, server } = servePair(async () => ({ ...DONE, text: 'x'.repeat(100_000) }), {}, { reads: false });
    client.send(request('x', {}, { id: 1 }));
    let isClosed = false;
    void server.closed.then(() => (isClosed = true));
    const closing = server.close();
    await vi.advanceTimersByTimeAsync(9_000);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1_001);
    await closing;
    expect(isClosed).toBe(true);
  });

  it('listens to nothing any more once only its last answers are under way', async () => {
    const text = 'x'.repeat(100_000);
    const { client, server, log } = servePair(async () => ({ ...DONE, text }), {}, { reads: false });
    client.send(request('x', {}, { id: 1 }));
    const drained = server.drain();
    await sleep(5);
    client.send({ jsonrpc: '2.0', id: 1, result: {} }, request('x', {}, { id: 2 }));
    await sleep(5);
    client.read();
    await within(drained, 1000);
    expect((await client.all()).map(({ id }) => id)).toEqual([1]);
    expect(log).toEqual([]);
  });

  it('await using closes', async () => {
    const readable = new PassThrough();
    const writable = new PassThrough();
    const client = new LineClient(writable, readable);
    {
      await using server = serveStream(done, { readable, writable });
      expect(server.closed).toBeInstanceOf(Promise);
    }
    expect(await client.all()).toEqual([]);
    expect(readable.destroyed && writable.destroyed).toBe(true);
  });
});

describe('the end of a listen stream', () => {
  const watch = listen({ toolsListChanged: true }, { id: 'watch' });
  const ends: readonly (readonly [string, (pair: ReturnType<typeof servePair>) => void])[] = [
    ['drain', ({ server }) => void server.drain({ graceMs: 60_000 })],
    ['close', ({ server }) => void server.close()],
    ['the end of the input', ({ client }) => void client.output.end()],
  ];

  it.each(ends)('SUB-14, SUB-15, STDIO-10: at %s its result comes first, then its cancellation', async (_, end) => {
    const pair = servePair(makeServer());
    pair.client.send(watch);
    await pair.client.notification('notifications/subscriptions/acknowledged');
    end(pair);
    const [, result, last, ...rest] = await pair.client.all(1000);
    expect(result).toMatchObject({ id: 'watch', result: { resultType: 'complete' } });
    expect(at(result, 'result', '_meta', SUBSCRIPTION_ID_KEY)).toBe('watch');
    expect(last).toEqual({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'watch' } });
    expect(rest).toEqual([]);
  });

  it('SUB-15: the same when it ends by itself', async () => {
    const { client } = servePair(makeServer({ maxSubscriptionAgeMs: 20 }));
    client.send(watch);
    await client.notification('notifications/cancelled');
    expect(client.messages.map(({ id, method }) => method ?? id)).toEqual([
      'notifications/subscriptions/acknowledged',
      'watch',
      'notifications/cancelled',
    ]);
  });

  it('SUB-15: the same when it fails while it is open, and none when it was refused', async () => {
    const { client } = servePair(async (_request, exchange) => {
      if (client.messages.length > 0) throw new McpError(503, 'All subscriptions are taken');
      await exchange.notify({ method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } });
      throw new McpError(-32603, 'Broken');
    });
    client.send(watch);
    await client.notification('notifications/cancelled');
    client.send({ ...watch, id: 'refused' });
    await client.answer('refused');
    expect(client.messages.map(({ id, method }) => method ?? id)).toEqual([
      'notifications/subscriptions/acknowledged',
      'watch',
      'notifications/cancelled',
      'refused',
    ]);
  });

  it('CANC-11: calls are never cancelled by the server', async () => {
    const { handler, started } = parking();
    const { client, server } = servePair(handler);
    client.send(request('x', {}, { id: 1 }));
    await started;
    await server.close();
    expect((await client.all()).map(({ method }) => method)).toEqual([undefined]);
  });
});

describe('the end of the input', () => {
  it('STDIO-10: closes at once when nothing runs', async () => {
    const { client, server } = servePair(done);
    client.output.end();
    expect(await elapsed(server.closed, 1000)).toBeLessThan(100);
    await client.all();
  });

  it('STDIO-10: lets a running call finish, and sends its result', async () => {
    const { handler, started, release } = parking();
    const { client, server } = servePair(handler);
    client.send(request('x', {}, { id: 1 }));
    await started;
    client.output.end();
    setTimeout(release, 100);
    expect(await client.all()).toMatchObject([{ id: 1, result: { aborted: false } }]);
    await within(server.closed, 1000);
  });

  it('STDIO-10: gives a running call two seconds', async () => {
    let reason: unknown;
    const { client, server } = servePair(async (_request, { signal }) => {
      await aborted(signal);
      reason = signal.reason;
      return DONE;
    });
    client.send(request('x', {}, { id: 1 }));
    client.output.end();
    const took = await elapsed(server.closed, 4000);
    console.log(`fault: a call ran on after the end of the input, closed after ${took.toFixed(0)} ms`);
    expect(took).toBeGreaterThan(1900);
    expect(took).toBeLessThan(3000);
    expect(reason).toBeInstanceOf(McpError);
    expect(await client.all()).toMatchObject([{ id: 1, error: { code: 503 } }]);
  });
});

describe('a client that is gone', () => {
  it.each(['input', 'output'] as const)('aborts what runs when its %s breaks', async (side) => {
    const started = deferred<AbortSignal>();
    const { client, server, log } = servePair(async (_request, { signal }) => {
      started.resolve(signal);
      await aborted(signal);
      throw new Error('nobody hears of this');
    });
    client.send(request('x', {}, { id: 1 }));
    const signal = await started.promise;
    client[side].destroy(new Error('broken'));
    await within(server.closed, 1000);
    expect(signal.reason).toMatchObject({ name: 'AbortError' });
    expect(client.messages).toEqual([]);
    expect(log.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it.each(['readable', 'writable'] as const)('breaks its %s, and nobody else listens', async (side) => {
    const streams = { readable: new PassThrough(), writable: new PassThrough() };
    const server = serveStream(done, streams);
    streams[side].destroy(new Error('broken'));
    await within(server.closed, 1000);
    expect(streams.readable.destroyed && streams.writable.destroyed).toBe(true);
  });

  it('was gone before it was served', async () => {
    const readable = new PassThrough();
    const writable = new PassThrough();
    readable.destroy();
    await once(readable, 'close');
    await within(serveStream(done, { readable, writable }).closed, 1000);
    expect(writable.destroyed).toBe(true);
  });
});
