import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { at, callTool, listen, mirroredHeaders, notification, request } from '../messages.ts';
import { everyError, everyResult } from '../sweeps.ts';

const standardCodes: readonly unknown[] = [-32700, -32600, -32601, -32602, -32603];
const specifiedCodes: readonly unknown[] = [-32020, -32021, -32022];

export const jsonRpcChecks: readonly WireCheck[] = [
  {
    ids: ['JR-01'],
    title: 'messages are JSON-RPC 2.0 in UTF-8, in both directions',
    async run(endpoint) {
      const text = 'Grüße, 日本 🎉 \u2028';
      const answer = await endpoint.post(callTool('echo', { text }));
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(at(answer.body, 'jsonrpc')).toBe('2.0');
      expect(textOf(expectResult(answer))).toBe(text);

      const streamed = await endpoint.post(callTool('count', { values: [1] }, { meta: { progressToken: 't' } }));
      expect(streamed.messages.map((message) => message.jsonrpc)).toEqual(['2.0', '2.0']);

      const wrongVersion = await endpoint.post({ ...request('tools/list', {}, { id: 5 }), jsonrpc: '1.0' });
      expectError(wrongVersion, { code: -32600, status: 400 });
      const latin1 = Buffer.from(JSON.stringify(callTool('echo', { text: 'é' })), 'latin1');
      const notUtf8 = await endpoint.request({ headers: mirroredHeaders(callTool('echo')), body: latin1 });
      expectError(notUtf8, { code: -32700, status: 400, id: null });
    },
  },
  {
    ids: ['JR-05', 'T-01', 'T-02'],
    title: 'a response has the id of its request, value and type',
    async run(endpoint) {
      for (const id of [0, '', 1, '1', -7, 'ünï 日', Number.MAX_SAFE_INTEGER, '__proto__']) {
        const answer = await endpoint.post(request('tools/list', {}, { id }));
        expectResult(answer);
        expect(at(answer.body, 'id')).toBe(id);
        const streamed = await endpoint.post(callTool('count', { values: [1] }, { id, meta: { progressToken: 1 } }));
        expect(at(streamed.messages.at(-1), 'id')).toBe(id);
      }
    },
  },
  {
    ids: ['JR-06'],
    title: 'an error has an integer code and a message, and no result beside it',
    async run(endpoint) {
      for (const answer of await everyError(endpoint)) {
        expect(Number.isInteger(at(answer.body, 'error', 'code')), answer.text).toBe(true);
        expect(at(answer.body, 'error', 'message')).toMatch(/\S/);
        expect(answer.body).not.toHaveProperty('result');
      }
    },
  },
  {
    ids: ['JR-07', 'T-03'],
    title: 'an error has the id of its request, or none if that could not be read',
    async run(endpoint) {
      expectError(await endpoint.post(callTool('no such tool', {}, { id: 'x7' })), { code: -32602, id: 'x7' });
      expectError(await endpoint.post(request('no/such', {}, { id: 0 })), { code: -32601, id: 0 });
      const headers = mirroredHeaders(request('tools/list'));
      for (const body of ['{"jsonrpc":"2.0","id":1,', '"text"', '[]']) {
        const answer = await endpoint.request({ headers, body });
        expect(at(answer.body, 'error'), answer.text).toBeTypeOf('object');
        expect(answer.body).not.toHaveProperty('id');
      }
      expectError(await endpoint.post({ ...request('tools/list'), id: null }), { code: -32600, status: 400, id: null });
    },
  },
  {
    ids: ['JR-08', 'JR-11', 'T-34'],
    title: 'every result says in itself that it is complete',
    async run(endpoint) {
      for (const { method, result } of await everyResult(endpoint)) expect(result.resultType, method).toBe('complete');
    },
  },
  {
    ids: ['JR-12', 'T-11', 'T-12', 'T-75'],
    title: 'a notification has no id and no answer, not even one that is unknown or names a request',
    async run(endpoint) {
      for (const method of ['notifications/initialized', 'no/such', 'tools/call', 'subscriptions/listen']) {
        for (const headers of [{}, { 'MCP-Protocol-Version': null, 'Mcp-Method': null }]) {
          const answer = await endpoint.post(notification(method, { name: 'echo' }), headers);
          expect(answer.status, answer.text).toBe(202);
          expect(answer.text).toBe('');
        }
      }
      const call = await endpoint.post(callTool('count', { values: [1, 2] }, { meta: { progressToken: 't' } }));
      const sent = call.messages.filter((message) => 'method' in message);
      expect(sent).toHaveLength(2);
      for (const message of sent) expect(message).not.toHaveProperty('id');
    },
  },
  {
    ids: ['JR-13', 'STRM-04'],
    title: 'the server sends notifications and responses, never a request',
    async run(endpoint) {
      const call = await endpoint.post(
        callTool('count', { values: [1, 2] }, { id: 'only', meta: { progressToken: 't' } }),
      );
      const stream = await endpoint.open(listen({ toolsListChanged: true }, { id: 'only' }));
      const acknowledgment = await stream.next();
      await endpoint.post(callTool('change', { what: 'tools' }));
      const messages = [...call.messages, acknowledgment, await stream.next()];
      stream.leave();
      for (const message of messages) {
        const isRequest = 'method' in message && 'id' in message;
        expect(isRequest, JSON.stringify(message)).toBe(false);
      }
    },
  },
  {
    ids: ['JR-15', 'T-45'],
    title: 'methods of capabilities that are not advertised do not exist',
    server: 'bare',
    async run(endpoint) {
      const messages = [
        ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].map((method) =>
          request(method),
        ),
        callTool('echo', { text: 'x' }),
        request('prompts/get', { name: 'greet' }),
        request('resources/read', { uri: 'note://today' }),
        request('completion/complete', {
          ref: { type: 'ref/prompt', name: 'greet' },
          argument: { name: 'a', value: '' },
        }),
        listen({ toolsListChanged: true }),
      ];
      for (const message of messages) {
        expectError(await endpoint.post(message), { code: -32601, status: 404, id: message.id });
      }
    },
  },
  {
    ids: ['JR-15'],
    title: 'names that every object has are unknown methods, too',
    async run(endpoint) {
      for (const method of ['no/such', '', 'constructor', '__proto__', 'toString', 'TOOLS/LIST', 'tools/list/']) {
        expectError(await endpoint.post(request(method, {}, { id: 9 })), { code: -32601, status: 404, id: 9 });
      }
    },
  },
  {
    ids: ['JR-16', 'T-04', 'T-06', 'T-07'],
    title: 'base failures have the standard codes',
    async run(endpoint) {
      const headers = mirroredHeaders(request('tools/list'));
      const bodies = { deep: `${'['.repeat(200)}${']'.repeat(200)}`, cut: '{"jsonrpc"', none: '' };
      for (const body of Object.values(bodies)) {
        expectError(await endpoint.request({ headers, body }), { code: -32700, status: 400, id: null });
      }
      const valid = request('tools/list');
      const invalid = [
        [valid],
        [],
        'text',
        7,
        { jsonrpc: '2.0', id: 1, result: { resultType: 'complete' } },
        { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } },
        { ...valid, id: 1.5 },
        { ...valid, id: { n: 1 } },
        { ...valid, method: 7 },
        { ...valid, jsonrpc: undefined },
      ];
      for (const message of invalid) {
        expectError(await endpoint.post(message, headers), { code: -32600, status: 400 });
      }
      expectError(await endpoint.post(request('resources/read', {}, { id: 1 })), { code: -32602, id: 1 });
      expectError(await endpoint.post(request('tools/call', { name: 7 }, { id: 2 })), { code: -32602, id: 2 });
      const broken = await endpoint.post(request('resources/read', { uri: 'note://broken' }, { id: 3 }));
      expectError(broken, { code: -32603, id: 3 });
    },
  },
  {
    ids: ['JR-17', 'JR-18', 'JR-20', 'JR-21'],
    title: 'codes are the standard ones, the three of the specification, or outside the reserved range',
    async run(endpoint) {
      for (const answer of await everyError(endpoint)) {
        const code = at(answer.body, 'error', 'code');
        const isReserved = typeof code === 'number' && code >= -32768 && code <= -32000;
        const isAllowed = !isReserved || standardCodes.includes(code) || specifiedCodes.includes(code);
        expect(isAllowed, answer.text).toBe(true);
      }
    },
  },
  {
    ids: ['JR-24'],
    title: 'notifications of a request come before its response',
    async run(endpoint) {
      const answer = await endpoint.post(callTool('count', { values: [1, 2, 3] }, { meta: { progressToken: 't' } }));
      expect(answer.messages.map((message) => message.method ?? 'response')).toEqual([
        'notifications/progress',
        'notifications/progress',
        'notifications/progress',
        'response',
      ]);
    },
  },
];
