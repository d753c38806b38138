import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchHandler } from '../../src/http/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import { elapsed, fetchRequest, requestText, serveNode, silentLogger, sleep } from './harness.ts';

const MIB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

async function heldMemory(): Promise<number> {
  // Twice: finalisers of the first round free more.
  for (let turn = 0; turn < 2; turn++) {
    if (typeof collectGarbage === 'function') collectGarbage();
    await sleep(5);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const warnings: Error[] = [];
const onWarning = (warning: Error): void => void warnings.push(warning);
beforeAll(() => void process.on('warning', onWarning));
afterAll(() => void process.off('warning', onWarning));

const logged = { meta: { [LOG_LEVEL_KEY]: 'debug' } };
const listen = request('subscriptions/listen', { notifications: { toolsListChanged: true } });

function makeServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  server.registerTool('quick', {}, () => 'done');
  server.registerTool('talk', {}, async (_input, { log }) => {
    await log('info', 'hello');
    return 'done';
  });
  server.registerTool('park', { timeoutMs: 60_000 }, async (_input, { signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    return 'cancelled';
  });
  server.registerTool('forever', {}, async () => new Promise(() => {}));
  return server;
}

const kinds = [
  callTool('quick'),
  callTool('talk', {}, logged),
  callTool('park'),
  callTool('forever'),
  listen,
  request('x'),
];
const isEndless = (index: number): boolean => index >= 2 && index <= 4;

describe('after 2,000 requests of all kinds', () => {
  it('nothing is left of them on node', async () => {
    const { connect, send, listener } = await serveNode(makeServer());
    const oneRound = async (): Promise<void> => {
      await Promise.all(
        kinds.map(async (message, index) => {
          const client = await connect();
          void client.write(requestText(message));
          if (isEndless(index)) await sleep(5);
          else await client.response();
          client.socket.destroy();
        }),
      );
      const client = await connect();
      for (let turn = 0; turn < 60; turn++) {
        void client.write(requestText(kinds[turn % 2]));
        await client.response();
      }
      client.socket.destroy();
    };
    for (let round = 0; round < 10; round++) await oneRound();
    const before = await heldMemory();
    for (let round = 0; round < 22; round++) await oneRound();
    const grown = (await heldMemory()) - before;
    console.log(`fault: ${32 * 3} clients left their call; memory grew by ${(grown / MIB).toFixed(2)} MiB`);
    expect(grown).toBeLessThan(6 * MIB);
    expect((await send(callTool('quick'))).status).toBe(200);
    await sleep(20);
    expect(await elapsed(listener.drain({ graceMs: 10_000 }), 1000)).toBeLessThan(100);
  });

  it('nothing is left of them behind Fetch', async () => {
    const { fetch, drain } = fetchHandler(makeServer(), { logger: silentLogger });
    const oneRound = async (): Promise<void> => {
      const fourEach = [...kinds, ...kinds, ...kinds, ...kinds];
      await Promise.all(
        fourEach.map(async (message, index) => {
          const leaving = new AbortController();
          const response = fetch(fetchRequest(message, {}, { signal: leaving.signal }));
          if (!isEndless(index % kinds.length)) {
            await (await response).text();
            return;
          }
          await sleep(1);
          if (message === listen) await (await response).body?.cancel();
          leaving.abort();
        }),
      );
    };
    for (let round = 0; round < 20; round++) await oneRound();
    const before = await heldMemory();
    for (let round = 0; round < 64; round++) await oneRound();
    const grown = (await heldMemory()) - before;
    console.log(`fault: ${64 * 12} callers left their call; memory grew by ${(grown / MIB).toFixed(2)} MiB`);
    expect(grown).toBeLessThan(4 * MIB);
    expect(await elapsed(drain({ graceMs: 10_000 }), 1000)).toBeLessThan(100);
  });
});

it('many open streams share one closing signal without a warning', async () => {
  warnings.length = 0;
  const { connect, listener } = await serveNode(makeServer());
  const clients = await Promise.all(Array.from({ length: 50 }, connect));
  for (const client of clients) void client.write(requestText(listen));
  await Promise.all(clients.map(async (client) => client.untilEvents(1)));
  await listener.drain();
  await sleep(20);
  expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([]);
});

it('one signal of a caller with many requests gets no warning', async () => {
  warnings.length = 0;
  const { handle } = fetchHandler(makeServer(), { logger: silentLogger });
  const incoming = fetchRequest(callTool('quick'));
  const body: unknown = await incoming.clone().json();
  for (let turn = 0; turn < 50; turn++) await handle(incoming, { parsedBody: body });
  await sleep(20);
  expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([]);
});
