import { describe, expect, it } from 'vitest';
import type { HttpFetch } from '../../src/http/index.ts';
import { ask, callTool, CONTENT, HTTP_CLIENTS, expectLocalError, openPeer } from './http-peer-harness.ts';
import { type Answer, scriptedServer } from './scripted-server.ts';

const redirect = (answer: Answer, status: number, location?: string): void =>
  answer.send(status, location === undefined ? {} : { Location: location }, 'Moved');

describe.each(HTTP_CLIENTS)('redirects over $name', (client) => {
  it.each([
    [301, 'resources/read'],
    [302, 'resources/read'],
    [307, 'resources/read'],
    [308, 'resources/read'],
    [307, 'tools/call'],
    [308, 'tools/call'],
  ])('%d of %s is followed with the same request', async (status, method) => {
    const server = await scriptedServer((answer, { path }) => {
      if (path === '/mcp') redirect(answer, status, '/new/mcp?tenant=a');
      else answer.result({ contents: [], ...CONTENT });
    });
    const headers = { Authorization: 'Bearer some-token' };
    await ask(openPeer(client, server.url, { headers }), method, { name: 'forecast', uri: 'notes://today' });
    const [first, second] = server.requests;
    expect(server.requests.map(({ httpMethod, path }) => `${httpMethod} ${path}`)).toEqual([
      'POST /mcp',
      'POST /new/mcp?tenant=a',
    ]);
    expect(second?.text).toBe(first?.text);
    for (const name of ['authorization', 'content-type', 'accept', 'mcp-method', 'mcp-name', 'mcp-protocol-version']) {
      expect(second?.headers[name]).toBe(first?.headers[name]);
      expect(second?.headers[name]).toBeDefined();
    }
  });

  it.each([
    [301, 'tools/call'],
    [302, 'tools/call'],
    [302, 'com.example/unknown'],
  ])('%d of %s, which may have been carried out, is refused and names the target', async (status, method) => {
    const server = await scriptedServer((answer) => redirect(answer, status, '/done?token=abcdefgh'));
    const error = await expectLocalError(ask(openPeer(client, server.url), method), 'refused');
    expect(error).toMatchObject({ phase: 'http', maybeExecuted: true });
    expect(error.message).toContain(`${server.origin}/done`);
    expect(error.message).not.toContain('abcdefgh');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [301, ['/mcp', '/new', '/new']],
    [302, ['/mcp', '/new', '/mcp', '/new']],
    [307, ['/mcp', '/new', '/mcp', '/new']],
    [308, ['/mcp', '/new', '/new']],
  ])('%d is remembered if it is for good', async (status, paths) => {
    const server = await scriptedServer((answer, { path }) => {
      if (path === '/mcp') redirect(answer, status, '/new');
      else answer.result({ tools: [] });
    });
    const peer = openPeer(client, server.url);
    await ask(peer, 'tools/list');
    await ask(peer, 'tools/list');
    expect(server.requests.map(({ path }) => path)).toEqual(paths);
    expect(peer.endpoint).toBe(server.url);
  });

  it.each([
    ['for good, then for now', [308, 307], ['/mcp', '/1', '/2', '/1', '/2']],
    ['for now, then for good', [307, 308], ['/mcp', '/1', '/2', '/mcp', '/1', '/2']],
    ['for good twice', [301, 308], ['/mcp', '/1', '/2', '/2']],
  ])('a chain is remembered as far as it is for good: %s', async (_, [first, second], paths) => {
    const server = await scriptedServer((answer, { path }) => {
      if (path === '/mcp') redirect(answer, first ?? 0, '/1');
      else if (path === '/1') redirect(answer, second ?? 0, '/2');
      else answer.result({ contents: [] });
    });
    const peer = openPeer(client, server.url);
    await ask(peer, 'resources/read', { uri: 'x:/a' });
    await ask(peer, 'resources/read', { uri: 'x:/a' });
    expect(server.requests.map(({ path }) => path)).toEqual(paths);
  });

  it.each([301, 302, 307, 308])(
    'SEC-02: %d to another origin is refused, and nothing is sent there',
    async (status) => {
      const other = await scriptedServer((answer) => answer.result(CONTENT));
      const server = await scriptedServer((answer) => redirect(answer, status, `${other.origin}/mcp?token=abcdefgh`));
      const peer = openPeer(client, server.url, { headers: { Authorization: 'Bearer some-token' } });
      for (let call = 0; call < 2; call++) {
        const error = await expectLocalError(callTool(peer, 'a'), 'refused');
        expect(error).toMatchObject({ phase: 'http', maybeExecuted: false });
        expect(error.message).toContain(`${other.origin}/mcp`);
        expect(error.message).not.toContain('abcdefgh');
      }
      expect(server.requests).toHaveLength(2);
      expect(other.connections).toBe(0);
    },
  );

  it.each(['https://127.0.0.1/mcp', '//localhost/mcp', 'ftp://127.0.0.1/mcp', 'javascript:alert(1)', 'data:,x'])(
    '%s is another origin',
    async (location) => {
      const server = await scriptedServer((answer) => redirect(answer, 307, location));
      await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'refused');
      expect(server.requests).toHaveLength(1);
    },
  );

  it('a target with credentials in it is refused, and they are not shown', async () => {
    const server = await scriptedServer((answer, { headers }) => {
      redirect(answer, 307, `http://admin:hunter22@${headers.host}/mcp`);
    });
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'refused');
    expect(error).toMatchObject({ phase: 'http', maybeExecuted: false });
    expect(error.message).not.toContain('hunter22');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['no target', undefined],
    ['a target that is no URL', 'http://[::1'],
  ])('%s is refused', async (_, location) => {
    const server = await scriptedServer((answer) => redirect(answer, 302, location));
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'refused');
    expect(error.message).toContain('302');
  });

  it('303 is refused: the request may have been carried out, and asking with GET would be another', async () => {
    const server = await scriptedServer((answer) => redirect(answer, 303, '/result'));
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'refused');
    expect(error.message).toContain('303');
    expect(error.maybeExecuted).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('a loop ends', async () => {
    const server = await scriptedServer((answer, { path }) =>
      redirect(answer, 307, path === '/mcp' ? '/again' : '/mcp'),
    );
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'refused');
    expect(error.message).toContain('more than 5 times');
    expect(server.requests).toHaveLength(6);
  });

  it('304 and 300 without a target are no redirects', async () => {
    const server = await scriptedServer((answer, { index }) => answer.send(index === 0 ? 304 : 300));
    const peer = openPeer(client, server.url);
    await expect(expectLocalError(callTool(peer, 'a'), 'http_status')).resolves.toMatchObject({ status: 304 });
    await expectLocalError(callTool(peer, 'a'), 'refused');
  });
});

it('a redirect that the platform hides is refused', async () => {
  const fetch: HttpFetch = async () => ({ status: 0, type: 'opaqueredirect', headers: new Headers(), body: null });
  const peer = openPeer({ name: 'browser', make: () => undefined }, 'http://127.0.0.1/mcp', { fetch });
  const error = await expectLocalError(callTool(peer, 'a'), 'refused');
  expect(error.message).toContain('use the URL that it redirects to');
});
