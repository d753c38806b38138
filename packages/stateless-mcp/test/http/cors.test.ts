import { describe, expect, it } from 'vitest';
import type { HttpOptions } from '../../src/http/index.ts';
import { McpError, type McpHandler } from '../../src/protocol/index.ts';
import { notification, request } from '../wire/messages.ts';
import { DONE, requestText, serveNode } from './harness.ts';
import type { RawResponse } from './raw-client.ts';

const message = request('tools/list');
const origin = 'https://app.example.com';
const named: HttpOptions = { allowedOrigins: [origin, 'http://localhost:5173'] };
const handler: McpHandler = async () => DONE;

const denied: HttpOptions = {
  ...named,
  authenticate: () => {
    throw new McpError(401, 'Who are you?', { headers: { 'WWW-Authenticate': 'Bearer' } });
  },
};

async function preflight(options: HttpOptions, headers: Readonly<Record<string, string>>): Promise<RawResponse> {
  const { send } = await serveNode(handler, options);
  return send(undefined, {
    method: 'OPTIONS',
    headers: { 'content-type': null, 'access-control-request-method': 'POST', ...headers },
  });
}

function accessControl({ headers }: RawResponse): readonly string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-')).sort();
}

describe('a preflight', () => {
  it('of a named origin is answered before authentication', async () => {
    const response = await preflight(denied, { origin });
    expect(response.status).toBe(204);
    expect(response.text).toBe('');
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-allow-methods')).toBe('POST');
    expect(response.headers.get('vary')).toContain('Origin');
    const allowed = response.headers.get('access-control-allow-headers')?.split(', ') ?? [];
    for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']) {
      expect(allowed).toContain(name);
    }
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('of another origin gets no permission', async () => {
    for (const other of ['https://evil.example', 'null', 'https://app.example.com.evil.example']) {
      const response = await preflight(named, { origin: other });
      expect(response.status).toBe(403);
      expect(accessControl(response)).toEqual([]);
    }
  });

  it('gets back the parameter headers that it asks for, and no others', async () => {
    const response = await preflight(named, {
      origin,
      'access-control-request-headers': 'Mcp-Param-Region, mcp-param-a_b~1,x-evil, cookie, mcp-param-, mcp-session-id',
    });
    const allowed = response.headers.get('access-control-allow-headers')?.split(', ') ?? [];
    expect(allowed.filter((name) => name.startsWith('mcp-param-'))).toEqual(['mcp-param-region', 'mcp-param-a_b~1']);
    for (const name of ['x-evil', 'cookie', 'mcp-session-id', 'mcp-param-']) expect(allowed).not.toContain(name);
  });

  it.each([
    ['a line break in disguise', 'mcp-param-a%0d%0aset-cookie: x=1'],
    ['a colon', 'mcp-param-a: b'],
    ['a space', 'mcp-param-a b'],
    ['a wildcard', '*'],
    ['a quote', 'mcp-param-"a"'],
    ['bytes beyond ASCII', 'mcp-param-\u00e9'],
    ['a parenthesis', 'mcp-param-(x)'],
    ['a tab', 'mcp-param-a\tb'],
  ])('does not reflect %s', async (_what, requested) => {
    const response = await preflight(named, { origin, 'access-control-request-headers': requested });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-headers')).not.toMatch(/mcp-param|set-cookie|\*/);
    expect(response.headers.has('set-cookie')).toBe(false);
  });

  it('cannot make the answer large', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `mcp-param-${index}`).join(',');
    const response = await preflight(named, { origin, 'access-control-request-headers': names });
    expect(response.headers.get('access-control-allow-headers')?.length).toBeLessThan(4000);
  });

  it('is only what a browser sends as one', async () => {
    const { send } = await serveNode(handler, named);
    expect((await send(undefined, { method: 'OPTIONS', headers: { origin } })).status).toBe(405);
    const noOrigin = { 'access-control-request-method': 'POST' };
    expect((await send(undefined, { method: 'OPTIONS', headers: noOrigin })).status).toBe(405);
  });
});

describe('an answer to a page of a named origin', () => {
  const cases: readonly (readonly [what: string, options: HttpOptions, parts: object, status: number])[] = [
    ['a result', named, {}, 200],
    ['an error of admission', named, { headers: { origin, 'mcp-method': 'other' } }, 400],
    ['a refused credential', denied, {}, 401],
    ['a wrong method', named, { method: 'GET' }, 405],
    ['a body that is too large', { ...named, maxBodyBytes: 10 }, {}, 413],
    ['a wrong content type', named, { headers: { origin, 'content-type': 'text/plain' } }, 415],
    ['text that is no JSON', named, { body: '{' }, 400],
  ];

  it.each(cases)('may be read: %s', async (_what, options, parts, status) => {
    const { send } = await serveNode(handler, options);
    const response = await send(message, { headers: { origin }, ...parts });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-expose-headers')).toMatch(/WWW-Authenticate/i);
    expect(response.headers.get('vary')).toMatch(/Origin/);
  });

  it('may be read: an accepted notification, a stream, a refusal while draining', async () => {
    const { send, connect, listener } = await serveNode(async (_request, exchange) => {
      void exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 1 } });
      return DONE;
    }, named);
    const accepted = await send(notification('notifications/cancelled', { requestId: 1 }), { headers: { origin } });
    expect([accepted.status, accepted.headers.get('access-control-allow-origin')]).toEqual([202, origin]);
    const client = await connect();
    void client.write(requestText(message, { headers: { origin } }));
    const stream = await client.response();
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.headers.get('access-control-allow-origin')).toBe(origin);
    await listener.drain();
    const refused = await send(message, { headers: { origin } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([503, origin]);
  });

  it('names the origin that asked, never all of them', async () => {
    const { send } = await serveNode(handler, named);
    const other = await send(message, { headers: { origin: 'http://localhost:5173' } });
    expect(other.headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
    const open = await serveNode(handler, { allowedOrigins: 'any' });
    const anybody = await open.send(message, { headers: { origin: 'https://whoever.example' } });
    expect(anybody.headers.get('access-control-allow-origin')).toBe('https://whoever.example');
  });
});

describe('everybody else', () => {
  it('gets no cross-origin headers', async () => {
    const { send } = await serveNode(handler, { ...named, allowedHosts: ['mcp.example.com'] });
    const host = 'mcp.example.com';
    expect(accessControl(await send(message, { headers: { host } }))).toEqual([]);
    // A page of its own needs none.
    const own = await send(message, { headers: { host, origin: 'https://mcp.example.com' } });
    expect([own.status, accessControl(own)]).toEqual([200, []]);
    const unnamed = await send(message, { headers: { host, origin: 'https://evil.example' } });
    expect([unnamed.status, accessControl(unnamed)]).toEqual([403, []]);
  });
});
