import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import {
  callTool,
  CAPABILITIES_KEY,
  listen,
  mirroredHeaders,
  notification,
  request,
  VERSION_KEY,
} from '../messages.ts';
import { isEvent } from '../sse-frames.ts';

export const httpChecks: readonly WireCheck[] = [
  {
    ids: ['HTTP-01', 'T-79'],
    title: 'one path is the endpoint; what another one says answers no request',
    async run(endpoint) {
      const message = request('tools/list');
      expectResult(await endpoint.post(message));
      const elsewhere = await endpoint.request({
        path: '/elsewhere',
        headers: mirroredHeaders(message),
        body: JSON.stringify(message),
      });
      expect(elsewhere.status).toBe(404);
      if (elsewhere.body !== undefined) expect(elsewhere.body).not.toHaveProperty('id');
    },
  },
  {
    ids: ['HTTP-05', 'T-74'],
    title: 'a notification is answered 202 without a body',
    async run(endpoint) {
      const answer = await endpoint.post(notification('notifications/anything', { some: 'thing' }));
      expect(answer.status).toBe(202);
      expect(answer.text).toBe('');
      expect(answer.headers).not.toHaveProperty('content-type');
    },
  },
  {
    ids: ['HTTP-06'],
    title: 'a notification that cannot be accepted is an HTTP error, its body an error without id',
    async run(endpoint) {
      const bad = { ...notification('notifications/anything'), jsonrpc: '1.0' };
      const answers = [
        await endpoint.post(bad),
        await endpoint.post(notification('notifications/anything'), { 'Content-Type': 'text/plain' }),
        await endpoint.post(notification('notifications/anything'), { Origin: 'https://evil.example' }),
      ];
      expect(answers.map((answer) => answer.status)).toEqual([400, 415, 403]);
      for (const { body } of answers) if (body !== undefined) expect(body).not.toHaveProperty('id');
    },
  },
  {
    ids: ['HTTP-07', 'T-76', 'T-77'],
    title: 'an unknown method is 404 with a body; an unknown tool is not',
    async run(endpoint) {
      const method = await endpoint.post(request('no/such', {}, { id: 'm' }));
      expectError(method, { code: -32601, status: 404, id: 'm' });
      expect(method.headers['content-type']).toMatch(/^application\/json\b/);
      const tool = await endpoint.post(callTool('no such tool', {}, { id: 't' }));
      expectError(tool, { code: -32602, id: 't' });
      expect(tool.status).toBe(200);
    },
  },
  {
    ids: ['HTTP-08', 'RM-07', 'T-83'],
    title: 'other methods than POST are 405 and told what is allowed',
    async run(endpoint) {
      for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
        const answer = await endpoint.request({ method, headers: { Accept: 'text/event-stream' } });
        expect(answer.status, method).toBe(405);
        expect(answer.headers.allow).toBe('POST');
      }
    },
  },
  {
    ids: ['HTTP-09', 'T-84'],
    title: 'headers of sessions and of resumption are ignored',
    async run(endpoint) {
      const headers = { 'Mcp-Session-Id': 'unknown-session', 'Last-Event-ID': '17' };
      expect(textOf(expectResult(await endpoint.post(callTool('echo', { text: 'x' }), headers)))).toBe('x');
      const stream = await endpoint.open(listen({ toolsListChanged: true }), headers);
      expect(await stream.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
      expect(stream.headers).not.toHaveProperty('mcp-session-id');
      stream.leave();
    },
  },
  {
    ids: ['HTTP-10', 'T-103'],
    title: 'listen streams tell proxies not to buffer',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ toolsListChanged: true }));
      expect(stream.headers['x-accel-buffering']).toBe('no');
      expect(stream.headers['cache-control']).toMatch(/no-store|no-cache/);
      stream.leave();
    },
  },
  {
    ids: ['HTTP-11', 'T-102'],
    title: 'a quiet stream gets comment lines',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ toolsListChanged: true }));
      await stream.next();
      expect(isEvent(await stream.nextFrame())).toBe(false);
      expect(isEvent(await stream.nextFrame())).toBe(false);
      stream.leave();
    },
  },
  {
    ids: ['HTTP-13', 'SEC-04', 'T-82'],
    title: 'a foreign origin is refused on every method, the own and no origin are not',
    async run(endpoint) {
      const message = callTool('echo', { text: 'x' });
      for (const origin of [
        'https://evil.example',
        'null',
        'http://127.0.0.1.evil.example',
        'http://localhost@evil.example',
      ]) {
        const answer = await endpoint.post(message, { Origin: origin });
        expect(answer.status, origin).toBe(403);
        if (answer.body !== undefined) expect(answer.body).not.toHaveProperty('id');
        for (const method of ['GET', 'DELETE']) {
          expect((await endpoint.request({ method, headers: { Origin: origin } })).status).toBe(403);
        }
      }
      expectResult(await endpoint.post(message));
      expectResult(await endpoint.post(message, { Origin: new URL(endpoint.url).origin }));
    },
  },
  {
    ids: ['SEC-04', 'T-82'],
    title: 'a name that was made to point at loopback is refused',
    async run(endpoint) {
      const message = callTool('echo', { text: 'x' });
      for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost.evil.example']) {
        expect((await endpoint.post(message, { Host: host })).status, host).toBe(403);
      }
      const { port } = new URL(endpoint.url);
      expectResult(await endpoint.post(message, { Host: `localhost:${port}` }));
    },
  },
  {
    ids: ['HTTP-14'],
    title: 'without being told otherwise the server listens on loopback alone',
    async run(endpoint) {
      const { hostname, port } = new URL(endpoint.url);
      expect(['127.0.0.1', 'localhost', '[::1]']).toContain(hostname);
      const outside = Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .filter((address) => !address.internal && address.family === 'IPv4');
      for (const { address } of outside) {
        const outcome = await new Promise((resolve) => {
          const socket = connect({ host: address, port: Number(port), timeout: 1000 });
          for (const event of ['connect', 'error', 'timeout']) {
            socket.once(event, () => {
              socket.destroy();
              resolve(event);
            });
          }
        });
        expect(outcome).not.toBe('connect');
      }
    },
  },
  {
    ids: ['HTTP-15', 'SEC-01'],
    title: 'a guarded server answers nobody without credentials, whatever the request',
    server: 'guarded',
    async run(endpoint) {
      const attempts = [
        await endpoint.post(request('server/discover')),
        await endpoint.post(request('tools/list')),
        await endpoint.post(listen({ toolsListChanged: true })),
        await endpoint.post(notification('notifications/anything')),
        await endpoint.post(request('tools/list'), { Authorization: 'Bearer wrong' }),
        await endpoint.post({ not: 'a message' }),
        await endpoint.request({ method: 'POST', path: `${endpoint.url}?access_token=alice` }),
      ];
      for (const answer of attempts) {
        expect(answer.status, answer.text).toBe(401);
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer\b/);
      }
      expectResult(await endpoint.post(request('tools/list'), { Authorization: 'Bearer alice' }));
    },
  },
  {
    ids: ['HTTP-16', 'T-14', 'T-78'],
    title: 'each refusal has its status',
    async run(endpoint) {
      const message = request('tools/list');
      const matrix = [
        [request('tools/list', {}, { meta: { [CAPABILITIES_KEY]: undefined } }), {}, 400, -32602],
        [message, { 'MCP-Protocol-Version': null }, 400, -32020],
        [message, { 'Mcp-Method': 'tools/call' }, 400, -32020],
        [callTool('sample'), {}, 400, -32021],
        [request('tools/list', {}, { meta: { [VERSION_KEY]: '1999-01-01' } }), {}, 400, -32022],
        [request('no/such'), {}, 404, -32601],
      ] as const;
      for (const [body, headers, status, code] of matrix) {
        expectError(await endpoint.post(body, headers), { status, code, id: body.id });
      }
    },
  },
  {
    ids: ['T-14'],
    title: 'of several faults the first of the fixed order is told',
    async run(endpoint) {
      const nothing = { [CAPABILITIES_KEY]: undefined, [VERSION_KEY]: undefined };
      const old = { [VERSION_KEY]: '1999-01-01' };
      const cases = [
        [request('no/such', {}, { meta: nothing }), { 'MCP-Protocol-Version': null, 'Mcp-Method': null }, -32020],
        [request('no/such', {}, { meta: nothing }), { 'Mcp-Method': null }, -32602],
        [request('no/such', {}, { meta: old }), { 'MCP-Protocol-Version': '1998-01-01' }, -32020],
        [request('no/such', {}, { meta: old }), { 'Mcp-Method': null }, -32022],
        [request('no/such'), { 'Mcp-Method': null }, -32020],
        [callTool('sample', {}), { 'Mcp-Name': 'echo' }, -32020],
      ] as const;
      for (const [message, headers, code] of cases) {
        expectError(await endpoint.post(message, headers), { code, status: 400, id: message.id });
      }
    },
  },
  {
    ids: ['T-104'],
    title: 'the content type is compared as a media type',
    async run(endpoint) {
      for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;x="a;b"']) {
        expectResult(await endpoint.post(request('tools/list'), { 'Content-Type': type }));
      }
      for (const type of ['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', null]) {
        expect((await endpoint.post(request('tools/list'), { 'Content-Type': type })).status, String(type)).toBe(415);
      }
    },
  },
  {
    ids: ['T-105'],
    title: 'Accept is read leniently',
    async run(endpoint) {
      for (const accept of ['*/*', 'application/*', 'text/event-stream', 'text/html', null]) {
        expectResult(await endpoint.post(callTool('echo', { text: 'x' }), { Accept: accept }));
      }
    },
  },
  {
    ids: ['T-107'],
    title: 'pages that were named may call, and learn so before they are asked who they are',
    server: 'guarded',
    async run(endpoint) {
      const asked = [
        'authorization',
        'content-type',
        'mcp-method',
        'mcp-name',
        'mcp-param-region',
        'mcp-protocol-version',
      ];
      const preflight = (origin: string): ReturnType<typeof endpoint.request> =>
        endpoint.request({
          method: 'OPTIONS',
          headers: {
            Origin: origin,
            'Access-Control-Request-Method': 'POST',
            'Access-Control-Request-Headers': asked.join(', '),
          },
        });
      const allowed = await preflight('https://app.example');
      expect(allowed.status).toBe(204);
      expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example');
      const named = (allowed.headers['access-control-allow-headers'] ?? '').toLowerCase().split(/, */);
      for (const header of asked) expect(named).toContain(header);
      expect((await preflight('https://evil.example')).status).toBe(403);
      const refused = await endpoint.post(request('tools/list'), { Origin: 'https://app.example' });
      expect(refused.status).toBe(401);
      expect(refused.headers['access-control-allow-origin']).toBe('https://app.example');
    },
  },
];
