import { describe, expect, it } from 'vitest';
import { McpClient } from '../../src/client/index.ts';
import {
  CALL_TOOL,
  defineMethod,
  type EmptyResult,
  GET_PROMPT,
  LocalError,
  RemoteError,
  type RequestParams,
} from '../../src/protocol/index.ts';
import { rejection, scriptedPeer } from './scripted-peer.ts';

describe('callTool', () => {
  it.each([
    ['absent', undefined],
    ['empty', {}],
  ])('always sends arguments: %s ones are {}', async (_, toolArguments) => {
    const peer = scriptedPeer(() => ({ content: [] }));
    await new McpClient(peer).callTool('a', toolArguments);
    expect(peer.requests[0]?.params.name).toBe('a');
    expect(peer.requests[0]?.params.arguments).toEqual({});
  });

  it('T-127: hands out the result as it came', async () => {
    const result = {
      resultType: 'complete',
      content: [{ type: 'text', text: 'x', extra: 1 }],
      structuredContent: null,
      isError: false,
      _meta: { 'com.example/k': 1 },
      more: [1],
    };
    expect(await new McpClient(scriptedPeer(() => result)).callTool('a')).toEqual(result);
  });

  it('content of unknown types passes', async () => {
    const content = [
      { type: 'hologram', cube: [1, 2, 3] },
      { type: 'text', text: 'x' },
    ];
    expect((await new McpClient(scriptedPeer(() => ({ content }))).callTool('a')).content).toEqual(content);
  });

  it('a tool that failed is a result', async () => {
    const client = new McpClient(scriptedPeer(() => ({ content: [{ type: 'text', text: 'no' }], isError: true })));
    expect(await client.callTool('a')).toMatchObject({ isError: true, content: [{ text: 'no' }] });
  });

  it('JR-09, BC-15: a result without resultType is complete', async () => {
    const client = new McpClient(scriptedPeer(() => ({ content: [] })));
    expect(await client.callTool('a')).toEqual({ resultType: 'complete', content: [] });
  });

  it.each([
    ['JR-10: an unknown resultType', { resultType: 'task', content: [] }],
    ['JR-10: a resultType that is no text', { resultType: 5, content: [] }],
    ['no content', {}],
    ['content that is no list', { content: { type: 'text', text: 'x' } }],
  ])('%s is no valid answer', async (_, result) => {
    expect(await rejection(new McpClient(scriptedPeer(() => result)).callTool('a'))).toMatchObject({
      name: 'LocalError',
      code: 'invalid_answer',
      maybeExecuted: true,
    });
  });

  it('JR-19: an error of the server comes as it was sent, whatever its code', async () => {
    for (const code of [-32603, -32602, -32000, -32001, -32019, 7, 0]) {
      const error = new RemoteError(code, 'no', { data: { why: 'x' } });
      const peer = scriptedPeer(() => {
        throw error;
      });
      const caught = await rejection(new McpClient(peer).callTool('a'));
      expect(caught).toBe(error);
      expect(caught).not.toBeInstanceOf(LocalError);
      expect(peer.requests).toHaveLength(1);
    }
  });
});

describe('questions', () => {
  const question = { resultType: 'input_required', inputRequests: { q: { method: 'roots/list' } }, requestState: 's' };
  const asking = [
    ['callTool', (client: McpClient) => client.callTool('a')],
    ['getPrompt', (client: McpClient) => client.getPrompt('a')],
    ['readResource', (client: McpClient) => client.readResource('x:1')],
  ] as const;

  it.each(asking)('%s: are an error that has them', async (_, verb) => {
    const error = await rejection(verb(new McpClient(scriptedPeer(() => question))));
    expect(error).toBeInstanceOf(LocalError);
    expect(error).toMatchObject({ code: 'input_required', result: question });
  });

  it.each(asking)('T-113: %s: one without questions and state is no reason to ask forever', async (_, verb) => {
    const peer = scriptedPeer(() => ({ resultType: 'input_required' }));
    expect(await rejection(verb(new McpClient(peer)))).toMatchObject({ name: 'LocalError' });
    expect(peer.requests).toHaveLength(1);
  });

  it('are a result of request(), for who wants to answer them', async () => {
    const client = new McpClient(scriptedPeer(() => question));
    expect(await client.request(CALL_TOOL, { name: 'a' })).toEqual(question);
    expect(await client.request(GET_PROMPT, { name: 'a' })).toEqual(question);
  });

  it.each([
    ['discover', (client: McpClient) => client.discover()],
    ['listTools', (client: McpClient) => client.listTools()],
    [
      'complete',
      (client: McpClient) =>
        client.complete({ ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'b', value: '' } }),
    ],
    ['listen', (client: McpClient) => client.listen({}, { onChange: () => {} })],
  ])('T-112: %s never asks', async (_, verb) => {
    const error = await rejection(verb(new McpClient(scriptedPeer(() => question))));
    expect(error).toMatchObject({ name: 'LocalError', code: 'invalid_answer' });
  });
});

describe('other verbs', () => {
  it('getPrompt and complete ask for what they are told', async () => {
    const peer = scriptedPeer(() => ({ messages: [], completion: { values: ['x'] } }));
    const client = new McpClient(peer);
    await client.getPrompt('p');
    await client.getPrompt('p', { tone: 'warm' });
    const context = { arguments: { first: '1' } };
    const ref = { type: 'ref/resource', uri: 'x:{a}' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'a', value: 'v' }, context });
    expect(completion.values).toEqual(['x']);
    expect(peer.requests.map(({ params: { _meta, ...params } }) => params)).toEqual([
      { name: 'p', arguments: {} },
      { name: 'p', arguments: { tone: 'warm' } },
      { ref, argument: { name: 'a', value: 'v' }, context },
    ]);
  });

  it('a method of an extension is asked for by its row', async () => {
    interface EchoParams extends RequestParams {
      readonly text: string;
    }
    interface EchoResult extends EmptyResult {
      readonly echo: string;
    }
    const ECHO = defineMethod<EchoParams, EchoResult>({ name: 'com.example/echo' });
    const peer = scriptedPeer(({ params }) => ({ echo: params.text }));
    const { echo } = await new McpClient(peer).request(ECHO, { text: 'hello' });
    expect(echo).toBe('hello');
    expect(peer.requests[0]).toMatchObject({ method: 'com.example/echo', params: { text: 'hello' } });
  });

  it('VER-05: nothing is asked for but what is wanted', async () => {
    const peer = scriptedPeer(() => ({ content: [] }));
    await new McpClient(peer).callTool('a');
    expect(peer.requests.map(({ method }) => method)).toEqual(['tools/call']);
  });

  it('a peer that is no peer is refused by name', () => {
    for (const target of [undefined, 'http://127.0.0.1/mcp', async () => ({ resultType: 'complete' }), {}]) {
      expect(() => new McpClient(target as never)).toThrow(TypeError);
      expect(() => new McpClient(target as never)).toThrow('McpClient: peer must be');
    }
  });
});

describe('the end', () => {
  it('close closes the peer, and so does leaving the scope', async () => {
    let closed = 0;
    const peer = (): ReturnType<typeof scriptedPeer> =>
      Object.assign(scriptedPeer(), {
        close: async () => {
          closed += 1;
        },
      });
    await new McpClient(peer()).close();
    expect(closed).toBe(1);
    {
      await using client = new McpClient(peer());
      expect(client.explain().requests).toBe(0);
    }
    expect(closed).toBe(2);
  });
});
