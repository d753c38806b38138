import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loopback, type McpClient } from '../../src/client/index.ts';
import { connect, type ConnectTarget, McpServer, serveHttp } from '../../src/connect/index.ts';
import { LocalError } from '../../src/protocol/index.ts';
import { serverCommand, temporaryFolder } from '../stdio/client-harness.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('./hello-server.ts', import.meta.url));

const server = new McpServer({ name: 'connected', version: '1.0.0' });
server.registerTool('hello', {}, () => 'Hello');

async function connected(target: ConnectTarget): Promise<McpClient> {
  const client = await connect(target);
  onTestFinished(async () => client.close());
  return client;
}

async function expectHello(client: McpClient, transport: string): Promise<void> {
  expect((await client.callTool('hello')).content).toEqual([{ type: 'text', text: 'Hello' }]);
  const report = client.explain();
  expect(report.transport).toBe(transport);
  // `connect` has asked already.
  expect(report.server).toMatchObject({ supportedVersions: ['2026-07-28'] });
}

/** An HTTP server that answers everything alike. */
async function answering(status: number, type: string, body: string): Promise<string> {
  const http = createServer((_, response) => response.writeHead(status, { 'Content-Type': type }).end(body));
  http.listen(0, '127.0.0.1');
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  await once(http, 'listening');
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error: unknown) => error,
  );
}

describe('connect', () => {
  it('reaches a URL, as text or as an object, with or without options', async () => {
    const http = await serveHttp(server, { port: 0 });
    onTestFinished(http.close);
    await expectHello(await connected(http.url), 'http');
    await expectHello(await connected(new URL(http.url)), 'http');
    await expectHello(await connected({ url: http.url, headers: { 'X-Trace': '1' } }), 'http');
  });

  it('reaches a server of the same process, and a peer', async () => {
    await expectHello(await connected(server), 'loopback');
    await expectHello(await connected(loopback(server)), 'loopback');
  });

  it('VER-05, BC-06: starts a command, and asks it first what it is', async () => {
    const client = await connected({ command: process.execPath, args: ['--import', 'tsx', SERVER] });
    await expectHello(client, 'stdio');
    expect(client.explain().process).toMatchObject({ starts: 1 });
  });

  it('keeps nothing alive after a failure', async () => {
    const pidFile = join(temporaryFolder(), 'pids');
    const error = await failureOf(
      connect(serverCommand({ pidFile, silent: true }), { signal: AbortSignal.timeout(1000) }),
    );
    expect(error).toMatchObject({ code: 'aborted', phase: 'negotiate' });
    expect(existsSync(pidFile)).toBe(true);
    const { server: pid } = JSON.parse(readFileSync(pidFile, 'utf8')) as { server: number };
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('closes what it opened, once', async () => {
    const http = await serveHttp(server, { port: 0 });
    onTestFinished(http.close);
    const client = await connect(http.url);
    await client.close();
    await client.close();
    expect(await failureOf(client.callTool('hello'))).toMatchObject({ code: 'closed', maybeExecuted: false });
  });

  it.each([42, null, undefined, {}, () => 'x', { handlers: 1 }])('refuses %s as a target', async (target) => {
    expect(await failureOf(connect(target as never))).toBeInstanceOf(TypeError);
  });

  it.each(['ftp://example.com/mcp', 'not a url', 'https://user:secret@example.com/mcp'])('refuses %s', async (url) => {
    const error = await failureOf(connect(url));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).not.toContain('secret');
  });

  it('says that a server of an earlier revision is one', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } });
    const error = await failureOf(connect(await answering(404, 'application/json', body)));
    expect(error).toMatchObject({ code: 'invalid_answer', phase: 'negotiate', status: 404 });
    expect(String(error)).toMatch(/server\/discover.*2026-07-28.*earlier/);
  });

  it('tells every phase of failure from the others', async () => {
    const closedPort = await answering(200, 'text/html', '').then((url) => url.replace(/:\d+/, ':9'));
    const failures = await Promise.all(
      [
        { command: '/no/such/program' },
        'http://no-such-host.invalid/mcp',
        closedPort,
        (await answering(200, 'text/html', '')).replace('http:', 'https:'),
        await answering(502, 'text/html', '<h1>Bad Gateway</h1>'),
        await answering(401, 'text/plain', 'who are you?'),
        await answering(200, 'application/json', JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })),
      ].map(async (target) => failureOf(connect(target))),
    );
    for (const error of failures) expect(error).toBeInstanceOf(LocalError);
    expect(failures).toMatchObject([
      { code: 'unreachable', phase: 'spawn', maybeExecuted: false },
      { code: 'unreachable', phase: 'dns', maybeExecuted: false },
      { code: 'unreachable', phase: 'connect', maybeExecuted: false },
      { code: 'unreachable', phase: 'tls', maybeExecuted: false },
      { code: 'http_status', phase: 'http', status: 502, body: '<h1>Bad Gateway</h1>' },
      { code: 'unauthorized', phase: 'auth', status: 401, body: 'who are you?' },
      { code: 'invalid_answer', phase: 'negotiate' },
    ]);
  });
});
