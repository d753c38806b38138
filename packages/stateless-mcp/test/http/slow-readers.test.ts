import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { type McpHandler, McpError } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { at, callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import { deferred, DONE, elapsed, recordingLogger, requestText, serveNode, sleep, within } from './harness.ts';

const MIB = 1024 * 1024;
const LINES = 100_000;

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

function heldMemory(): number {
  if (typeof collectGarbage === 'function') collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const logged = { meta: { [LOG_LEVEL_KEY]: 'debug', progressToken: 'token' } };
const dataOf = (event: unknown): unknown => at(event, 'params', 'data', 'line');
const progressOf = (event: unknown): unknown => at(event, 'params', 'progress');

function isGrowing(values: readonly unknown[]): boolean {
  return values.every((value, index) => index === 0 || Number(value) > Number(values[index - 1]));
}

describe('a reader that never reads while the handler does not wait', () => {
  it('costs bounded memory: the oldest logs are dropped and counted, the newest progress and the result arrive', async () => {
    const logger = recordingLogger();
    const emitted = deferred<number>();
    const resumed = deferred();
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('shout', {}, async (_input, { log, progress }) => {
      const before = heldMemory();
      const padding = 'x'.repeat(200);
      for (let line = 1; line <= LINES; line++) {
        void log('info', { line, padding });
        void progress(line, LINES);
      }
      emitted.resolve(heldMemory() - before);
      await resumed.promise;
      return 'the result';
    });
    const { connect, listener } = await serveNode(server, { logger });
    const client = await connect();
    client.socket.pause();
    void client.write(requestText(callTool('shout', {}, logged)));
    const grown = await within(emitted.promise, 10_000);
    console.log(
      `fault: ${LINES} log lines for a reader that does not read, memory grew by ${(grown / MIB).toFixed(1)} MiB`,
    );
    expect(grown).toBeLessThan(16 * MIB);

    resumed.resolve();
    await sleep(10);
    client.socket.resume();
    const { text } = await client.largeResponse();
    const events = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: '))
      .map((frame): unknown => JSON.parse(frame.slice(6)));
    expect(events.at(-1)).toMatchObject({ result: { content: [{ text: 'the result' }] } });
    const lines = events.map(dataOf).filter((line) => line !== undefined);
    expect(isGrowing(lines)).toBe(true);
    expect(lines.at(-1)).toBe(LINES);
    const steps = events.map(progressOf).filter((step) => step !== undefined);
    expect(isGrowing(steps)).toBe(true);
    expect(steps.at(-1)).toBe(LINES);
    const dropped = logger.lines.map(({ message }) => /^(\d+) log messages/.exec(message)?.[1]).find(Boolean);
    console.log(`fault: ${lines.length} log lines arrived, ${dropped} were dropped`);
    expect(Number(dropped)).toBe(LINES - lines.length);
    expect(lines.length).toBeLessThan(LINES);
    expect(await elapsed(listener.drain(), 1000)).toBeLessThan(100);
  });
});

describe('a reader that never reads what must not be dropped', () => {
  it.each([
    ['many short events', 25_000, ''],
    ['fewer long ones', 20_000, 'x'.repeat(500)],
  ])('is given up, once at most, and holds nobody up: %s', async (_what, count, padding) => {
    const logger = recordingLogger();
    const emitted = deferred<number>();
    const { connect, listener, send } = await serveNode(
      async ({ params }, exchange) => {
        const started = performance.now();
        for (let turn = 0; turn < count && params.flood === true; turn++) {
          const uri = `note://${turn}/${padding}`;
          void exchange.notify({ method: 'notifications/resources/updated', params: { uri } });
        }
        if (params.flood === true) emitted.resolve(performance.now() - started);
        return DONE;
      },
      { logger },
    );
    const client = await connect();
    client.socket.pause();
    void client.write(requestText(request('tools/list', { flood: true })));
    const took = await within(emitted.promise, 25_000);
    console.log(`fault: ${count} events for a reader that does not read took ${took.toFixed(0)} ms`);
    expect(took).toBeLessThan(1500);
    expect(logger.lines.length).toBeLessThanOrEqual(1);
    expect((await send(request('tools/list'))).status).toBe(200);
    expect(await elapsed(listener.drain({ graceMs: 100 }), 3000)).toBeLessThan(1500);
  });

  it('does not make the logs behind it expensive', async () => {
    const emitted = deferred<number>();
    const { connect } = await serveNode(async (_request, exchange) => {
      const started = performance.now();
      for (let turn = 0; turn < 5000; turn++) {
        const uri = `note://${turn}/${'x'.repeat(100)}`;
        void exchange.notify({ method: 'notifications/resources/updated', params: { uri } });
      }
      for (let turn = 0; turn < 20_000; turn++) {
        void exchange.notify({ method: 'notifications/message', params: { level: 'info', data: turn } });
      }
      emitted.resolve(performance.now() - started);
      return DONE;
    });
    const client = await connect();
    client.socket.pause();
    void client.write(requestText(request('tools/list')));
    const took = await within(emitted.promise, 25_000);
    console.log(`fault: 20,000 logs behind 5,000 events that are kept took ${took.toFixed(0)} ms`);
    expect(took).toBeLessThan(1500);
  });
});

describe('a reader that pauses while the handler waits', () => {
  it('slows the handler down and loses nothing', async () => {
    const total = 12_000;
    let produced = 0;
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('talk', {}, async (_input, { log }) => {
      const padding = 'x'.repeat(1000);
      for (produced = 0; produced < total; produced++) {
        const full = log('info', { line: produced + 1, padding });
        if (full !== undefined) await full;
      }
      return 'done';
    });
    const { connect } = await serveNode(server);
    const client = await connect();
    client.socket.pause();
    void client.write(requestText(callTool('talk', {}, logged)));
    await sleep(300);
    const before = produced;
    await sleep(150);
    console.log(`fault: reader paused, producer stopped after ${before} of ${total} lines`);
    expect(produced).toBe(before);
    expect(before).toBeLessThan(total);
    client.socket.resume();
    const { text } = await client.largeResponse();
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
    expect(frames.length).toBe(total + 1);
    expect(isGrowing(frames.slice(0, -1).map((frame) => dataOf(JSON.parse(frame.slice(6)))))).toBe(true);
    expect(frames.at(-1)).toContain('"result"');
  });
});

/** Notifies until it is asked to wait, and then waits. */
const fillAndWait =
  (settled: (outcome: string) => void): McpHandler =>
  async (_request, exchange) => {
    const data = 'x'.repeat(16 * 1024);
    for (;;) {
      if (exchange.signal.aborted) break;
      await exchange.notify({ method: 'notifications/message', params: { level: 'info', data } });
    }
    settled('aborted');
    throw new McpError(-32603, 'given up');
  };

describe('a reader that takes nothing any more', () => {
  it('is ended after readerTimeoutMs, and its handler aborted', async () => {
    const logger = recordingLogger();
    const settled = deferred<string>();
    const { connect, listener } = await serveNode(fillAndWait(settled.resolve), { readerTimeoutMs: 300, logger });
    const client = await connect();
    client.socket.pause();
    void client.write(requestText(request('tools/list')));
    const took = await elapsed(settled.promise, 3000);
    console.log(`fault: reader took nothing, ended after ${took.toFixed(0)} ms`);
    expect(took).toBeGreaterThan(250);
    expect(took).toBeLessThan(1500);
    expect(logger.lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('tools/list') }]);
    expect(await elapsed(listener.drain(), 1000)).toBeLessThan(100);
  });

  it('does not keep the exchange of a large JSON answer open', async () => {
    const logger = recordingLogger();
    const { connect, listener } = await serveNode(async () => ({ ...DONE, text: 'x'.repeat(15 * MIB) }), {
      readerTimeoutMs: 300,
      logger,
    });
    const client = await connect();
    client.socket.pause();
    void client.write(requestText(request('tools/list')));
    await sleep(200);
    console.log('fault: reader takes nothing of an answer of 15 MiB');
    expect(await elapsed(listener.drain({ graceMs: 10_000 }), 3000)).toBeLessThan(1500);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('is not one that reads slowly but steadily', async () => {
    const body = 'x'.repeat(12 * MIB);
    const { connect } = await serveNode(async () => ({ ...DONE, body }), { readerTimeoutMs: 600 });
    const client = await connect();
    let taken = 0;
    client.socket.on('data', (bytes: Buffer) => {
      taken += bytes.length;
      client.socket.pause();
    });
    // About 12 MiB in 1.5 s or more, and never still for long.
    const pace = setInterval(() => client.socket.resume(), 8);
    void client.write(requestText(request('tools/list')));
    await client.until(() => taken > body.length, 8000).finally(() => clearInterval(pace));
    console.log(`fault: slow reader took ${(taken / MIB).toFixed(1)} MiB`);
    expect(taken).toBeGreaterThan(body.length);
  });

  it('is nobody who waits for a handler that is silent', async () => {
    const end = deferred();
    const { connect } = await serveNode(
      async (_request, exchange) => {
        await exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 'first' } });
        await end.promise;
        return DONE;
      },
      { readerTimeoutMs: 100 },
    );
    const client = await connect();
    void client.write(requestText(request('tools/list')));
    await sleep(400);
    end.resolve();
    expect((await client.untilEvents(2))[1]).toMatchObject({ result: DONE });
  });
});
