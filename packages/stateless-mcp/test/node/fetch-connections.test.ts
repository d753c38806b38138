import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NodeFetch } from '../../src/node/node-fetch.ts';
import { client, post, textOf, turns } from './client.ts';
import { type RawConnection, type RawServer, rawServer, rawTlsServer } from './raw-server.ts';
import { selfSigned } from './self-signed.ts';

/** Answers each request of a connection with the number of the connection. */
async function serve(connection: RawConnection, index: number, ...headers: readonly string[]): Promise<void> {
  for (;;) {
    await connection.request();
    connection.answer(String(index), ...headers);
  }
}

/** Two connections that were used: the agent takes the second one. */
async function twoUnused(
  fetch: NodeFetch,
  server: RawServer,
  from = 0,
): Promise<readonly [RawConnection, RawConnection]> {
  const both = [post(fetch, server.url), post(fetch, server.url)];
  const [older, newer] = [await server.connection(from), await server.connection(from + 1)];
  await Promise.all([older.request(), newer.request()]);
  for (const connection of [older, newer]) {
    connection.answer('');
    await turns();
  }
  await Promise.all(both);
  return [older, newer];
}

/** The sockets that clients of this process open from now on. */
function clientSockets(): readonly Socket[] {
  const sockets: Socket[] = [];
  const opened = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
  subscribe('net.client.socket', opened);
  onTestFinished(() => void unsubscribe('net.client.socket', opened));
  return sockets;
}

/** The clock stands still but for `pass`, which lets no timer run: as if this process had been busy, or asleep. */
function heldClock(): { pass(ms: number): void } {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return { pass: (ms) => vi.setSystemTime(Date.now() + ms) };
}

describe('connections', () => {
  it('are used again', async () => {
    const server = await rawServer(serve);
    const fetch = client();
    for (let count = 0; count < 5; count++) expect(await textOf(await post(fetch, server.url))).toBe('0');
    expect(server.connections).toHaveLength(1);
  });

  it('are used again behind TLS, for which an own authority can be trusted', async () => {
    const { key, cert } = selfSigned();
    const server = await rawTlsServer({ key, cert }, serve);
    const fetch = client({ ca: cert });
    for (let count = 0; count < 5; count++) expect(await textOf(await post(fetch, server.url))).toBe('0');
    expect(server.connections).toHaveLength(1);
    expect(await textOf(await post(client({ ca: ['', cert].filter(Boolean) }), server.url))).toBe('1');
  });

  it('are used again the newest first, so that those beyond need grow old', async () => {
    const server = await rawServer();
    const fetch = client();
    const [, newer] = await twoUnused(fetch, server);
    const next = post(fetch, server.url);
    await newer.request();
    newer.answer('newer');
    expect(await textOf(await next)).toBe('newer');
  });

  it('are one for each origin', async () => {
    const [a, b] = [await rawServer(serve), await rawServer(serve)];
    const fetch = client();
    for (const { url } of [a, b, a, b]) await textOf(await post(fetch, url));
    expect([a.connections.length, b.connections.length]).toEqual([1, 1]);
  });

  it('are not used again when the server says that it closes them', async () => {
    const server = await rawServer((connection, index) => serve(connection, index, 'Connection: close'));
    const fetch = client();
    for (const expected of ['0', '1']) expect(await textOf(await post(fetch, server.url))).toBe(expected);
    await (
      await server.connection(0)
    ).closed;
  });

  it.each([
    ['no announcement', [], 4000],
    ['a longer time', ['Keep-Alive: timeout=60, max=100'], 4000],
    ['a shorter time', ['Keep-Alive: max=100, timeout=3'], 2000],
  ])('are not used again when they are too old, whatever timers did: %s', async (_, headers, limitMs) => {
    const clock = heldClock();
    const server = await rawServer((connection, index) => serve(connection, index, ...headers));
    const fetch = client();
    const next = async (): Promise<string> => textOf(await post(fetch, server.url));
    expect(await next()).toBe('0');
    await turns();
    clock.pass(limitMs - 1);
    expect(await next()).toBe('0');
    await turns();
    clock.pass(limitMs);
    expect(await next()).toBe('1');
    await (
      await server.connection(0)
    ).closed;
    // A clock that was put back tells nothing.
    await turns();
    clock.pass(-1);
    expect(await next()).toBe('2');
  });

  it('are not kept if the server keeps them for a second or less', async () => {
    const server = await rawServer((connection, index) => serve(connection, index, 'Keep-Alive: timeout=1'));
    const fetch = client();
    for (const expected of ['0', '1']) {
      expect(await textOf(await post(fetch, server.url))).toBe(expected);
      await (
        await server.connection(Number(expected))
      ).closed;
    }
  });

  it('are closed when nobody used them for 4 s', async () => {
    const server = await rawServer(serve);
    const fetch = client();
    const used = [post(fetch, server.url), post(fetch, server.url)];
    for (const response of await Promise.all(used)) await textOf(response);
    const started = performance.now();
    await Promise.all(server.connections.map(({ socket }) => once(socket, 'end')));
    const waitedMs = performance.now() - started;
    expect(waitedMs).toBeGreaterThan(3900);
    expect(waitedMs).toBeLessThan(4900);
  });

  it('are closed each in its time, by one timer that ends with the client', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = await rawServer();
    const fetch = client();
    const [older, newer] = await twoUnused(fetch, server);
    vi.advanceTimersByTime(3000);
    const next = post(fetch, server.url);
    await newer.request();
    newer.answer('');
    await textOf(await next);
    await turns();
    vi.advanceTimersByTime(1000);
    await older.closed;
    vi.advanceTimersByTime(2999);
    await turns();
    expect(newer.socket.readableEnded).toBe(false);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    await newer.closed;
    expect(vi.getTimerCount()).toBe(0);

    await twoUnused(fetch, server, 2);
    expect(vi.getTimerCount()).toBe(1);
    fetch.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('do not keep the process alive when they are unused', async () => {
    const server = await rawServer(serve);
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => setTimer.mockRestore());
    const before = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    await textOf(await post(client(), server.url));
    await turns();
    const after = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    // That of the server alone.
    expect(after - before).toBe(1);
    expect(setTimer.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false]);
  });

  it('that the server closed are not used again, those behind them are', async () => {
    const sockets = clientSockets();
    const server = await rawServer();
    const fetch = client();
    const [older, newer] = await twoUnused(fetch, server);
    const closing = sockets.find(({ localPort }) => localPort === newer.socket.remotePort);
    newer.socket.end();
    // Its end has been read, and that is all: it stands in the list of connections to use until it is closed.
    await once(closing as Socket, 'end');
    const next = post(fetch, server.url);
    await older.request();
    older.answer('older');
    expect(await textOf(await next)).toBe('older');
  });

  it('on which the server spoke without being asked are not used again', async () => {
    const server = await rawServer(serve);
    const fetch = client();
    expect(await textOf(await post(fetch, server.url))).toBe('0');
    (await server.connection(0)).write('HTTP/1.1 408 Request Timeout', 'Content-Length: 0', '', '');
    await turns();
    const response = await post(fetch, server.url);
    expect([response.status, await textOf(response)]).toEqual([200, '1']);
  });
});
