import { describe, expect, it } from 'vitest';
import { loopback, McpClient } from '../../src/client/index.ts';
import {
  INVALID_PARAMS,
  LIST_TOOLS,
  McpError,
  type McpHandler,
  METHOD_NOT_FOUND,
  RemoteError,
  UnsupportedProtocolVersionError,
} from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { buildExchange, buildRequest } from '../../src/testing/index.ts';
import { recordingLogger } from '../recording-logger.ts';
import { rejection } from './scripted-peer.ts';

const info = { name: 'loop', version: '1.0.0' };

/** A handler that answers everything with the same, whatever it is. */
const answering =
  (result: unknown): McpHandler =>
  async () =>
    result as never;

describe('a server in the same process', () => {
  it('answers as over a wire', async () => {
    const server = new McpServer(info);
    server.registerTool('echo', { inputSchema: { type: 'object' } }, (input) => JSON.stringify(input));
    server.registerResource('note', 'note:///1', {}, () => 'text');
    server.registerPrompt('ask', {}, () => 'please');
    await using client = new McpClient(loopback(server));
    expect((await client.listTools()).tools).toMatchObject([{ name: 'echo' }]);
    expect((await client.callTool('echo', { a: 1 })).content).toEqual([{ type: 'text', text: '{"a":1}' }]);
    expect((await client.readResource('note:///1')).contents).toMatchObject([{ uri: 'note:///1', text: 'text' }]);
    expect((await client.getPrompt('ask')).messages).toHaveLength(1);
    expect((await client.discover()).supportedVersions).toEqual(['2026-07-28']);
  });

  it('VER-01, META-02: is asked in the revision that is spoken', async () => {
    let version: unknown;
    const peer = loopback(async ({ params }) => {
      version = params._meta['io.modelcontextprotocol/protocolVersion'];
      return { resultType: 'complete', tools: [] };
    });
    const client = new McpClient(peer);
    await client.listTools();
    expect(version).toBe('2026-07-28');
    await client.request(LIST_TOOLS, { _meta: { 'io.modelcontextprotocol/protocolVersion': '1999-01-01' } });
    expect(version).toBe('2026-07-28');
  });

  it('makes one trip through JSON each way', async () => {
    const received: unknown[] = [];
    const peer = loopback(async ({ params }) => {
      received.push(params.arguments);
      return { resultType: 'complete', content: [], structuredContent: { date: new Date(0), none: undefined } };
    });
    const sent = { date: new Date(0), none: undefined, not: Number.NaN, nested: { a: [1] } };
    const { structuredContent } = await new McpClient(peer).callTool('a', sent);
    expect(received).toStrictEqual([{ date: '1970-01-01T00:00:00.000Z', not: null, nested: { a: [1] } }]);
    expect((received[0] as typeof sent).nested).not.toBe(sent.nested);
    expect(structuredContent).toStrictEqual({ date: '1970-01-01T00:00:00.000Z' });
  });

  it('arguments that JSON cannot carry are refused, and nothing is sent', async () => {
    const requests: unknown[] = [];
    const client = new McpClient(
      loopback(async (request) => {
        requests.push(request);
        return { resultType: 'complete', content: [] };
      }),
    );
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const value of [{ big: 1n }, circular]) {
      expect(await rejection(client.callTool('a', value))).toBeInstanceOf(TypeError);
    }
    expect(requests).toEqual([]);
    expect(await client.callTool('a')).toMatchObject({ content: [] });
  });

  it('HDR-16: shows tools whose header annotations are wrong: there are no headers here', async () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'array', 'x-mcp-header': 'no header' } } };
    const tools = [{ name: 'a', inputSchema }];
    const client = new McpClient(loopback(answering({ resultType: 'complete', tools })));
    expect((await client.listTools()).tools).toEqual(tools);
  });

  it('tells a handler who calls', async () => {
    const server = new McpServer(info);
    server.registerTool('who', {}, (_, { auth }) => auth?.principal ?? 'nobody');
    const ann = new McpClient(loopback(server, { auth: { principal: 'ann' } }));
    expect(await ann.callTool('who')).toMatchObject({ content: [{ text: 'ann' }] });
    expect(await new McpClient(loopback(server)).callTool('who')).toMatchObject({ content: [{ text: 'nobody' }] });
  });

  it('serves calls side by side', async () => {
    const server = new McpServer(info);
    const arrived: Array<() => void> = [];
    server.registerTool('meet', { inputSchema: { type: 'object' } }, async ({ name }) => {
      await new Promise<void>((resolve) => {
        arrived.push(resolve);
        if (arrived.length === 3) for (const go of arrived) go();
      });
      return String(name);
    });
    const client = new McpClient(loopback(server));
    const results = await Promise.all(['a', 'b', 'c'].map(async (name) => client.callTool('meet', { name })));
    expect(results).toMatchObject(['a', 'b', 'c'].map((text) => ({ content: [{ text }] })));
  });
});

