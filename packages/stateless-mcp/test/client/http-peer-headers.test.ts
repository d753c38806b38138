import { describe, expect, it } from 'vitest';
import { defineMethod, METHODS } from '../../src/protocol/index.ts';
import { ask, callTool, CONTENT, HTTP_CLIENTS, openPeer } from './http-peer-harness.ts';
import { type Answer, type Received, scriptedServer } from './scripted-server.ts';

const VERSION = '2026-07-28';

/** A complete result of each method, by its name. */
const RESULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'server/discover': { supportedVersions: [VERSION], capabilities: {} },
  'tools/list': { tools: [] },
  'tools/call': { content: [] },
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'resources/read': { contents: [] },
  'prompts/list': { prompts: [] },
  'prompts/get': { messages: [] },
  'completion/complete': { completion: { values: [] } },
  'subscriptions/listen': {},
};

const PARAMS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'tools/call': { name: 'forecast', arguments: {} },
  'resources/read': { uri: 'file:///notes/today?day=50%25' },
  'prompts/get': { name: 'summary' },
  'completion/complete': { ref: { type: 'ref/prompt', name: 'summary' }, argument: { name: 'a', value: '' } },
  'subscriptions/listen': { notifications: {} },
};

const NAMES: Readonly<Record<string, string>> = {
  'tools/call': 'forecast',
  'resources/read': 'file:///notes/today?day=50%25',
  'prompts/get': 'summary',
};

const answerAnything = (answer: Answer, { message }: Received): void => answer.result(RESULTS[message.method] ?? {});

