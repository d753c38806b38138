import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chunksOf, client, failureOf, post, textOf, turns } from './client.ts';
import { type RawConnection, rawServer } from './raw-server.ts';

/** So much waits for a reader; the rest stays with the connection. */
const MAX_QUEUED_BYTES = 65_536;

const STREAM = ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '5', 'hello', ''] as const;

/** Sends the head and a first chunk of an answer that never ends. */
async function stream(connection: RawConnection): Promise<void> {
  await connection.request();
  connection.write(...STREAM);
}

/** A signal that knows how many listen to it. */
function countedSignal(): {
  readonly abort: (reason: unknown) => void;
  readonly signal: AbortSignal;
  listeners(): number;
} {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  vi.spyOn(signal, 'addEventListener').mockImplementation((...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  });
  vi.spyOn(signal, 'removeEventListener').mockImplementation((...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  });
  return { abort: (reason) => controller.abort(reason), signal, listeners: () => listeners };
}

/** Fails if the promise is not settled by the time that what is queued now has run: no I/O happens in between. */
async function settledAtOnce(promise: Promise<unknown>): Promise<unknown> {
  const late = Symbol('late');
  const outcome = promise.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  const first = await Promise.race([outcome, new Promise((resolve) => process.nextTick(resolve, late))]);
  if (first === late) throw new Error('It did not settle at once');
  return first;
}

/** A port of this machine that lets nobody in: its queue is full, and nobody takes connections out of it. */
async function fullPort(): Promise<number> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  onTestFinished(async () => {
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  return port;
}

describe('a signal that aborts ends the request at once, with its reason', () => {
  it('before it began: nothing is sent', async () => {
    const server = await rawServer();
    const reason = new Error('too late');
    await expect(post(client(), server.url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await turns();
    expect(server.connections).toHaveLength(0);
  });

  it('in the moment it began', async () => {
    const server = await rawServer();
    const { abort, signal, listeners } = countedSignal();
    const sending = post(client(), server.url, { signal });
    abort('at once');
    expect(await settledAtOnce(sending)).toBe('at once');
    expect(listeners()).toBe(0);
    await turns(20);
    for (const connection of server.connections) {
      await connection.closed;
      expect(connection.bytes).toBe(0);
    }
  });

  it('in the moment it began, on a connection that was used: the next one has its own answer', async () => {
    const server = await rawServer(async (connection, index) => {
      for (;;) {
        const request = await connection.request();
        connection.answer(`${index}${request.slice(-1)}`);
      }
    });
    const fetch = client();
    expect(await textOf(await post(fetch, server.url, { body: 'a' }))).toBe('0a');
    await turns();
    const controller = new AbortController();
    const sending = post(fetch, server.url, { signal: controller.signal, body: 'b' });
    controller.abort('at once');
    expect(await settledAtOnce(sending)).toBe('at once');
    expect(await textOf(await post(fetch, server.url, { body: 'c' }))).toMatch(/^\dc$/);
  });

  it('while its name is looked up', async () => {
    const { abort, signal, listeners } = countedSignal();
    const sending = post(client(), 'http://no-such-host.invalid/', { signal });
    await new Promise<void>((resolve) => process.nextTick(resolve));
    abort('in dns');
    expect(await settledAtOnce(sending)).toBe('in dns');
    expect(listeners()).toBe(0);
  });

  it('while it connects', async () => {
    const url = `http://127.0.0.1:${await fullPort()}/`;
    const fetch = client();
    const attempts = Array.from({ length: 8 }, () => {
      const counted = countedSignal();
      return { ...counted, sending: post(fetch, url, { signal: counted.signal }) };
    });
    const pending = () => process.getActiveResourcesInfo().filter((name) => name === 'ConnectWrap').length;
    await turns(50);
    // The first ones are in the queue, for the last ones there is no room.
    expect(pending()).toBeGreaterThan(0);
    for (const { abort, sending, listeners } of attempts) {
      abort('in connect');
      expect(await settledAtOnce(sending)).toBe('in connect');
      expect(listeners()).toBe(0);
    }
    await turns();
    expect(pending()).toBe(0);
  });

  it('while the connection is being secured', async () => {
    const server = await rawServer();
    const { abort, signal, listeners } = countedSignal();
    const sending = post(client(), server.url.replace('http:', 'https:'), { signal });
    const connection = await server.connection(0);
    await connection.received(1);
    abort('in tls');
    expect(await settledAtOnce(sending)).toBe('in tls');
    expect(listeners()).toBe(0);
    await connection.closed;
  });

  it('while the request is being sent', async () => {
    const server = await rawServer();
    const { abort, signal, listeners } = countedSignal();
    const sending = post(client(), server.url, { signal, body: 'x'.repeat(20 * 1024 * 1024) });
    const connection = await server.connection(0);
    await connection.received(1);
    connection.socket.pause();
    abort('in request');
    expect(await settledAtOnce(sending)).toBe('in request');
    expect(listeners()).toBe(0);
    connection.socket.resume();
    await connection.closed;
    expect(connection.bytes).toBeLessThan(20 * 1024 * 1024);
  });

  it('while it waits for the answer', async () => {
    const server = await rawServer();
    const { abort, signal, listeners } = countedSignal();
    const sending = post(client(), server.url, { signal });
    const connection = await server.connection(0);
    await connection.request();
    abort('waiting');
    expect(await settledAtOnce(sending)).toBe('waiting');
    expect(listeners()).toBe(0);
    await connection.closed;
  });

  it('while its body is read', async () => {
    const server = await rawServer(stream);
    const { abort, signal, listeners } = countedSignal();
    const chunks = chunksOf(await post(client(), server.url, { signal }));
    await chunks.next();
    const next = chunks.next();
    abort('in body');
    expect(await settledAtOnce(next)).toBe('in body');
    await expect(chunks.next()).rejects.toBe('in body');
    expect(listeners()).toBe(0);
    await (
      await server.connection(0)
    ).closed;
  });

  it('while nobody reads its body: what was not read is not handed out any more', async () => {
    const server = await rawServer(stream);
    const { abort, signal, listeners } = countedSignal();
    const chunks = chunksOf(await post(client(), server.url, { signal }));
    await turns();
    abort('unread');
    await expect(chunks.next()).rejects.toBe('unread');
    expect(listeners()).toBe(0);
    await (
      await server.connection(0)
    ).closed;
  });

  it('and does nothing when it is over', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.answer('first');
      await connection.request();
      connection.answer('second');
    });
    const fetch = client();
    const { abort, signal, listeners } = countedSignal();
    expect(await textOf(await post(fetch, server.url, { signal }))).toBe('first');
    expect(listeners()).toBe(0);
    abort('over');
    expect(await textOf(await post(fetch, server.url))).toBe('second');
  });
});

