import { expect } from 'vitest';
import type { JsonObject } from '../../src/protocol/json.ts';
import type { WireEndpoint } from './endpoint.ts';
import type { WireAnswer } from './exchange.ts';
import { at, callTool, CAPABILITIES_KEY, listen, mirroredHeaders, request, VERSION_KEY } from './messages.ts';

/** One request of every method that the full fixture answers with a result. */
function everyRequest(): readonly JsonObject[] {
  return [
    request('server/discover'),
    request('tools/list'),
    callTool('echo', { text: 'sweep' }),
    callTool('fail'),
    request('prompts/list'),
    request('prompts/get', { name: 'greet', arguments: { who: 'you' } }),
    request('resources/list'),
    request('resources/templates/list'),
    request('resources/read', { uri: 'note://today' }),
    request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: 'A' },
    }),
    // Nothing is asked for, so that it completes at once.
    listen({}),
  ];
}

/** The results of one request of every method, with the method of each. */
export async function everyResult(
  endpoint: WireEndpoint,
): Promise<readonly { readonly method: string; readonly result: JsonObject }[]> {
  const results = await Promise.all(
    everyRequest().map(async (message) => {
      const answer = await endpoint.post(message);
      return { method: String(message.method), result: at(answer.messages.at(-1), 'result') as JsonObject, answer };
    }),
  );
  for (const { method, result, answer } of results) expect(result, `${method}: ${answer.text}`).toBeTypeOf('object');
  return results;
}

/** Answers that are errors, one of each kind that a client can provoke without credentials. */
export function everyError(endpoint: WireEndpoint): Promise<readonly WireAnswer[]> {
  const headers = mirroredHeaders(request('tools/list'));
  return Promise.all([
    endpoint.request({ headers, body: '{' }),
    endpoint.request({ headers, body: '[]' }),
    endpoint.post({ jsonrpc: '2.0', id: null, method: 'tools/list' }),
    endpoint.post({ jsonrpc: '2.0', id: 1, result: {} }),
    endpoint.post(request('no/such')),
    endpoint.post(request('initialize')),
    endpoint.post(request('tools/list', {}, { meta: { [CAPABILITIES_KEY]: undefined } })),
    endpoint.post(request('tools/list', {}, { meta: { [VERSION_KEY]: '1999-01-01' } })),
    endpoint.post(request('tools/list'), { 'Mcp-Method': 'tools/call' }),
    endpoint.post(request('tools/list', { cursor: 'no such cursor' })),
    endpoint.post(callTool('no such tool')),
    endpoint.post(callTool('sample')),
    endpoint.post(request('prompts/get', { name: 'no such prompt' })),
    endpoint.post(request('resources/read', { uri: 'note://missing' })),
    endpoint.post(request('resources/read', { uri: 'note://broken' })),
    endpoint.post(request('subscriptions/listen')),
    endpoint.post(callTool('echo', { text: 'x'.repeat(300 * 1024) })),
  ]);
}
