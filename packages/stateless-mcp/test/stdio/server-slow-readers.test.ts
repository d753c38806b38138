import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { McpHandler } from '../../src/protocol/index.ts';
import { serveStream } from '../../src/stdio/serve-stream.ts';
import { aborted, deferred, DONE, eventually, floodUntilFull, sleep, within } from '../http/harness.ts';
import { at, LOG_LEVEL_KEY, notification, request } from '../wire/messages.ts';
import { servePair } from './line-client.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const logged = { meta: { [LOG_LEVEL_KEY]: 'info', progressToken: 1 } };

function log(data: unknown): { method: 'notifications/message'; params: { level: 'info'; data: unknown } } {
  return { method: 'notifications/message', params: { level: 'info', data } };
}

describe('a client that does not read', () => {
  it('makes those who wait for it wait, and hears everything when it reads', async () => {
    const blocked = deferred();
    const { client } = servePair(
      async (_request, exchange) => {
        for (let index = 0; index < 200; index++) {
          const full = exchange.notify(log([index, 'x'.repeat(8 * KIB)]));
          if (full !== undefined) blocked.resolve();
          await full;
        }
        return DONE;
      },
      {},
      { reads: false },
    );
    client.send(request('x', {}, { id: 1, ...logged }));
    await within(blocked.promise, 1000);
    await sleep(20);
    expect(client.input.readableLength).toBeLessThan(200 * KIB);
    client.read();
    await client.answer(1);
    expect(client.messages.slice(0, -1).map((message) => at(message, 'params', 'data', 0))).toEqual(
      Array.from({ length: 200 }, (_, index) => index),
    );
  });

  it('gets the newest progress, and is told how many log messages it missed', async () => {
    const noted = deferred();
    const release = deferred();
    const { client, log: entries } = servePair(
      async (_request, exchange) => {
        void exchange.notify(log('x'.repeat(128 * KIB)));
        for (let index = 0; index < 100; index++) {
          void exchange.notify(log([index, 'x'.repeat(8 * KIB)]));
          void exchange.notify({ method: 'notifications/progress', params: { progress: index } });
        }
        noted.resolve();
        await release.promise;
        return DONE;
      },
      {},
      { reads: false },
    );
    client.send(request('x', {}, { id: 1, ...logged }));
    await noted.promise;
    release.resolve();
    client.read();
    await client.answer(1);
    const progress = client.messages.filter(({ method }) => method === 'notifications/progress');
    expect(progress.map((message) => at(message, 'params', 'progress'))).toEqual([99]);
    const numbers = client.messages.map((message) => at(message, 'params', 'data', 0)).filter(Number.isInteger);
    expect(numbers.length).toBeLessThan(100);
    expect(numbers.at(-1)).toBe(99);
    expect(entries.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${100 - numbers.length} log messages`) as unknown as string,
    ]);
  });

  it('never loses a result, nor the order of what belongs to one request', async () => {
    const { client } = servePair(
      async (_request, exchange) => {
        void exchange.notify(log('x'.repeat(128 * KIB)));
        void exchange.notify(log('held'));
        return { ...DONE, text: 'x'.repeat(MIB) };
      },
      {},
      { reads: false },
    );
    for (let id = 1; id <= 5; id++) client.send(request('x', {}, { id, ...logged }));
    await sleep(20);
    client.read();
    for (let id = 1; id <= 5; id++) expect(String(at(await client.answer(id), 'result', 'text'))).toHaveLength(MIB);
    expect(client.messages).toHaveLength(15);
  });

  it('is not read from either, while more than a bound waits for it', async () => {
    let served = 0;
    const { client } = servePair(
      async () => {
        served += 1;
        return { ...DONE, text: 'x'.repeat(100 * KIB) };
      },
      {},
      { reads: false },
    );
    const total = 400;
    for (let id = 1; id <= total; id++) {
      client.send(request('x', { text: 'x'.repeat(KIB) }, { id }));
      if (id % 20 === 0) await new Promise(setImmediate);
    }
    await sleep(50);
    expect(served).toBeLessThan(100);
    client.read();
    await client.answer(total, 20_000);
    expect(served).toBe(total);
    expect(client.messages).toHaveLength(total);
  });

  it('CANC-01: can cancel while it is flooded, as soon as it reads', async () => {
    const started = deferred<AbortSignal>();
    const { client } = servePair(
      async (received, exchange) => {
        started.resolve(exchange.signal);
        return floodUntilFull(received, exchange);
      },
      {},
      { reads: false },
    );
    client.send(request('x', {}, { id: 1, ...logged }));
    const signal = await started.promise;
    client.send(notification('notifications/cancelled', { requestId: 1 }));
    client.read();
    await within(aborted(signal), 2000);
    expect(signal.reason).toMatchObject({ name: 'AbortError' });
  });

  it('does not let one request have the pipe for itself', async () => {
    const isHeld = deferred();
    const { client } = servePair(
      async ({ method }, exchange) => {
        if (method === 'first') void exchange.notify(log('x'.repeat(100 * KIB)));
        for (let index = 0; index < 10; index++) void exchange.notify(log([method, 'x'.repeat(20 * KIB)]));
        if (method === 'last') isHeld.resolve();
        return new Promise(() => {});
      },
      {},
      { reads: false },
    );
    for (const name of ['first', 'a', 'b', 'last']) client.send(request(name, {}, { id: name, ...logged }));
    await isHeld.promise;
    client.read();
    const nameOf = (message: unknown): unknown => at(message, 'params', 'data', 0);
    await client.message(() => client.messages.length === 41);
    const names = client.messages.slice(1).map(nameOf);
    for (let turn = 0; turn < 10; turn++) {
      expect(names.slice(turn * 4, turn * 4 + 4).sort()).toEqual(['a', 'b', 'first', 'last']);
    }
  });

  it('gives up a request whose notifications may neither be dropped nor kept', async () => {
    const started = deferred<AbortSignal>();
    const { client, log: entries } = servePair(
      async (_request, exchange) => {
        started.resolve(exchange.signal);
        const params = { uri: `x:${'x'.repeat(100 * KIB)}` };
        for (let index = 0; index < 100; index++)
          void exchange.notify({ method: 'notifications/resources/updated', params });
        return DONE;
      },
      {},
      { reads: false },
    );
    client.send(request('x', {}, { id: 1 }));
    expect((await started.promise).aborted).toBe(true);
    client.read();
    expect(await client.answer(1)).toMatchObject({ error: { code: -32603 } });
    expect(entries[0]).toMatchObject({ level: 'warn' });
  });

  it('frees those who wait when it is gone', async () => {
    const { client, server } = servePair(floodUntilFull, {}, { reads: false });
    client.send(request('x', {}, { id: 1, ...logged }));
    await eventually(() => client.input.readableLength > 0);
    client.input.destroy();
    await within(server.closed, 1000);
    expect(client.messages).toEqual([]);
  });

  it('frees those who wait when their request is cancelled', async () => {
    const blocked = deferred();
    const freed = deferred();
    const flood: McpHandler = async (_request, exchange) => {
      for (;;) {
        const full = exchange.notify(log('x'.repeat(50 * KIB)));
        if (full !== undefined) {
          blocked.resolve();
          await full;
        }
        if (exchange.signal.aborted) break;
      }
      freed.resolve();
      return DONE;
    };
    const { client } = servePair(flood, {}, { reads: false });
    client.send(request('x', {}, { id: 1, ...logged }));
    await within(blocked.promise, 1000);
    client.send(notification('notifications/cancelled', { requestId: 1 }));
    await within(freed.promise, 1000);
    expect(client.messages).toEqual([]);
  });

  it.each([16, 4 * MIB])('waits for room in a stream that keeps %d bytes itself', async (highWaterMark) => {
    const count = 100;
    let waits = 0;
    const { lines } = await serveSlowly(highWaterMark, async (_request, exchange) => {
      for (let index = 0; index < count; index++) {
        const full = exchange.notify(log([index, 'x'.repeat(100 * KIB)]));
        if (full !== undefined) waits += 1;
        await full;
      }
      return DONE;
    });
    expect(waits).toBeGreaterThan(0);
    expect(lines).toHaveLength(count + 1);
  });

  it('keeps the order of what did not wait', async () => {
    const count = 200;
    const { lines } = await serveSlowly(16 * KIB, async (_request, exchange) => {
      for (let index = 0; index < count; index++) {
        const params = { uri: `x:${index}`, filling: 'x'.repeat(10 * KIB) };
        void exchange.notify({ method: 'notifications/resources/updated', params });
        await new Promise(setImmediate);
      }
      return DONE;
    });
    expect(lines.slice(0, -1).map((line) => at(line, 'params', 'uri'))).toEqual(
      Array.from({ length: count }, (_, index) => `x:${index}`),
    );
  });
});

/** One request whose client takes a chunk after the other, and some time for each. Resolves with what it was sent. */
async function serveSlowly(
  highWaterMark: number,
  handler: McpHandler,
): Promise<{ readonly lines: readonly unknown[] }> {
  const written: string[] = [];
  const writable = new Writable({
    highWaterMark,
    write(chunk: Buffer, _encoding, callback) {
      written.push(chunk.toString());
      setTimeout(callback, 2);
    },
  });
  const readable = new PassThrough();
  await using server = serveStream(handler, { readable, writable });
  readable.end(`${JSON.stringify(request('x', {}, { id: 1, ...logged }))}\n`);
  await within(server.closed, 10_000);
  const lines = written.join('').split('\n');
  return { lines: lines.filter((line) => line !== '').map((line): unknown => JSON.parse(line)) };
}
