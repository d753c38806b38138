import { describe, expect, it } from 'vitest';
import { McpClient, type McpClientOptions, type RequestOptions } from '../../src/client/index.ts';
import { CALL_TOOL, COMPLETE, LIST_TOOLS } from '../../src/protocol/index.ts';
import { scriptedPeer } from './scripted-peer.ts';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

const everything = {
  supportedVersions: [],
  capabilities: {},
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  contents: [],
  content: [],
  messages: [],
  completion: { values: [] },
};

const prompt = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'v' } } as const;

const verbs = [
  ['server/discover', {}, (client: McpClient, options?: RequestOptions) => client.discover(options)],
  ['tools/list', {}, (client: McpClient, options?: RequestOptions) => client.listTools(options)],
  ['resources/list', {}, (client: McpClient, options?: RequestOptions) => client.listResources(options)],
  [
    'resources/templates/list',
    {},
    (client: McpClient, options?: RequestOptions) => client.listResourceTemplates(options),
  ],
  ['prompts/list', {}, (client: McpClient, options?: RequestOptions) => client.listPrompts(options)],
  [
    'tools/call',
    { name: 't', arguments: { a: 1 } },
    (client: McpClient, options?: RequestOptions) => client.callTool('t', { a: 1 }, options),
  ],
  [
    'resources/read',
    { uri: 'x:1' },
    (client: McpClient, options?: RequestOptions) => client.readResource('x:1', options),
  ],
  [
    'prompts/get',
    { name: 'p', arguments: { a: '1' } },
    (client: McpClient, options?: RequestOptions) => client.getPrompt('p', { a: '1' }, options),
  ],
  ['completion/complete', prompt, (client: McpClient, options?: RequestOptions) => client.complete(prompt, options)],
] as const;

type Verb = (typeof verbs)[number][2];

async function sent(verb: Verb, options?: McpClientOptions, requestOptions?: RequestOptions) {
  const peer = scriptedPeer(() => everything);
  await verb(new McpClient(peer, options), requestOptions);
  const [request] = peer.requests;
  if (request === undefined || peer.requests.length > 1) throw new Error('Expected one request');
  return request;
}

describe.each(verbs)('%s', (method, params, verb) => {
  it('META-01, META-03, META-04, DISC-02: has the usual metadata, its own parameters and no others', async () => {
    const request = await sent(verb);
    expect(request.method).toBe(method);
    expect(request.params).toEqual({
      ...params,
      _meta: {
        [CAPABILITIES]: {},
        [CLIENT_INFO]: { name: expect.any(String), version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      },
    });
  });

  it('CAP-01: declares every capability of its client', async () => {
    const capabilities = { elicitation: { form: {}, url: {} }, extensions: { 'com.example/x': {} }, other: 1 };
    for (let request = 0; request < 2; request++) {
      expect((await sent(verb, { capabilities })).params._meta[CAPABILITIES]).toEqual(capabilities);
    }
  });

  it('META-05: asks for log messages only if that is wanted, by client or request', async () => {
    expect((await sent(verb)).params._meta).not.toHaveProperty([LOG_LEVEL]);
    expect((await sent(verb, { onLog: () => {} })).params._meta).not.toHaveProperty([LOG_LEVEL]);
    expect((await sent(verb, { logLevel: 'error' })).params._meta[LOG_LEVEL]).toBe('error');
    expect((await sent(verb, {}, { logLevel: 'debug' })).params._meta[LOG_LEVEL]).toBe('debug');
    expect((await sent(verb, { logLevel: 'error' }, { logLevel: 'debug' })).params._meta[LOG_LEVEL]).toBe('debug');
  });

  it('META-04: names the software as its user says, or not at all', async () => {
    const clientInfo = { name: 'mine', version: '1.2.3', title: 'Mine' };
    expect((await sent(verb, { clientInfo })).params._meta[CLIENT_INFO]).toEqual(clientInfo);
    expect((await sent(verb, { clientInfo: false })).params._meta).toEqual({ [CAPABILITIES]: {} });
  });

  it('META-18: wants progress, listener or not', async () => {
    expect((await sent(verb)).exchange.wantsProgress).toBe(true);
    expect((await sent(verb, {}, { onProgress: () => {} })).exchange.wantsProgress).toBe(true);
  });

  it('META-17: takes along what is added to its metadata, such as trace context', async () => {
    const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'com.example/k': { v: 1 } };
    const options = { clientInfo: false, logLevel: 'info' } as const;
    expect((await sent(verb, options, { meta })).params._meta).toEqual({
      ...meta,
      [CAPABILITIES]: {},
      [LOG_LEVEL]: 'info',
    });
  });
});

describe('metadata', () => {
  it('CAP-01, CAP-06: what the client owns is not replaced by what is added', async () => {
    const meta = {
      [CAPABILITIES]: undefined,
      [CLIENT_INFO]: { name: 'other', version: '0' },
      [LOG_LEVEL]: 'alert',
    };
    const options: McpClientOptions = {
      capabilities: { elicitation: {} },
      clientInfo: { name: 'mine', version: '1.0.0' },
      logLevel: 'info',
    };
    const expected = {
      [CAPABILITIES]: { elicitation: {} },
      [CLIENT_INFO]: { name: 'mine', version: '1.0.0' },
      [LOG_LEVEL]: 'info',
    };
    const peer = scriptedPeer(() => everything);
    const client = new McpClient(peer, options);
    await client.callTool('a', {}, { meta });
    await client.request(CALL_TOOL, { name: 'a', _meta: meta });
    for (const { params } of peer.requests) expect(params._meta).toEqual(expected);
  });

  it('of the parameters is added too', async () => {
    const peer = scriptedPeer(() => everything);
    const client = new McpClient(peer, { clientInfo: false });
    await client.request(
      LIST_TOOLS,
      { _meta: { 'com.example/a': 1, 'com.example/b': 1 } },
      { meta: { 'com.example/b': 2 } },
    );
    await client.complete({ ...prompt, _meta: { 'com.example/a': 1 } });
    expect(peer.requests.map(({ params }) => params._meta)).toEqual([
      { 'com.example/a': 1, 'com.example/b': 2, [CAPABILITIES]: {} },
      { 'com.example/a': 1, [CAPABILITIES]: {} },
    ]);
  });

  it('is not remembered from one request to the next', async () => {
    const peer = scriptedPeer(() => everything);
    const client = new McpClient(peer, { clientInfo: false });
    await client.callTool('a', {}, { meta: { 'com.example/a': 1 }, logLevel: 'debug' });
    await client.request(COMPLETE, prompt);
    expect(peer.requests[1]?.params._meta).toEqual({ [CAPABILITIES]: {} });
  });

  it('and arguments of the caller stay as they were', async () => {
    const meta = Object.freeze({ 'com.example/a': 1 });
    const toolArguments = Object.freeze({ a: Object.freeze({ b: 1 }) });
    const peer = scriptedPeer(() => everything);
    await new McpClient(peer, { capabilities: Object.freeze({}) }).callTool(
      'a',
      toolArguments,
      Object.freeze({ meta }),
    );
    expect(peer.requests[0]?.params.arguments).toEqual({ a: { b: 1 } });
  });
});
