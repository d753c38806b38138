import { expect } from 'vitest';
import type { JsonObject } from '../../../src/protocol/json.ts';
import type { WireCheck } from '../check.ts';
import type { WireEndpoint } from '../endpoint.ts';
import { expectError, expectResult } from '../expectations.ts';
import { at, notification, request, VERSION } from '../messages.ts';

export const removedChecks: readonly WireCheck[] = [
  {
    ids: ['RM-01', 'T-12'],
    title: 'there is no handshake',
    async run(endpoint) {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
      await expectUnknown(endpoint, { initialize: params });
      expect((await endpoint.post(notification('notifications/initialized'))).status).toBe(202);
    },
  },
  {
    ids: ['BC-10', 'T-68'],
    title: 'a client that tries the handshake of old learns which version is served',
    async run(endpoint) {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
      const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
      const asOldClientsDo = await endpoint.post(initialize, { 'MCP-Protocol-Version': null, 'Mcp-Method': null });
      expect(asOldClientsDo.status).toBe(400);
      expect(JSON.stringify(at(asOldClientsDo.body, 'error'))).toContain(VERSION);
      expect(at(asOldClientsDo.body, 'id')).toBe(0);
    },
  },
  {
    ids: ['RM-02'],
    title: 'there is no ping',
    run: (endpoint) => expectUnknown(endpoint, { ping: {} }),
  },
  {
    ids: ['RM-03'],
    title: 'the log level is not a state to set',
    run: (endpoint) => expectUnknown(endpoint, { 'logging/setLevel': { level: 'debug' } }),
  },
  {
    ids: ['RM-04', 'SUB-24'],
    title: 'resources are not subscribed to by calls of their own',
    run: (endpoint) =>
      expectUnknown(endpoint, {
        'resources/subscribe': { uri: 'note://today' },
        'resources/unsubscribe': { uri: 'note://today' },
      }),
  },
  {
    ids: ['RM-05'],
    title: 'what is asked of clients are no methods',
    run: (endpoint) =>
      expectUnknown(endpoint, {
        'roots/list': {},
        'sampling/createMessage': { messages: [], maxTokens: 1 },
        'elicitation/create': { message: 'x', requestedSchema: { type: 'object', properties: {} } },
      }),
  },
  {
    ids: ['RM-06'],
    title: 'changed roots are nobody’s business',
    async run(endpoint) {
      expect((await endpoint.post(notification('notifications/roots/list_changed'))).status).toBe(202);
      const discovered = expectResult(await endpoint.post(request('server/discover')));
      expect(JSON.stringify(discovered)).not.toContain('roots');
    },
  },
  {
    ids: ['RM-07', 'HTTP-08'],
    title: 'there is no stream to GET and no session to DELETE',
    async run(endpoint) {
      const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': 'abc', 'Last-Event-ID': '1' };
      for (const method of ['GET', 'DELETE']) {
        const answer = await endpoint.request({ method, headers });
        expect(answer.status).toBe(405);
        expect(answer.headers.allow).toBe('POST');
        expect(answer.headers['content-type'] ?? '').not.toContain('text/event-stream');
        expect(answer.headers).not.toHaveProperty('mcp-session-id');
      }
    },
  },
  {
    ids: ['RM-08'],
    title: 'tasks are not part of the core, nor are the notifications that went',
    async run(endpoint) {
      await expectUnknown(endpoint, {
        'tasks/get': { taskId: 'x' },
        'tasks/list': {},
        'tasks/result': { taskId: 'x' },
        'tasks/cancel': { taskId: 'x' },
      });
      for (const method of ['notifications/tasks/status', 'notifications/elicitation/complete']) {
        expect((await endpoint.post(notification(method))).status).toBe(202);
      }
      const { capabilities } = expectResult(await endpoint.post(request('server/discover')));
      expect(capabilities).not.toHaveProperty('tasks');
    },
  },
];

async function expectUnknown(endpoint: WireEndpoint, calls: Readonly<Record<string, JsonObject>>): Promise<void> {
  for (const [method, params] of Object.entries(calls)) {
    const answer = await endpoint.post(request(method, params, { id: method }));
    expectError(answer, { code: -32601, status: 404, id: method });
  }
}
