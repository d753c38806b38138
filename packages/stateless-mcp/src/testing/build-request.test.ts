import { describe, expect, it } from 'vitest';
import { loopback } from '../client/index.ts';
import { CLIENT_CAPABILITIES_META_KEY, type McpRequest } from '../protocol/index.ts';
import { McpServer } from '../server/index.ts';
import { buildExchange, buildRequest } from './index.ts';

describe('buildRequest', () => {
  it('makes a request that every binding admits, without parameters and with some', async () => {
    const seen: McpRequest[] = [];
    const peer = loopback(async (request) => {
      seen.push(request);
      return { resultType: 'complete', tools: [], content: [] };
    });
    await peer(buildRequest('tools/list'), buildExchange());
    await peer(buildRequest('tools/call', { name: 'forecast', arguments: { city: 'Rome' } }), buildExchange());
    expect(seen).toEqual([
      buildRequest('tools/list'),
      buildRequest('tools/call', { name: 'forecast', arguments: { city: 'Rome' } }),
    ]);
  });

  it('adds metadata to what is required, or puts it in its place', () => {
    const { params } = buildRequest(
      'tools/list',
      {},
      { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {} }, 'com.example/trace': 'a' },
    );
    expect(params._meta).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {} },
      'com.example/trace': 'a',
    });
  });

  it('is taken by the handler of a server as it is', async () => {
    const server = new McpServer({ name: 'weather', version: '1.0.0' });
    server.registerTool('forecast', {}, () => 'Sunny');
    const result = await server.handler(buildRequest('tools/call', { name: 'forecast' }), buildExchange());
    expect(result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: 'Sunny' }] });
  });
});
