import { describe, expect, it, onTestFinished } from 'vitest';
import { fetchHandler } from '../../src/http/index.ts';
import { nodeListener, type NodeListenerOptions, serveHttp, type ServeHttpOptions } from '../../src/node/index.ts';
import { request } from '../wire/messages.ts';
import { DONE, fetchHeaders, sendTo, serveNode, silentLogger } from './harness.ts';

const message = request('tools/list');
const handler = async () => DONE;

async function loopbackPort(options: ServeHttpOptions = {}): Promise<number> {
  const server = await serveHttp(handler, { port: 0, logger: silentLogger, ...options });
  onTestFinished(() => void server.close());
  return server.port;
}

describe('serveHttp on a loopback address', () => {
  it.each([
    ['localhost', undefined],
    ['localhost:1234', undefined],
    ['LocalHost:80', undefined],
    ['127.0.0.1', undefined],
    ['127.0.0.1:65535', undefined],
    ['[::1]', undefined],
    ['[::1]:3000', undefined],
    ['localhost', 'http://localhost:5173'],
    ['localhost', 'HTTP://LOCALHOST:5173'],
    ['localhost', 'https://localhost'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['127.0.0.1:3000', 'http://localhost:6274'],
    ['[::1]:3000', 'http://[::1]:3000'],
  ])('serves Host %s, Origin %s', async (host, origin) => {
    const port = await loopbackPort();
    const { status } = await sendTo(port, message, { headers: { host, ...(origin !== undefined && { origin }) } });
    expect(status).toBe(200);
  });

  it.each([
    ['evil.example', undefined],
    ['evil.example', 'http://evil.example'],
    ['evil.example:3000', 'http://evil.example:3000'],
    ['localhost.evil.example', undefined],
    ['evil-localhost', undefined],
    ['localhost.', undefined],
    ['127.0.0.1.evil.example', undefined],
    ['127.0.0.2', undefined],
    ['user@localhost', undefined],
    ['localhost:80:80', undefined],
    ['localhost, evil.example', undefined],
    ['0.0.0.0', undefined],
    ['[::1', undefined],
    ['', undefined],
    ['localhost', 'http://evil.example'],
    ['localhost', 'https://evil.example:3000'],
    ['localhost', 'http://localhost.evil.example'],
    ['localhost', 'http://evil.example/localhost'],
    ['localhost', 'http://localhost@evil.example'],
    ['localhost', 'http://evil.example#localhost'],
    ['localhost', 'null'],
    ['localhost', ''],
    ['localhost', 'localhost'],
    ['localhost', 'file://'],
    ['localhost', 'http://localhost, http://evil.example'],
    ['localhost', 'http://evil.example, http://localhost'],
  ])('HTTP-13, SEC-04: refuses Host %j, Origin %j with 403', async (host, origin) => {
    const port = await loopbackPort();
    const { status, headers, text } = await sendTo(port, message, {
      headers: { host, ...(origin !== undefined && { origin }) },
    });
    expect(status).toBe(403);
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: 403 } });
    expect(JSON.parse(text)).not.toHaveProperty('id');
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('refuses a second Origin line although the first is its own', async () => {
    const port = await loopbackPort();
    const lines = [
      ['origin', 'http://localhost'],
      ['origin', 'http://evil.example'],
    ] as const;
    expect((await sendTo(port, message, { extraLines: lines })).status).toBe(403);
  });

  it('does not serve a request without Host', async () => {
    const port = await loopbackPort();
    expect((await sendTo(port, message, { headers: { host: null } })).status).toBe(400);
    expect((await sendTo(port, message, { headers: { host: null }, httpVersion: '1.0' })).status).toBe(403);
  });

  it('says an attacker as little as possible: no more than an excerpt of the value', async () => {
    const port = await loopbackPort();
    const { text } = await sendTo(port, message, { headers: { host: 'x'.repeat(8000) } });
    expect(text.length).toBeLessThan(300);
  });

  it('refuses before authentication, so that a page cannot try out credentials', async () => {
    let asked = 0;
    const port = await loopbackPort({
      authenticate: () => {
        asked += 1;
        return { principal: 'somebody' };
      },
    });
    expect((await sendTo(port, message, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    expect(asked).toBe(0);
  });

  it('refuses a page a GET and a preflight, too', async () => {
    const port = await loopbackPort();
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
    expect((await sendTo(port, undefined, { method: 'GET', headers })).status).toBe(403);
    expect((await sendTo(port, undefined, { method: 'OPTIONS', headers })).status).toBe(403);
  });

  it('serves other hosts when they are named', async () => {
    const port = await loopbackPort({ allowedHosts: ['mcp.example.com', 'api.example.com:8443'] });
    const statusOf = async (host: string): Promise<number> =>
      (await sendTo(port, message, { headers: { host } })).status;
    expect(await statusOf('mcp.example.com')).toBe(200);
    expect(await statusOf('MCP.EXAMPLE.COM:443')).toBe(200);
    expect(await statusOf('api.example.com:8443')).toBe(200);
    expect(await statusOf('api.example.com')).toBe(403);
    expect(await statusOf('api.example.com:8444')).toBe(403);
    expect(await statusOf('localhost')).toBe(403);
  });
});

describe('serveHttp on other addresses', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', 'mcp.example.com'])('on %s wants to be told its hosts', async (host) => {
    await expect(serveHttp(handler, { port: 0, host })).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('allowedHosts') }),
    );
  });

  it('on all interfaces serves the named hosts alone', async () => {
    const port = await loopbackPort({ host: '0.0.0.0', allowedHosts: ['mcp.example.com'] });
    expect((await sendTo(port, message, { headers: { host: 'mcp.example.com' } })).status).toBe(200);
    expect((await sendTo(port, message, { headers: { host: '127.0.0.1' } })).status).toBe(403);
  });

  it("with 'any' serves every host and still no page", async () => {
    const port = await loopbackPort({ host: '0.0.0.0', allowedHosts: 'any' });
    expect((await sendTo(port, message, { headers: { host: 'whatever.example' } })).status).toBe(200);
    const origin = 'http://whatever.example';
    expect((await sendTo(port, message, { headers: { host: 'whatever.example', origin } })).status).toBe(403);
  });
});

