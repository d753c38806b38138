import { describe, expect, it, onTestFinished } from 'vitest';
import { type HttpServer, serveHttp } from '../../src/node/index.ts';
import type { McpHandler } from '../../src/protocol/index.ts';
import { request } from '../wire/messages.ts';
import {
  connectTo,
  DONE,
  elapsed,
  floodUntilFull,
  parking,
  requestText,
  silentLogger,
  sleep,
  within,
} from './harness.ts';

const message = request('tools/list');
const MIB = 1024 * 1024;

async function served(endpoint: McpHandler): Promise<HttpServer> {
  const server = await serveHttp(endpoint, { port: 0, logger: silentLogger });
  onTestFinished(() => void server.close());
  return server;
}

describe('serveHttp', () => {
  it('drain finishes calls, closes the port, and keeps no connection', async () => {
    const { handler, started, release } = parking();
    const server = await served(handler);
    const idle = await connectTo(server.port);
    const client = await connectTo(server.port);
    void client.write(requestText(message));
    await started;
    const draining = server.drain({ graceMs: 5000 });
    await sleep(20);
    await expect(connectTo(server.port)).rejects.toThrow('ECONNREFUSED');
    release();
    expect((await client.response()).status).toBe(200);
    await within(draining, 1000);
    await within(Promise.all([client.ended, idle.ended]), 1000);
  });

  it('drain does not cut off an answer that its reader is still taking', async () => {
    const text = 'x'.repeat(15 * MIB);
    const server = await served(async () => ({ ...DONE, text }));
    const client = await connectTo(server.port);
    client.socket.pause();
    void client.write(requestText(message));
    await sleep(200);
    console.log('fault: drained while a slow reader is in the middle of an answer of 15 MiB');
    const draining = server.drain({ graceMs: 5000 });
    await sleep(50);
    client.socket.resume();
    await within(client.ended, 5000);
    expect(client.partial()?.text.length).toBeGreaterThan(text.length);
    await within(draining, 1000);
  });

  it('drain answers 503 on connections that are open already', async () => {
    const { handler, started, release } = parking();
    const server = await served(handler);
    const idle = await connectTo(server.port);
    void idle.write(requestText(undefined, { method: 'GET' }));
    expect((await idle.response()).status).toBe(405);
    const client = await connectTo(server.port);
    void client.write(requestText(message));
    await started;
    const draining = server.drain({ graceMs: 5000 });
    await sleep(20);
    void idle.write(requestText(message));
    const { status, headers } = await idle.response();
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    release();
    await within(draining, 1000);
  });

  it('close aborts what runs, at once', async () => {
    const { handler, started } = parking();
    const server = await served(handler);
    const client = await connectTo(server.port);
    void client.write(requestText(message));
    await started;
    console.log('fault: closed with a running call');
    expect(await elapsed(server.close(), 2000)).toBeLessThan(500);
    expect((await client.response()).status).toBe(503);
  });

  it('close makes an end of a drain that takes long', async () => {
    const { handler, started } = parking();
    const server = await served(handler);
    const client = await connectTo(server.port);
    void client.write(requestText(message));
    await started;
    const draining = server.drain({ graceMs: 10_000 });
    expect(await elapsed(Promise.all([server.close(), draining]), 2000)).toBeLessThan(1000);
  });

  it('close does not wait for handlers that never settle nor for readers that take nothing', async () => {
    const never = await served(async () => new Promise(() => {}));
    void (await connectTo(never.port)).write(requestText(message));
    await sleep(50);
    console.log('fault: closed with a handler that never settles');
    expect(await elapsed(never.close(), 2000)).toBeLessThan(1000);

    const large = await served(async () => ({ ...DONE, text: 'x'.repeat(15 * MIB) }));
    const client = await connectTo(large.port);
    client.socket.pause();
    void client.write(requestText(message));
    await sleep(200);
    console.log('fault: closed with an answer that its reader does not take');
    expect(await elapsed(large.close(), 2000)).toBeLessThan(1000);

    const streaming = await served(floodUntilFull);
    const other = await connectTo(streaming.port);
    other.socket.pause();
    void other.write(requestText(message));
    await sleep(200);
    console.log('fault: closed with a stream that its reader does not take');
    expect(await elapsed(streaming.close(), 5000)).toBeLessThan(4000);
  });

  it('can be closed twice', async () => {
    const server = await served(async () => DONE);
    expect(await elapsed(Promise.all([server.close(), server.close()]), 2000)).toBeLessThan(1000);
    expect(await elapsed(server.close(), 2000)).toBeLessThan(1000);
  });
});