describe('a body that is left', () => {
  it('in the middle closes its connection', async () => {
    const server = await rawServer(stream);
    const { signal, listeners } = countedSignal();
    const { body } = await post(client(), server.url, { signal });
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      expect(Buffer.from(chunk).toString()).toBe('hello');
      break;
    }
    expect(listeners()).toBe(0);
    await (
      await server.connection(0)
    ).closed;
  });

  it('before its first chunk, or while one is waited for', async () => {
    const server = await rawServer(stream);
    const fetch = client();
    const unread = chunksOf(await post(fetch, server.url));
    expect(await unread.return?.()).toEqual({ done: true, value: undefined });
    expect(await unread.next()).toEqual({ done: true, value: undefined });
    const waiting = chunksOf(await post(fetch, server.url));
    await waiting.next();
    const next = waiting.next();
    await waiting.return?.();
    expect(await settledAtOnce(next)).toEqual({ done: true, value: undefined });
    for (const { closed } of server.connections) await closed;
  });

  it('leaves the connection for others if all of it has arrived', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.write('HTTP/1.1 200 OK', `Content-Length: ${MAX_QUEUED_BYTES + 3}`, '', 'x'.repeat(MAX_QUEUED_BYTES));
      await turns(50);
      connection.write('end');
      await connection.request();
      connection.answer('second');
    });
    const fetch = client();
    const chunks = chunksOf(await post(fetch, server.url));
    await turns(200);
    await chunks.return?.();
    await turns();
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
    expect(await textOf(await post(fetch, server.url))).toBe('second');
    expect(server.connections).toHaveLength(1);
  });
});