describe('errors', () => {
  it('of the server arrive with code, message and data', async () => {
    const client = new McpClient(
      loopback(async () => {
        throw new McpError(7, 'no', { data: { why: ['x'] } });
      }),
    );
    const error = await rejection(client.callTool('a'));
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: 7, message: 'no', data: { why: ['x'] } });
  });

  it('BC-13: -32002 of an older server says that there is no such resource, and nothing about anything else', async () => {
    const client = new McpClient(
      loopback(async () => {
        throw new McpError(-32002, 'Resource not found', { data: { uri: 'x:1' } });
      }),
    );
    const missing = await rejection(client.readResource('x:1'));
    expect(missing).toMatchObject({ code: INVALID_PARAMS, message: 'Resource not found', data: { uri: 'x:1' } });
    expect(await rejection(client.callTool('a'))).toMatchObject({ code: -32002 });
  });

  it('that nobody expected tell a reference and nothing else', async () => {
    const logger = recordingLogger();
    const peer = loopback(
      async () => {
        throw new Error('secret');
      },
      { logger },
    );
    const error = await rejection(new McpClient(peer).callTool('a'));
    expect(error).toMatchObject({ code: -32603, data: { reference: expect.any(String) } });
    expect(String(error)).not.toContain('secret');
    expect(logger.entries).toMatchObject([{ level: 'error', fields: { error: { message: 'secret' } } }]);
  });

  it('of requests that are not admitted, or not known, are those of a wire', async () => {
    const server = new McpServer(info);
    const client = new McpClient(loopback(server));
    expect(await rejection(client.listTools())).toMatchObject({ code: METHOD_NOT_FOUND });
    const peer = loopback(server);
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': 'none' };
    const error = await rejection(peer(buildRequest('server/discover', {}, capabilities), buildExchange()));
    expect(error).toMatchObject({ code: INVALID_PARAMS });
  });

  it.each([
    ['no object', answering(5)],
    ['nothing', answering(undefined)],
    ['a result that JSON cannot carry', answering({ resultType: 'complete', tools: [1n] })],
  ])('a handler that returns %s has failed', async (_, handler) => {
    const logger = recordingLogger();
    const error = await rejection(new McpClient(loopback(handler, { logger })).listTools());
    expect(error).toMatchObject({ name: 'RemoteError', code: -32603 });
    expect(logger.entries).toHaveLength(1);
  });

  it.each([
    ['JR-10: an unknown resultType', { resultType: 'other', tools: [] }],
    ['T-112: a question', { resultType: 'input_required', requestState: 'x' }],
    ['no list', { resultType: 'complete' }],
  ])('%s is no valid answer', async (_, result) => {
    const client = new McpClient(loopback(answering(result)));
    expect(await rejection(client.listTools())).toMatchObject({ name: 'LocalError', code: 'invalid_answer' });
  });

  it('CACHE-03, T-121: what is missing of cache hints is filled in', async () => {
    for (const hints of [{}, { ttlMs: -1, cacheScope: 'shared' }]) {
      const client = new McpClient(loopback(answering({ resultType: 'complete', tools: [], ...hints })));
      expect(await client.listTools()).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    }
  });
});

describe('revisions', () => {
  it('VER-04: one that is refused is written again if the server names it after all, once', async () => {
    let requests = 0;
    const refusing =
      (times: number, supported: readonly string[]): McpHandler =>
      async () => {
        requests += 1;
        if (requests <= times) throw new UnsupportedProtocolVersionError('2026-07-28', supported);
        return { resultType: 'complete', tools: [] };
      };
    await new McpClient(loopback(refusing(1, ['2026-07-28']))).listTools();
    expect(requests).toBe(2);

    requests = 0;
    const again = await rejection(new McpClient(loopback(refusing(5, ['2026-07-28']))).listTools());
    expect(again).toMatchObject({ name: 'RemoteError', code: -32022 });
    expect(requests).toBe(2);

    requests = 0;
    const none = await rejection(new McpClient(loopback(refusing(5, ['2025-11-25', '2031-01-01']))).listTools());
    expect(none).toMatchObject({ code: -32022, data: { supported: ['2025-11-25', '2031-01-01'] } });
    expect(String(none)).toContain('2025-11-25, 2031-01-01');
    expect(requests).toBe(1);
  });
});
