import { expect, it } from 'vitest';
import { defineMethod, McpError, type McpHandler, METHODS } from '../../src/protocol/index.ts';
import { describeMatrix } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

describeMatrix('a function as an endpoint', (connect) => {
  it('gets every request and gives every result', async () => {
    const echo: McpHandler = async ({ method, params }) => ({ resultType: 'complete', method, x: params.x });
    const client = await connect(echo);
    expect(await client.result('tools/list', { x: 1 })).toEqual({ resultType: 'complete', method: 'tools/list', x: 1 });
    expect(await client.result('any/thing', { x: [2] })).toEqual({
      resultType: 'complete',
      method: 'any/thing',
      x: [2],
    });
  });

  it('results of kinds that the library does not know pass', async () => {
    const client = await connect(async () => ({ resultType: 'task', task: { id: '1' } }));
    expect(await client.result('tools/call', { name: 'x' })).toEqual({ resultType: 'task', task: { id: '1' } });
  });

  it('notifications go out as they are given', async () => {
    const client = await connect(async (_request, exchange) => {
      await exchange.notify({ method: 'notifications/com.example/any', params: { a: 1 } });
      await exchange.notify({ method: 'notifications/com.example/bare' });
      return { resultType: 'complete' };
    });
    const { notifications, message } = await client.request('tools/list');
    expect(notifications).toEqual([
      { jsonrpc: '2.0', method: 'notifications/com.example/any', params: { a: 1 } },
      { jsonrpc: '2.0', method: 'notifications/com.example/bare' },
    ]);
    expect(message.result).toEqual({ resultType: 'complete' });
  });

  it.each([
    { how: 'throws at once', handler: () => raise(new Error('password hunter2')) },
    { how: 'rejects', handler: async () => Promise.reject(new Error('password hunter2')) },
    {
      how: 'throws after a notification',
      handler: async (...[, exchange]: Parameters<McpHandler>) => {
        await exchange.notify({ method: 'notifications/com.example/any' });
        throw new Error('password hunter2');
      },
    },
  ])('one that $how is answered with −32603 and a reference that is in the log', async ({ handler }) => {
    const logger = recordingLogger();
    const client = await connect(handler, { logger });
    const { message } = await client.request('tools/list', {}, { id: 'mine' });
    expect(message).toMatchObject({ id: 'mine', error: { code: -32603 } });
    expect(JSON.stringify(message)).not.toContain('hunter2');
    const entry = logger.byReference(referenceIn(message.error?.message ?? ''));
    expect(entry.fields.error).toEqual(new Error('password hunter2'));
  });

  it('one that throws an McpError at once is answered with it', async () => {
    const client = await connect(() => raise(new McpError(-32602, 'No', { data: 1 })));
    expect(await client.error('tools/list')).toEqual({ code: -32602, message: 'No', data: 1 });
  });

  const loop: { self?: object; resultType: string } = { resultType: 'complete' };
  loop.self = loop;
  it.each([
    { what: 'undefined', value: undefined },
    { what: 'null', value: null },
    { what: 'a text', value: 'text' },
    { what: 'a number', value: 7 },
    { what: 'a list', value: [] },
    { what: 'a function', value: () => {} },
    { what: 'an object that is nothing as JSON', value: { toJSON: () => undefined } },
    { what: 'an object that refuses to be JSON', value: { toJSON: () => raise(new Error('password hunter2')) } },
    { what: 'a bigint inside', value: { resultType: 'complete', value: 1n } },
    { what: 'a circle', value: loop },
  ])('one that resolves with $what is answered with −32603, and the log knows why', async ({ value }) => {
    const logger = recordingLogger();
    const client = await connect((async () => value) as unknown as McpHandler, { logger });
    const { message } = await client.request('tools/list', {}, { id: 'mine' });
    expect(message).toMatchObject({ id: 'mine', error: { code: -32603 } });
    expect(JSON.stringify(message)).not.toContain('hunter2');
    expect(logger.entries).toHaveLength(1);
  });

  it('JR-08: a result without resultType is never sent as it is', async () => {
    const logger = recordingLogger();
    const client = await connect((async () => ({ tools: [] })) as unknown as McpHandler, { logger });
    const { error, result } = (await client.request('tools/list')).message;
    expect(error?.code === -32603 || result?.resultType === 'complete').toBe(true);
  });

  it.each([undefined, null, 'text', { resultType: 'complete' }])(
    'one that returns %j instead of a promise is answered with −32603',
    async (value) => {
      const logger = recordingLogger();
      const client = await connect((() => value) as unknown as McpHandler, { logger });
      expect((await client.error('tools/list')).code).toBe(-32603);
      expect(logger.entries).toHaveLength(1);
    },
  );

  it('garbage from a listen is answered with −32603 too', async () => {
    for (const value of [undefined, null, 'text', 7]) {
      const logger = recordingLogger();
      const client = await connect((async () => value) as unknown as McpHandler, { logger });
      const { message } = await client.request('subscriptions/listen', { notifications: {} });
      expect(message.error?.code, String(value)).toBe(-32603);
    }
  });

  it('methods of an extension have their headers and streams by its table', async () => {
    const rows = [
      defineMethod({ name: 'skills/get', target: 'uri' }),
      defineMethod({ name: 'skills/watch', stream: true }),
    ];
    const handler: McpHandler = async (request, exchange) => {
      if (request.method === 'skills/watch') await exchange.notify({ method: 'notifications/skills/changed' });
      return { resultType: 'complete' };
    };
    const client = await connect({ handler, methods: [...METHODS, ...rows] });
    const withName = { headers: { 'mcp-name': 'skill:1' } };
    expect(await client.result('skills/get', { uri: 'skill:1' }, withName)).toEqual({ resultType: 'complete' });
    expect((await client.error('skills/get', { uri: 'skill:2' }, withName)).code).toBe(-32020);
    expect((await client.error('skills/get', { uri: 'skill:1' })).code).toBe(-32020);
    const { notifications, isStream } = await client.request(
      'skills/watch',
      {},
      { id: 'w', accept: 'application/json' },
    );
    expect(isStream).toBe(true);
    expect(notifications).toMatchObject([{ params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 'w' } } }]);
  });
});

function raise(thrown: unknown): never {
  throw thrown;
}