describe('a body that is read slowly', () => {
  const TOTAL = 64 * 1024 * 1024;

  /** Writes until the client takes no more; `stopped` settles when it has not for a while. */
  async function endless(): Promise<{
    readonly url: string;
    readonly written: () => number;
    stopped(): Promise<void>;
  }> {
    const state = { written: 0, isWaiting: false };
    const server = await rawServer(async ({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${TOTAL}\r\n\r\n`);
      const piece = Buffer.alloc(65_536, 'z');
      while (state.written < TOTAL) {
        state.written += piece.length;
        if (socket.write(piece)) continue;
        state.isWaiting = true;
        await once(socket, 'drain');
        state.isWaiting = false;
      }
    });
    return {
      url: server.url,
      written: () => state.written,
      stopped: async () => {
        for (let before = -1; state.written < TOTAL && !(state.isWaiting && before === state.written);) {
          before = state.written;
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      },
    };
  }

  it('makes the server wait, and comes whole', async () => {
    const { url, written, stopped } = await endless();
    const { body } = await post(client(), url);
    let length = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (length === 0) {
        await stopped();
        // What the system holds on both sides, and little more.
        expect(written()).toBeLessThan(TOTAL / 4);
      }
      length += chunk.length;
    }
    expect(length).toBe(TOTAL);
  });

  it('makes the server wait when nobody reads at all', async () => {
    const { url, written, stopped } = await endless();
    await post(client(), url);
    await stopped();
    expect(written()).toBeLessThan(TOTAL / 4);
  });
});

describe('a client that is closed', () => {
  it('ends what is under way, in every stage', async () => {
    const server = await rawServer(async (connection, index) => {
      if (index > 0) await stream(connection);
    });
    const fetch = client();
    const waiting = failureOf(post(fetch, server.url));
    await (await server.connection(0)).request();
    const body = chunksOf(await post(fetch, server.url));
    await body.next();
    const reading = failureOf(body.next());
    const unread = chunksOf(await post(fetch, server.url));
    const securing = failureOf(post(fetch, server.url.replace('http:', 'https:')));
    await (await server.connection(3)).received(1);
    const beginning = failureOf(post(fetch, server.url));
    const looking = failureOf(post(fetch, 'http://no-such-host.invalid/'));
    fetch.close();
    expect(await waiting).toMatchObject({ phase: 'http', bodySent: true });
    expect(await reading).toMatchObject({ phase: 'http', bodySent: true });
    expect(await securing).toMatchObject({ phase: 'tls', bodySent: false });
    expect(await beginning).toMatchObject({ bodySent: false });
    expect(await looking).toMatchObject({ phase: 'dns', bodySent: false });
    expect(Buffer.from((await unread.next()).value as Uint8Array).toString()).toBe('hello');
    await failureOf(unread.next());
    for (const error of [waiting, reading, securing, beginning, looking]) {
      expect((await error).message).toMatch(/this HTTP client was closed$/);
    }
    for (const { closed } of server.connections) await closed;
  });

  it('sends nothing more', async () => {
    const server = await rawServer();
    const fetch = client();
    fetch.close();
    fetch.close();
    expect(await failureOf(post(fetch, server.url))).toMatchObject({ bodySent: false });
    await turns();
    expect(server.connections).toHaveLength(0);
  });
});

it('leaves nothing behind', async () => {
  const server = await rawServer(async (connection, index) => {
    for (let count = index; ; count++) {
      await connection.request();
      if (count % 3 === 0) connection.answer('answered');
      else if (count % 3 === 1) connection.write(...STREAM);
      else connection.reset();
    }
  });
  const resources = (): string[] =>
    process
      .getActiveResourcesInfo()
      .filter((name) => /^(?:TCPSocket|TLS|Connect|GetAddrInfo|Write|Shutdown)/.test(name));
  // What earlier tests closed may still be on its way out.
  await vi.waitFor(() => expect(resources()).toEqual([]), { timeout: 20_000 });
  const fetch = client();
  const controller = new AbortController();
  const signal = controller.signal;
  const all = Array.from({ length: 30 }, async () => textOf(await post(fetch, server.url, { signal })));
  const outcomes = Promise.allSettled(all);
  await turns(50);
  controller.abort('enough');
  const kinds = new Set((await outcomes).map(({ status }) => status));
  expect(kinds).toEqual(new Set(['fulfilled', 'rejected']));
  fetch.close();
  for (const { closed } of server.connections) await closed;
  await vi.waitFor(() => expect(resources()).toEqual([]), { timeout: 20_000 });
});