describe('nodeListener', () => {
  it('cannot be made without saying its hosts', () => {
    expect(() => nodeListener(handler, {} as NodeListenerOptions)).toThrow(/allowedHosts.*'any'/);
    expect(() => nodeListener(handler, undefined as unknown as NodeListenerOptions)).toThrow(TypeError);
  });

  it('serves pages of its named hosts and of named origins', async () => {
    const { send } = await serveNode(handler, {
      allowedHosts: ['mcp.example.com'],
      allowedOrigins: ['https://app.example.com', 'http://localhost:5173'],
    });
    const statusOf = async (origin: string): Promise<number> =>
      (await send(message, { headers: { host: 'mcp.example.com', origin } })).status;
    expect(await statusOf('https://mcp.example.com')).toBe(200);
    expect(await statusOf('https://app.example.com')).toBe(200);
    expect(await statusOf('http://localhost:5173')).toBe(200);
    expect(await statusOf('http://localhost:5174')).toBe(403);
    expect(await statusOf('http://app.example.com')).toBe(403);
    expect(await statusOf('https://app.example.com:8443')).toBe(403);
    expect(await statusOf('null')).toBe(403);
  });

  it.each(['https://app.example.com/', 'app.example.com', 'null', '*', 'https://*.example.com', 'file:///x', ''])(
    'does not take %j for an origin',
    (origin) => {
      expect(() => nodeListener(handler, { allowedHosts: 'any', allowedOrigins: [origin] })).toThrow(TypeError);
    },
  );
});

describe('allowedHosts', () => {
  it.each(['https://mcp.example.com', 'mcp.example.com/mcp', '*', '*.example.com', ''])(
    'does not take %j for a host, because it would never match',
    (host) => {
      expect(() => nodeListener(handler, { allowedHosts: [host] })).toThrow(TypeError);
    },
  );
});

it('a host beyond ASCII is the one that clients send', async () => {
  const { send } = await serveNode(handler, { allowedHosts: ['b\u00fccher.example'] });
  expect((await send(message, { headers: { host: 'xn--bcher-kva.example' } })).status).toBe(200);
});

describe('fetchHandler', () => {
  const post = (headers: Readonly<Record<string, string>>): Request =>
    new Request('https://mcp.example.com/mcp', {
      method: 'POST',
      headers: { ...fetchHeaders(message), ...headers },
      body: JSON.stringify(message),
    });

  it('without named origins refuses every page', async () => {
    const { fetch } = fetchHandler(handler, { logger: silentLogger });
    expect((await fetch(post({}))).status).toBe(200);
    for (const origin of ['https://mcp.example.com', 'http://localhost', 'null', 'https://evil.example']) {
      expect((await fetch(post({ origin }))).status).toBe(403);
    }
  });

  it('serves pages of named origins', async () => {
    const { fetch } = fetchHandler(handler, { allowedOrigins: ['https://app.example.com'], logger: silentLogger });
    expect((await fetch(post({ origin: 'https://app.example.com' }))).status).toBe(200);
    expect((await fetch(post({ origin: 'https://mcp.example.com' }))).status).toBe(403);
  });

  it('checks the Host header when hosts are named', async () => {
    const { fetch } = fetchHandler(handler, { allowedHosts: ['mcp.example.com'], logger: silentLogger });
    expect((await fetch(post({ host: 'mcp.example.com' }))).status).toBe(200);
    expect((await fetch(post({ host: 'evil.example' }))).status).toBe(403);
    expect((await fetch(post({ host: 'mcp.example.com', origin: 'https://mcp.example.com' }))).status).toBe(200);
  });

  it('takes the host from the URL where the runtime gives no Host header', async () => {
    const { fetch } = fetchHandler(handler, { allowedHosts: ['mcp.example.com'], logger: silentLogger });
    expect((await fetch(post({}))).status).toBe(200);
  });
});