describe.each(HTTP_CLIENTS)('the head of a request over $name', (client) => {
  it.each(METHODS.map(({ name }) => name))('HTTP-02, HTTP-03, HTTP-04, HDR-01, HDR-03, HDR-04: %s', async (method) => {
    const server = await scriptedServer(answerAnything);
    await ask(openPeer(client, server.url), method, PARAMS[method]);
    const [request] = server.requests;
    expect(server.requests).toHaveLength(1);
    expect(request?.httpMethod).toBe('POST');
    expect(request?.message).toMatchObject({ jsonrpc: '2.0', method, params: PARAMS[method] ?? {} });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
    });
    expect(request?.headers['mcp-name']).toBe(NAMES[method]);
    expect(request?.headers).not.toHaveProperty('mcp-session-id');
    expect(request?.headers).not.toHaveProperty('last-event-id');
  });

  it('HDR-05: a method of an extension mirrors the parameter that its row names', async () => {
    const server = await scriptedServer(answerAnything);
    const getTask = defineMethod({ name: 'tasks/get', target: 'taskId' });
    const peer = openPeer(client, server.url, { methods: [...METHODS, getTask] });
    await ask(peer, 'tasks/get', { taskId: 'task 7', name: 'not this' });
    expect(server.requests[0]?.headers['mcp-name']).toBe('task 7');
  });

  it('sends a method that it does not know without a name', async () => {
    const server = await scriptedServer(answerAnything);
    await ask(openPeer(client, server.url), 'com.example/report', { name: 'weekly' });
    expect(server.requests[0]?.headers).toMatchObject({ 'mcp-method': 'com.example/report' });
    expect(server.requests[0]?.headers).not.toHaveProperty('mcp-name');
  });

  it.each([
    ['plain text with inner spaces', 'get the weather', 'get the weather'],
    ['not ASCII', 'wetter-für-köln', '=?base64?d2V0dGVyLWbDvHIta8O2bG4=?='],
    ['white space at its ends', '\tpadded ', '=?base64?CXBhZGRlZCA=?='],
    ['a line break', 'a\r\nx-injected: 1', '=?base64?YQ0KeC1pbmplY3RlZDogMQ==?='],
    ['the look of the encoded form', '=?base64?SGVsbG8=?=', '=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?='],
    ['the empty string', '', ''],
  ])('HDR-08, HDR-09: a name with %s', async (_, name, header) => {
    const server = await scriptedServer(answerAnything);
    await callTool(openPeer(client, server.url), name);
    expect(server.requests[0]?.headers['mcp-name']).toBe(header);
    expect(server.requests[0]?.headers).not.toHaveProperty('x-injected');
    expect(server.requests[0]?.message.params.name).toBe(name);
  });

  it('HDR-08: the name of a prompt and the URI of a resource are encoded in the same way', async () => {
    const server = await scriptedServer(answerAnything);
    const peer = openPeer(client, server.url);
    await ask(peer, 'prompts/get', { name: 'Übersicht' });
    await ask(peer, 'resources/read', { uri: 'notes://Übersicht' });
    expect(server.requests.map(({ headers }) => headers['mcp-name'])).toEqual([
      '=?base64?w5xiZXJzaWNodA==?=',
      '=?base64?bm90ZXM6Ly/DnGJlcnNpY2h0?=',
    ]);
  });

  it('META-01, META-02, META-03, VER-01: metadata is in the body, the version the same as in the header', async () => {
    const server = await scriptedServer(answerAnything);
    const meta = { 'com.example/trace': 'abc', progressToken: 'of another hop' };
    await ask(openPeer(client, server.url), 'tools/list', {}, { meta });
    expect(server.requests[0]?.message.params).toEqual({
      _meta: {
        'io.modelcontextprotocol/protocolVersion': VERSION,
        'io.modelcontextprotocol/clientCapabilities': {},
        'com.example/trace': 'abc',
      },
    });
  });

  it('JR-02, JR-03, JR-04, META-18: ids are integers, tokens are unique among what is open', async () => {
    const parked: Answer[] = [];
    const server = await scriptedServer((answer) => {
      parked.push(answer);
      if (parked.length === 3) for (const each of parked) each.result(CONTENT);
    });
    const peer = openPeer(client, server.url);
    await Promise.all([1, 2, 3].map(async () => callTool(peer, 'slow', {}, { wantsProgress: true })));
    const ids = server.requests.map(({ message }) => message.id);
    expect(ids.every((id) => Number.isSafeInteger(id))).toBe(true);
    expect(new Set(ids).size).toBe(3);
    const tokens = server.requests.map(({ message }) => message.params._meta.progressToken);
    expect(tokens.every((token) => Number.isSafeInteger(token))).toBe(true);
    expect(new Set(tokens).size).toBe(3);
  });

  it('SEC-02: the header for authorization is on every request', async () => {
    const server = await scriptedServer(answerAnything);
    const peer = openPeer(client, server.url, { headers: { Authorization: 'Bearer first-token' } });
    for (const method of ['server/discover', 'tools/list', 'tools/list']) await ask(peer, method);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 3 }, () => 'Bearer first-token'),
    );
    expect(server.requests.every(({ path }) => path === '/mcp')).toBe(true);
  });

  it('puts the headers of its user under those of the protocol', async () => {
    const server = await scriptedServer(answerAnything);
    const headers = {
      ACCEPT: 'application/json',
      'Content-Type': 'text/plain',
      'content-length': '1',
      Host: 'elsewhere.example',
      'Mcp-Method': 'tools/list',
      'Mcp-Name': 'other',
      'MCP-Protocol-Version': '2025-06-18',
      'Mcp-Param-Region': 'eu',
      'X-Tenant': 'acme',
      'Accept-Language': 'de',
    };
    await callTool(openPeer(client, server.url, { headers }), 'forecast');
    expect(server.requests[0]?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      host: new URL(server.origin).host,
      'mcp-method': 'tools/call',
      'mcp-name': 'forecast',
      'mcp-protocol-version': VERSION,
      'x-tenant': 'acme',
      'accept-language': 'de',
    });
    expect(server.requests[0]?.headers).not.toHaveProperty('mcp-param-region');
    const names = server.requests[0]?.headerNames.map((name) => name.toLowerCase()) ?? [];
    expect(new Set(names).size).toBe(names.length);
  });

  it('keeps what belongs to the connection from its user, and works all the same', async () => {
    const server = await scriptedServer(answerAnything);
    const headers = {
      Connection: 'close',
      'Keep-Alive': 'timeout=1',
      'Transfer-Encoding': 'chunked',
      TE: 'trailers',
      Trailer: 'x-a',
      Upgrade: 'h2c',
      Expect: '100-continue',
      'Proxy-Connection': 'close',
      'Accept-Encoding': 'zstd',
      'X-Tenant': 'acme',
    };
    await ask(openPeer(client, server.url, { headers }), 'tools/list');
    expect(server.requests[0]?.headers['x-tenant']).toBe('acme');
    for (const name of ['upgrade', 'expect', 'te', 'trailer', 'transfer-encoding', 'proxy-connection']) {
      expect(server.requests[0]?.headers).not.toHaveProperty(name);
    }
    expect(server.requests[0]?.headers['accept-encoding']).not.toBe('zstd');
  });

  it('asks a function for its headers before each request', async () => {
    const server = await scriptedServer(answerAnything);
    let made = 0;
    const headers = async (): Promise<Record<string, string>> => ({ 'X-Request': String(++made) });
    const peer = openPeer(client, server.url, { headers });
    await ask(peer, 'tools/list');
    await ask(peer, 'tools/list');
    expect(server.requests.map((request) => request.headers['x-request'])).toEqual(['1', '2']);
  });

  it('is explained: what was asked, in which revision, with what', async () => {
    const server = await scriptedServer(answerAnything);
    const peer = openPeer(client, server.url);
    expect(peer.explain()).toEqual({
      endpoint: server.url,
      transport: 'http',
      revision: VERSION,
      reason: expect.any(String) as string,
      requests: 0,
      authorization: 'none',
    });
    await ask(peer, 'tools/list');
    expect(peer.explain()).toMatchObject({ requests: 1, lastAnswerMs: expect.any(Number) as number });
  });

  it('JR-14: nothing that a server sends is answered', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().event({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
      answer.event({ jsonrpc: '2.0', id: 'x', method: 'ping' });
      answer.finish(CONTENT);
    });
    const peer = openPeer(client, server.url);
    await callTool(peer, 'curious');
    await callTool(peer, 'curious');
    expect(server.requests.map(({ message }) => message.method)).toEqual(['tools/call', 'tools/call']);
    expect(peer.log.entries.filter(({ message }) => message.includes('roots/list'))).toHaveLength(2);
  });
});
