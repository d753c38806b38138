import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { client, post, textOf, turns } from './client.ts';
import { type RawConnection, rawServer, rawTlsServer } from './raw-server.ts';
import { selfSigned } from './self-signed.ts';

/** Answers each request of a connection with the number of the connection. */
async function serve(connection: RawConnection, index: number, ...headers: readonly string[]): Promise<void> {
  for (;;) {
    await connection.request();
    connection.answer(String(index), ...headers);
  }
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
    const [first, second] = [post(fetch, server.url), post(fetch, server.url)];
    const [one, two] = [await server.connection(0), await server.connection(1)];
    await Promise.all([one.request(), two.request()]);
    two.answer('two');
    await Promise.race([first, second]).then(textOf);
    await turns();
    one.answer('one');
    await Promise.all([first, second]).then((all) => Promise.all(all.map(textOf)));
    await turns();
    const third = post(fetch, server.url);
    await one.request();
    one.answer('one again');
    expect(await textOf(await third)).toBe('one again');
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

  it('do not keep the process alive when they are unused', async () => {
    const server = await rawServer(serve);
    const before = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    await textOf(await post(client(), server.url));
    await turns();
    const after = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    // That of the server alone.
    expect(after - before).toBe(1);
  });

  it.each([2, 3, 4, 5])(
    'that the server closed are not used again, those behind them are: after %i turns',
    async (count) => {
      const server = await rawServer();
      const fetch = client();
      const both = [post(fetch, server.url), post(fetch, server.url)];
      const [older, newer] = [await server.connection(0), await server.connection(1)];
      await Promise.all([older.request(), newer.request()]);
      for (const connection of [older, newer]) {
        connection.answer('');
        await turns();
      }
      await Promise.all(both);
      newer.socket.end();
      await once(newer.socket, 'finish');
      // The client reads the end in the second turn, and has closed its side some turns later.
      await turns(count);
      const next = post(fetch, server.url);
      await older.request();
      older.answer('older');
      expect(await textOf(await next)).toBe('older');
    },
  );

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
