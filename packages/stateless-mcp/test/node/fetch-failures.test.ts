import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, client, codeOf, failureOf, post, textOf, turns } from './client.ts';
import { type RawConnection, rawServer, rawTlsServer } from './raw-server.ts';
import { selfSigned } from './self-signed.ts';

/** A port of this machine at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('a request that does not reach its server says how far it came', () => {
  it('dns: the name is not known', async () => {
    const error = await failureOf(post(client(), 'http://no-such-host.invalid/mcp?token=hunter2'));
    expect(error).toMatchObject({ name: 'HttpFetchError', phase: 'dns', bodySent: false });
    expect(codeOf(error)).toMatch(/^(?:ENOTFOUND|EAI_AGAIN)$/);
    expect(error.message).toMatch(/no-such-host\.invalid/);
    expect(error.message).not.toMatch(/hunter2/);
  });

  it.each(['127.0.0.1', 'localhost'])('connect: nothing listens at %s', async (host) => {
    const error = await failureOf(post(client(), `http://${host}:${await closedPort()}/mcp`));
    expect(error).toMatchObject({ phase: 'connect', bodySent: false });
    expect(codeOf(error)).toBe('ECONNREFUSED');
    expect(error.message).toMatch(/^The server could not be reached .*ECONNREFUSED/);
  });

  describe('tls', () => {
    let certificate: ReturnType<typeof selfSigned>;
    beforeAll(() => {
      certificate = selfSigned();
    });

    it('the certificate is not trusted: the server sees no byte of the request', async () => {
      const server = await rawTlsServer(certificate);
      const error = await failureOf(post(client(), server.url));
      expect(error).toMatchObject({ phase: 'tls', bodySent: false });
      expect(codeOf(error)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
      await turns();
      expect(server.connections.map(({ bytes }) => bytes)).toEqual(server.connections.map(() => 0));
    });

    it('the certificate is of another name', async () => {
      const server = await rawTlsServer(certificate);
      const url = server.url.replace('localhost', '127.0.0.1');
      const error = await failureOf(post(client({ ca: certificate.cert }), url));
      expect(error).toMatchObject({ phase: 'tls', bodySent: false });
      expect(codeOf(error)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    });

    it('the server speaks something else', async () => {
      const server = await rawServer(async (connection) => {
        await connection.received(1);
        connection.answer('this is HTTP');
      });
      const error = await failureOf(post(client(), server.url.replace('http:', 'https:')));
      expect(error).toMatchObject({ phase: 'tls', bodySent: false });
      expect(codeOf(error)).toMatch(/^E(?:RR_SSL|PROTO)/);
    });

    it.each(['end', 'reset'])('the server leaves: %s', async (how) => {
      const server = await rawServer(async (connection) => {
        await connection.received(1);
        if (how === 'end') connection.socket.end();
        else connection.reset();
      });
      const error = await failureOf(post(client(), server.url.replace('http:', 'https:')));
      expect(error).toMatchObject({ phase: 'tls', bodySent: false });
      expect(codeOf(error)).toBe('ECONNRESET');
    });
  });
});

describe('a request that reached its server and has no answer may have been carried out', () => {
  it.each(['end', 'reset'])('or not, when the server leaves at once: %s', async (how) => {
    const server = await rawServer((connection) => {
      if (how === 'end') connection.socket.end();
      else connection.reset();
    });
    const error = await failureOf(post(client(), server.url));
    expect(codeOf(error)).toMatch(/^(?:ECONNRESET|EPIPE)$/);
    // The end may be here before it is known that there was a connection. If it was known, bytes are with the system.
    expect(error.phase).toMatch(/^(?:connect|http)$/);
    expect(error.bodySent).toBe(error.phase === 'http');
  });

  it.each(['end', 'reset'])('when the server leaves after it read the request: %s', async (how) => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      if (how === 'end') connection.socket.end();
      else connection.reset();
    });
    const error = await failureOf(post(client(), server.url));
    expect(error).toMatchObject({ phase: 'http', bodySent: true });
    expect(codeOf(error)).toBe('ECONNRESET');
    expect(error.message).toMatch(/^The connection ended before the answer/);
  });

  it('nor is it sent again when it went over a connection that had been used', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.answer('first');
      await connection.request();
      connection.socket.end();
    });
    const fetch = client();
    expect(await textOf(await post(fetch, server.url))).toBe('first');
    expect(await failureOf(post(fetch, server.url))).toMatchObject({ phase: 'http', bodySent: true });
    await turns();
    expect(server.connections).toHaveLength(1);
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a head that is not valid', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n'],
    ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'],
  ])('when the answer is %s', async (_, text) => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.write(text);
    });
    expect(await failureOf(post(client(), server.url))).toMatchObject({ phase: 'http', bodySent: true });
    await (
      await server.connection(0)
    ).closed;
  });
});

describe('a body that breaks off is never taken for its end', () => {
  const heads: Readonly<Record<string, readonly string[]>> = {
    'a length': ['HTTP/1.1 200 OK', 'Content-Length: 10', '', 'hello'],
    chunks: ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '5', 'hello', ''],
    'a chunk that is not whole': ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', 'a', 'hello'],
    'chunks without the last line': ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '5', 'hello', '0', ''],
  };
  const cases = Object.keys(heads).flatMap((head) => ['end', 'reset'].map((how) => [head, how] as const));

  async function breaking(head: readonly string[], how: string, isRead: () => Promise<void>): Promise<string> {
    const server = await rawServer(async (connection: RawConnection) => {
      await connection.request();
      connection.write(...head);
      await isRead();
      if (how === 'end') connection.socket.end();
      else connection.reset();
    });
    return server.url;
  }

  it.each([...cases, ['the end of the connection', 'reset'] as const])('%s, %s', async (head, how) => {
    let isRead: () => void = () => undefined;
    const read = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    const lines = heads[head] ?? ['HTTP/1.1 200 OK', '', 'hello'];
    const response = await post(client(), await breaking(lines, how, async () => read));
    const chunks = chunksOf(response);
    expect(Buffer.from((await chunks.next()).value as Uint8Array).toString()).toBe('hello');
    const next = chunks.next();
    isRead();
    const error = await failureOf(next);
    expect(error).toMatchObject({ phase: 'http', bodySent: true });
    expect(codeOf(error)).toBe('ECONNRESET');
    expect(error.message).toMatch(/^The answer broke off/);
    // However often it is asked.
    expect(await failureOf(chunks.next())).toBe(error);
  });

  it.each(cases)('when nobody was reading: what came is handed out first: %s, %s', async (head, how) => {
    const response = await post(client(), await breaking(heads[head] ?? [], how, turns));
    await turns(20);
    const chunks = chunksOf(response);
    expect(Buffer.from((await chunks.next()).value as Uint8Array).toString()).toBe('hello');
    await failureOf(chunks.next());
  });

  it('when its encoding is not valid', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.write('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '5', 'hello', 'zz', '');
    });
    const error = await failureOf(textOf(await post(client(), server.url)));
    expect(codeOf(error)).toMatch(/^HPE_/);
  });

  it('and a server that dies in the middle of a stream breaks all of its bodies off', async () => {
    const server = createHttpServer((_, response) => response.write('data: 1\n\n'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const fetch = client();
    const responses = await Promise.all(Array.from({ length: 10 }, async () => post(fetch, url)));
    const texts = responses.map(async (response) => failureOf(textOf(response)));
    server.closeAllConnections();
    server.close();
    for (const error of await Promise.all(texts)) expect(codeOf(error)).toBe('ECONNRESET');
  });
});
