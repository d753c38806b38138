import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpEndpoint, McpHandler } from '../../src/protocol/index.ts';
import { serveStream, type StreamServer } from '../../src/stdio/serve-stream.ts';
import type { StreamOptions } from '../../src/stdio/stream-options.ts';
import { aborted, deferred, DONE, eventually, parking, within } from '../http/harness.ts';
import { at, notification, request } from '../wire/messages.ts';
import { LineClient } from './line-client.ts';

const MIB = 1024 * 1024;

interface Served {
  readonly servers: readonly StreamServer[];
  open(reads?: boolean): Promise<{ readonly client: LineClient; readonly socket: Socket }>;
}

type Place = 'TCP' | 'a Unix socket';
const places: readonly Place[] = process.platform === 'win32' ? ['TCP'] : ['a Unix socket', 'TCP'];

/** The way users do it: a server of Node's with its defaults. */
async function serve(place: Place, endpoint: McpEndpoint | McpHandler, options?: StreamOptions): Promise<Served> {
  const servers: StreamServer[] = [];
  const listener = createServer((socket) => void servers.push(serveStream(endpoint, socket, options)));
  const address = await listenAt(listener, place);
  const sockets = new Set<Socket>();
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map(async ({ closed }) => within(closed, 5000)));
    listener.close();
  });
  return {
    servers,
    async open(reads = true) {
      const socket = connect({ ...address, allowHalfOpen: true });
      sockets.add(socket);
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      return { client: new LineClient(socket, socket, reads), socket };
    },
  };
}

async function listenAt(listener: Server, place: Place): Promise<{ path: string } | { port: number; host: string }> {
  if (place === 'TCP') {
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return { port: (listener.address() as AddressInfo).port, host: '127.0.0.1' };
  }
  const folder = await mkdtemp(join(tmpdir(), 'stream-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const path = join(folder, 'socket');
  await new Promise<void>((resolve) => listener.listen(path, resolve));
  return { path };
}

const echo: McpHandler = async ({ method, params }) => ({ ...DONE, method, params });

describe.each(places)('%s', (place) => {
  it('STDIO-13, STDIO-14: carries the protocol as it is', async () => {
    const { open } = await serve(place, echo);
    const { client } = await open();
    client.send(request('x', { text: '漢🏔' }, { id: 1 }), request('y', {}, { id: 2 }));
    expect(at(await client.answer(1), 'result', 'params', 'text')).toBe('漢🏔');
    expect(await client.answer(2)).toMatchObject({ result: { method: 'y' } });
  });

  it('CANC-06: ids belong to their connection', async () => {
    const { handler, release } = parking();
    const { open } = await serve(place, handler);
    const [first, second] = [await open(), await open()];
    for (const { client } of [first, second]) client.send(request('x', {}, { id: 1 }));
    first.client.send(notification('notifications/cancelled', { requestId: 1 }));
    first.client.send(request('x', {}, { id: 2 }));
    setTimeout(release, 20);
    expect(await second.client.answer(1)).toMatchObject({ result: { aborted: false } });
    await first.client.answer(2);
    expect(first.client.messages).toHaveLength(1);
  });

  it('STDIO-10: a client that has closed its side still gets its answers', async () => {
    const { handler, started, release } = parking();
    const { open, servers } = await serve(place, handler);
    const { client, socket } = await open();
    client.send(request('x', {}, { id: 1 }));
    await started;
    socket.end();
    setTimeout(release, 50);
    expect(await client.all()).toMatchObject([{ id: 1, result: { aborted: false } }]);
    await within(servers[0]?.closed ?? Promise.reject(new Error('not served')), 2000);
  });

  it('a client that is cut off has its calls aborted', async () => {
    const started = deferred<AbortSignal>();
    const { open, servers } = await serve(place, async (_request, { signal }) => {
      started.resolve(signal);
      await aborted(signal);
      return DONE;
    });
    const { client, socket } = await open();
    client.send(request('x', {}, { id: 1 }));
    const signal = await started.promise;
    if (place === 'TCP') socket.resetAndDestroy();
    else socket.destroy();
    await within(aborted(signal), 4000);
    expect(client.messages).toEqual([]);
    await within(servers[0]?.closed ?? Promise.reject(new Error('not served')), 1000);
  });

  it('carries 15 MB to a client that comes late to reading', async () => {
    const { open, servers } = await serve(place, async () => ({ ...DONE, text: 'x'.repeat(15 * MIB) }));
    const { client, socket } = await open(false);
    client.send(request('x', {}, { id: 1 }));
    socket.end();
    await eventually(() => servers.length > 0);
    setTimeout(() => client.read(), 300);
    expect(String(at((await client.all())[0], 'result', 'text'))).toHaveLength(15 * MIB);
  });

  it('drain takes nothing from a client that goes on asking', async () => {
    const { open, servers } = await serve(place, async ({ method }) => ({
      ...DONE,
      text: method === 'big' ? 'x'.repeat(8 * MIB) : '',
    }));
    const { client, socket } = await open(false);
    client.send(request('x', {}, { id: 1 }));
    await eventually(() => servers.length > 0 && socket.readableLength > 0);
    client.send(request('big', {}, { id: 'big' }));
    await eventually(() => socket.readableLength > 1000);
    const pestering = setInterval(() => client.send(request('x', { text: 'x'.repeat(10_000) })), 1);
    onTestFinished(() => clearInterval(pestering));
    const drained = servers[0]?.drain();
    setTimeout(() => client.read(), 100);
    expect(String(at(await client.answer('big'), 'result', 'text'))).toHaveLength(8 * MIB);
    await within(client.ended, 5000);
    await within(drained ?? Promise.reject(new Error('not served')), 5000);
  });
});
