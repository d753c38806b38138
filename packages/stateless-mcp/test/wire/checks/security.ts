import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { at, callTool, CLIENT_INFO_KEY, listen, request } from '../messages.ts';

export const securityChecks: readonly WireCheck[] = [
  {
    ids: ['SEC-01'],
    title: 'every request of a connection needs its own credentials',
    server: 'guarded',
    async run(endpoint) {
      const connection = endpoint.overOneConnection();
      const who = callTool('who');
      expect(textOf(expectResult(await connection.post(who, { Authorization: 'Bearer alice' })))).toBe('alice');
      expect((await connection.post(who)).status).toBe(401);
      expect(textOf(expectResult(await connection.post(who, { Authorization: 'Bearer bob' })))).toBe('bob');
      expect((await connection.post(who, { Authorization: 'Bearer wrong' })).status).toBe(401);
    },
  },
  {
    ids: ['SEC-01'],
    title: 'scopes are asked for before the handler runs',
    server: 'guarded',
    async run(endpoint) {
      const refused = await endpoint.post(callTool('admin'), { Authorization: 'Bearer bob' });
      expect(refused.status).toBe(403);
      expect(refused.headers['www-authenticate']).toMatch(/insufficient_scope/);
      const ran = await endpoint.post(callTool('outcome', { key: 'admin' }), { Authorization: 'Bearer bob' });
      expect(textOf(expectResult(ran))).toBe('none');
    },
  },
  {
    ids: ['SEC-01'],
    title: 'a listen stream ends when its credentials do',
    server: 'guarded',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ toolsListChanged: true }, { id: 1 }), {
        Authorization: 'Bearer brief',
      });
      const { messages } = await stream.end();
      expect(messages).toHaveLength(2);
      expect(messages[1]).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    },
  },
  {
    ids: ['SEC-08'],
    title: 'who a client says it is opens no door',
    server: 'guarded',
    async run(endpoint) {
      const meta = { [CLIENT_INFO_KEY]: { name: 'alice', version: 'admin' } };
      expect((await endpoint.post(callTool('who', {}, { meta }))).status).toBe(401);
      const bob = { Authorization: 'Bearer bob' };
      expect(textOf(expectResult(await endpoint.post(callTool('who', {}, { meta }), bob)))).toBe('bob');
      expect((await endpoint.post(callTool('admin', {}, { meta }), bob)).status).toBe(403);
    },
  },
  {
    ids: ['SEC-10', 'FEAT-02'],
    title: 'what an unexpected error says stays at home',
    async run(endpoint) {
      const tool = await endpoint.post(callTool('fail', {}, { id: 'f' }));
      expect(expectResult(tool)).toMatchObject({ isError: true });
      const resource = await endpoint.post(request('resources/read', { uri: 'note://broken' }, { id: 'r' }));
      expectError(resource, { code: -32603, id: 'r' });
      const prompt = await endpoint.post(request('prompts/get', { name: 'broken' }, { id: 'p' }));
      expectError(prompt, { code: -32603, id: 'p' });
      for (const { text } of [tool, resource, prompt]) {
        expect(text).not.toMatch(/hunter2|fixture-server|\bat .*:\d+:\d+|node_modules/);
      }
    },
  },
  {
    ids: ['SEC-10'],
    title: 'a body over the limit is refused with the limit, and a deep one is not parsed',
    async run(endpoint) {
      const large = await endpoint.post(callTool('echo', { text: 'x'.repeat(300 * 1024) }));
      expect(large.status).toBe(413);
      expect(at(large.body, 'error', 'message')).toMatch(/262144/);
      const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
      const headers = { 'Content-Type': 'application/json', Accept: '*/*' };
      expectError(await endpoint.request({ headers, body: deep }), { code: -32700, status: 400, id: null });
    },
  },
];
