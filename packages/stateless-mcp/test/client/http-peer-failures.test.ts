import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { LocalError } from '../../src/protocol/index.ts';
import { selfSigned } from '../node/self-signed.ts';
import {
  ask,
  callTool,
  CONTENT,
  failureOf,
  HTTP_CLIENTS,
  type HttpClient,
  expectLocalError,
  openPeer,
} from './http-peer-harness.ts';
import { scriptedServer, tcpServer, unusedPort } from './scripted-server.ts';

let identity: { readonly key: string; readonly cert: string };
beforeAll(() => {
  identity = selfSigned();
});

async function tlsServer(): Promise<string> {
  const server = createTlsServer(identity, (_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}/mcp`;
}

const cutServer = async (): Promise<string> =>
  (await tcpServer((socket) => socket.once('data', () => socket.destroy()))).url;

describe.each(HTTP_CLIENTS)('what goes wrong on the way over $name', (client) => {
  it('a name that nobody knows', async () => {
    const error = await expectLocalError(
      callTool(openPeer(client, 'http://no-such-host.invalid/mcp'), 'a'),
      'unreachable',
    );
    expect(error).toMatchObject({ phase: 'dns', maybeExecuted: false });
    expect(error.message).toMatch(/^Cannot reach http:\/\/no-such-host\.invalid\/mcp: .*\((?:ENOTFOUND|EAI_AGAIN)\)$/);
    expect(error.cause).toBeDefined();
  });

  it('a port on which nobody listens', async () => {
    const url = `http://127.0.0.1:${await unusedPort()}/mcp`;
    const error = await expectLocalError(callTool(openPeer(client, url), 'a'), 'unreachable');
    expect(error).toMatchObject({ phase: 'connect', maybeExecuted: false });
    expect(error.message).toContain(url);
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('a name of which no address accepts connections', async () => {
    const url = `http://localhost:${await unusedPort()}/mcp`;
    const error = await expectLocalError(callTool(openPeer(client, url), 'a'), 'unreachable');
    expect(error).toMatchObject({ phase: 'connect', maybeExecuted: false });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('a certificate that nobody vouches for', async () => {
    const error = await expectLocalError(callTool(openPeer(client, await tlsServer()), 'a'), 'unreachable');
    expect(error).toMatchObject({ phase: 'tls', maybeExecuted: false });
    expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  });

  it('a server that does not speak TLS', async () => {
    const { origin } = await scriptedServer((answer) => answer.result(CONTENT));
    const url = `${origin.replace('http:', 'https:')}/mcp`;
    const error = await expectLocalError(callTool(openPeer(client, url), 'a'), 'unreachable');
    // The platform does not tell when it broke.
    expect(error).toMatchObject({ phase: 'tls', maybeExecuted: client.name === 'globalThis.fetch' });
  });

  it.each([
    ['accepts and closes', (socket: Socket) => socket.destroy()],
    ['closes in the middle of the request', (socket: Socket) => socket.once('data', () => socket.destroy())],
    ['answers what is no HTTP', (socket: Socket) => socket.end('220 mail.example ESMTP\r\n')],
    ['ends in the head of its answer', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Ty')],
    [
      'ends in the body of its answer',
      (socket: Socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jsonrpc"'),
    ],
    [
      'ends in a chunk of its answer',
      (socket: Socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n: x'),
    ],
  ])('a server that %s', async (_, accept) => {
    const { url } = await tcpServer(accept);
    const error = await expectLocalError(callTool(openPeer(client, url), 'a'), 'closed');
    expect(error).toMatchObject({ phase: 'call', maybeExecuted: true });
    expect(error.message).toContain('may have been carried out');
    expect(error.cause).toBeDefined();
  });

  it('a large request that is cut off in the middle', async () => {
    const { url } = await tcpServer((socket) => socket.once('data', () => socket.destroy()));
    const error = await expectLocalError(
      callTool(openPeer(client, url), 'a', { text: 'x'.repeat(8_000_000) }),
      'closed',
    );
    expect(error).toMatchObject({ phase: 'call', maybeExecuted: true });
  });

  it('a failure is not sent again', async () => {
    let connections = 0;
    const { url } = await tcpServer((socket) => {
      connections++;
      socket.once('data', () => socket.destroy());
    });
    await failureOf(callTool(openPeer(client, url), 'a'));
    await new Promise(setImmediate);
    expect(connections).toBe(1);
  });

  it('headers that cannot be made', async () => {
    const server = await scriptedServer((answer) => answer.result(CONTENT));
    const headers = async (): Promise<never> => Promise.reject(new Error('The token service said: secret-abc'));
    const error = await expectLocalError(callTool(openPeer(client, server.url, { headers }), 'a'), 'refused');
    expect(error).toMatchObject({
      phase: 'auth',
      maybeExecuted: false,
      cause: { message: expect.anything() as string },
    });
    expect(error.message).toContain('headers');
    expect(error.message).not.toContain('secret-abc');
    expect(server.requests).toHaveLength(0);
  });

  it('headers that HTTP cannot carry, without their values', async () => {
    const server = await scriptedServer((answer) => answer.result(CONTENT));
    const headers = (): Record<string, string> => ({ Authorization: 'Bearer secret\nabc' });
    const error = await expectLocalError(callTool(openPeer(client, server.url, { headers }), 'a'), 'refused');
    expect(error).toMatchObject({ phase: 'auth', maybeExecuted: false });
    expect(String(error.cause)).toContain('Authorization');
    expect(`${String(error)}${String(error.cause)}`).not.toContain('secret');
    expect(server.requests).toHaveLength(0);
  });

  it('each phase has an error of its own', async () => {
    const seen = await Promise.all(everyPhase(client).map(async (fail) => failureOf(fail())));
    const told = seen.map((error) => {
      if (!(error instanceof LocalError)) throw error;
      const { phase, code, message } = error;
      return { phase, code, message: message.replaceAll(/\d+/g, '0') };
    });
    expect(told.map(({ phase, code }) => `${phase}: ${code}`)).toEqual([
      'dns: unreachable',
      'connect: unreachable',
      'tls: unreachable',
      'http: http_status',
      'auth: unauthorized',
      'negotiate: closed',
      'list: closed',
      'call: closed',
    ]);
    expect(new Set(told.map(({ message }) => message)).size).toBe(told.length);
  });
});

function everyPhase(client: HttpClient): readonly (() => Promise<unknown>)[] {
  const peerOf = (url: string) => openPeer(client, url);
  const answering = async (status: number): Promise<string> =>
    (await scriptedServer((answer) => answer.send(status, { 'Content-Type': 'text/html' }, 'No'))).url;
  return [
    async () => callTool(peerOf('http://no-such-host.invalid/mcp'), 'a'),
    async () => callTool(peerOf(`http://127.0.0.1:${await unusedPort()}/mcp`), 'a'),
    async () => callTool(peerOf(await tlsServer()), 'a'),
    async () => callTool(peerOf(await answering(502)), 'a'),
    async () => callTool(peerOf(await answering(401)), 'a'),
    async () => ask(peerOf(await cutServer()), 'server/discover'),
    async () => ask(peerOf(await cutServer()), 'tools/list'),
    async () => callTool(peerOf(await cutServer()), 'a'),
  ];
}
