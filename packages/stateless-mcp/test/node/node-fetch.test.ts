import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpFetch } from '../../src/http/http-fetch.ts';
import { client, post, textOf, turns } from './client.ts';
import { rawServer } from './raw-server.ts';

/** So much waits for a reader; the rest stays with the connection. */
const MAX_QUEUED_BYTES = 65_536;

async function httpServer(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(listener);
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${(server.address() as AddressInfo).port}/mcp?x=1`;
}

describe('what is sent', () => {
  it('is a POST with its length, the headers as given, and nothing that asks for an encoding', async () => {
    const server = await rawServer();
    const answer = post(client(), server.url, { headers: { 'MCP-Method': 'ping', Accept: 'a, b' }, body: '{"é":1}' });
    const connection = await server.connection(0);
    const [head = '', body] = (await connection.request()).split('\r\n\r\n');
    connection.answer('ok');
    await answer;
    const [line, ...fields] = head.split('\r\n');
    expect(line).toBe('POST /mcp HTTP/1.1');
    expect(fields.sort()).toEqual([
      'Accept: a, b',
      'Connection: keep-alive',
      'Content-Length: 8',
      `Host: ${new URL(server.url).host}`,
      'MCP-Method: ping',
    ]);
    expect(Buffer.from(body ?? '', 'latin1').toString()).toBe('{"é":1}');
  });

  it('has the bytes of Latin-1 in its headers, as those of every fetch', async () => {
    const server = await rawServer();
    const answer = post(client(), server.url, { headers: { 'x-name': 'Zoë' }, body: '"é"' });
    const connection = await server.connection(0);
    const sent = await connection.request();
    connection.answer('');
    await answer;
    expect(sent).toContain('\r\nx-name: Zo\xeb\r\n');
    expect(Buffer.from(sent.slice(sent.indexOf('\r\n\r\n') + 4), 'latin1').toString()).toBe('"é"');
  });

  it.each([
    ['a line break', 'a\r\nx-other: b'],
    ['a null character', 'a\0'],
    ['a character beyond Latin-1', '世界'],
  ])('has no header with %s: TypeError, without the value, before anything is sent', async (_, value) => {
    const server = await rawServer();
    const sending = post(client(), server.url, { headers: { authorization: value } });
    await expect(sending).rejects.toThrow(TypeError);
    await expect(sending).rejects.toThrow(/authorization/);
    await expect(sending).rejects.not.toThrow(value);
    expect(server.connections).toHaveLength(0);
  });

  it('has no header with a name that is none', async () => {
    const server = await rawServer();
    await expect(post(client(), server.url, { headers: { 'a b': 'c' } })).rejects.toThrow(TypeError);
    expect(server.connections).toHaveLength(0);
  });

  it.each(['Content-Length', 'transfer-encoding', 'Connection', 'HOST', 'Expect', 'accept-encoding'])(
    'frames itself: %s is refused',
    async (name) => {
      const server = await rawServer();
      await expect(post(client(), server.url, { headers: { [name]: '1' } })).rejects.toThrow(
        new TypeError(`nodeFetch: the header "${name}" is set by the HTTP client itself`),
      );
      expect(server.connections).toHaveLength(0);
    },
  );

  it('goes to IPv6 addresses', async () => {
    const hosts: unknown[] = [];
    const url = await httpServer((request, response) => {
      hosts.push(request.headers.host, request.url);
      response.end('six');
    }, '::1');
    expect(await textOf(await post(client(), url))).toBe('six');
    expect(hosts).toEqual([new URL(url).host, '/mcp?x=1']);
  });

  it.each([
    ['http://user:hunter2@127.0.0.1:1/mcp', /must not hold credentials/],
    ['http://token@127.0.0.1:1/mcp', /must not hold credentials/],
    ['http://hunter2:x:y', /not valid/],
    ['ftp://127.0.0.1/hunter2', /must start with http: or https:/],
  ])('does not go to %s', async (url, message) => {
    const error: unknown = await post(client(), url).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toHaveProperty('message', expect.stringMatching(message));
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toMatch(/hunter2|token/);
  });

  it('can be large', async () => {
    let length = 0;
    const url = await httpServer((request, response) => {
      request.on('data', (chunk: Buffer) => (length += chunk.length));
      request.on('end', () => response.end(String(length)));
    });
    const body = 'x'.repeat(20 * 1024 * 1024);
    expect(await textOf(await post(client(), url, { body }))).toBe(String(body.length));
  });
});

describe('what comes back', () => {
  it('is a status and headers by any case of their names', async () => {
    const url = await httpServer((_, response) => {
      response.writeHead(418, { 'Content-Type': 'text/plain', 'X-Empty': '', 'Set-Cookie': ['a=1', 'b=2'] });
      response.end('short and stout');
    });
    const response = await post(client(), url);
    const { headers } = response;
    expect(response.status).toBe(418);
    expect(headers.get('content-type')).toBe('text/plain');
    expect(headers.get('CONTENT-TYPE')).toBe('text/plain');
    expect(headers.get('x-empty')).toBe('');
    expect(headers.get('set-cookie')).toBe('a=1, b=2');
    for (const name of ['x-absent', 'constructor', '__proto__', 'toString']) expect(headers.get(name)).toBeNull();
    expect(await textOf(response)).toBe('short and stout');
  });

  it('is a redirect as it is', async () => {
    const url = await httpServer((_, response) => response.writeHead(307, { Location: '/elsewhere' }).end());
    const response = await post(client(), url);
    expect([response.status, response.headers.get('location')]).toEqual([307, '/elsewhere']);
  });

  it.each([
    ['its length', ['Content-Length: 5', '', 'hello']],
    ['chunks', ['Transfer-Encoding: chunked', '', '2', 'he', '3', 'llo', '0', '', '']],
    ['the end of the connection', ['', 'hello']],
  ])('is a body that ends by %s', async (_, lines) => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.write('HTTP/1.1 200 OK', ...lines);
      if (lines.length === 2) connection.socket.end();
    });
    expect(await textOf(await post(client(), server.url))).toBe('hello');
  });

  it('is the final answer, not what is said before it', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.write('HTTP/1.1 100 Continue', '', 'HTTP/1.1 103 Early Hints', 'Link: </a>', '', '');
      connection.answer('final');
    });
    const response = await post(client(), server.url);
    expect([response.status, await textOf(response)]).toEqual([200, 'final']);
  });

  it.each(['204 No Content', '304 Not Modified'])('has no body with %s, and leaves its connection', async (status) => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.write(`HTTP/1.1 ${status}`, ...(status.startsWith('304') ? ['Content-Length: 5'] : []), '', '');
      await connection.request();
      connection.answer('next');
    });
    const fetch = client();
    expect((await post(fetch, server.url)).body).toBeNull();
    expect(await textOf(await post(fetch, server.url))).toBe('next');
    expect(server.connections).toHaveLength(1);
  });

  it('may be an empty body', async () => {
    const server = await rawServer(async (connection) => {
      await connection.request();
      connection.answer('');
    });
    expect(await textOf(await post(client(), server.url))).toBe('');
  });

  it('is complete when it all came, although its connection broke before it was read or the request sent', async () => {
    const body = 'y'.repeat(MAX_QUEUED_BYTES);
    const server = await rawServer();
    const answer = post(client(), server.url, { body: 'x'.repeat(20 * 1024 * 1024) });
    const connection = await server.connection(0);
    await connection.received(1);
    connection.socket.pause();
    connection.write('HTTP/1.1 200 OK', `Content-Length: ${body.length + 3}`, '', body);
    const response = await answer;
    await turns(50);
    connection.write('end');
    await turns(50);
    connection.reset();
    await connection.closed;
    await turns(50);
    expect(await textOf(response)).toBe(`${body}end`);
  });

  it('may be large', async () => {
    const BYTES = 20 * 1024 * 1024;
    const url = await httpServer((_, response) => response.end(Buffer.alloc(BYTES, 'y')));
    let length = 0;
    const { body } = await post(client(), url);
    for await (const chunk of body as AsyncIterable<Uint8Array>) length += chunk.length;
    expect(length).toBe(BYTES);
  });

  it('is read step by step: each chunk when it is there', async () => {
    const server = await rawServer();
    const answer = post(client(), server.url);
    const connection = await server.connection(0);
    await connection.request();
    connection.write('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '');
    const iterator = (await answer).body as unknown as AsyncIterator<Uint8Array>;
    const first = iterator.next();
    await expect(iterator.next()).rejects.toThrow('being read already');
    connection.write('3', 'one', '');
    expect(String(Buffer.from((await first).value as Uint8Array))).toBe('one');
    connection.write('3', 'two', '0', '', '');
    expect(String(Buffer.from((await iterator.next()).value as Uint8Array))).toBe('two');
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});

it('answers many requests at the same time, each with its own', async () => {
  const url = await httpServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += String(chunk)));
    request.on('end', () => setImmediate(() => response.end(body)));
  });
  const fetch = client();
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => textOf(await post(fetch, url, { body: String(index) }))),
  );
  expect(answers).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
});

it('has the shape that the fetch of every platform has', async () => {
  const received: IncomingHttpHeaders[] = [];
  const url = await httpServer((request, response) => {
    received.push(request.headers);
    response.end('ok');
  });
  const platform: HttpFetch = globalThis.fetch;
  const own: HttpFetch = client();
  for (const fetch of [platform, own]) {
    const response = await post(fetch, url, { headers: { 'x-a': 'b' } });
    expect([response.status, await textOf(response)]).toEqual([200, 'ok']);
  }
  expect(received.map((headers) => headers['x-a'])).toEqual(['b', 'b']);
});
