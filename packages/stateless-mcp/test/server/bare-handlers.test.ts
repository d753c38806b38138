import { expect, it } from 'vitest';
import { defineMethod, type McpEndpoint, McpError, type McpHandler, METHODS } from '../../src/protocol/index.ts';
import { describeMatrix, expectHttp } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const skills: McpEndpoint = {
  methods: [
    ...METHODS,
    defineMethod({ name: 'skills/get', target: 'uri' }),
    defineMethod({ name: 'skills/watch', stream: true }),
  ],
  async handler({ method }, exchange) {
    if (method === 'skills/watch') await exchange.notify({ method: 'notifications/skills/changed' });
    return { resultType: 'complete' };
  },
};

describeMatrix('a function as an endpoint', (connect) => {
  it('gets every request and gives every result', async () => {
    const echo: McpHandler = async ({ method, params }) => ({ resultType: 'complete', method, x: params.x });
    const client = await connect(echo);
    for (const [method, x] of [
      ['any/thing', 1],
      ['any/other', [2]],
    ] as const) {
      expect(await client.result(method, { x })).toEqual({ resultType: 'complete', method, x });
    }
  });

  it('notifications go out as they are given', async () => {
    const client = await connect(async (_request, exchange) => {
      await exchange.notify({ method: 'notifications/com.example/any', params: { a: 1 } });
      await exchange.notify({ method: 'notifications/com.example/bare' });
      return { resultType: 'complete' };
    });
    const { notifications, message } = await client.request('any/thing');
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

  it('an McpError whose data JSON cannot carry is an unexpected error itself', async () => {
    const logger = recordingLogger();
    const client = await connect(() => raise(new McpError(-31999, 'No', { data: { amount: 1n } })), { logger });
    expect((await client.error('any/thing')).code).toBe(-32603);
    expect(logger.entries).toHaveLength(1);
  });

  it('a notification that JSON cannot carry fails the handler that sent it, and nothing else', async () => {
    const failures: unknown[] = [];
    const client = await connect(async (_request, exchange) => {
      try {
        await exchange.notify({ method: 'notifications/com.example/any', params: { amount: 1n } });
      } catch (error) {
        failures.push(error);
      }
      await exchange.notify({ method: 'notifications/com.example/any', params: { amount: 1 } });
      return { resultType: 'complete' };
    });
    const { notifications } = await client.request('any/thing');
    expect(failures).toEqual([expect.any(TypeError)]);
    expect(notifications).toMatchObject([{ params: { amount: 1 } }]);
  });

  it('methods of an extension are served by its table', async () => {
    const client = await connect(skills);
    expect(await client.result('skills/get', { uri: 'skill:1' })).toEqual({ resultType: 'complete' });
    const { notifications, message } = await client.request('skills/watch', {}, { id: 'w' });
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 'w' };
    expect(notifications).toMatchObject([{ method: 'notifications/skills/changed', params: { _meta } }]);
    expect(message.result).toMatchObject({ resultType: 'complete', _meta });
  });
});

describeMatrix(
  'what a function as an endpoint writes',
  (connect) => {
    it('results of kinds that the library does not know pass', async () => {
      const client = await connect(async () => ({ resultType: 'task', task: { id: '1' } }));
      expect(await client.result('tools/call', { name: 'x' })).toEqual({ resultType: 'task', task: { id: '1' } });
    });

    it('a result that lacks what its method needs is its own affair', async () => {
      const client = await connect(async () => ({ resultType: 'complete' }));
      expect(await client.result('tools/list')).toEqual({ resultType: 'complete' });
    });
  },
  { over: 'wires' },
);

describeMatrix(
  'methods of an extension over HTTP',
  (connect) => {
    it('have their headers by its table', async () => {
      const client = await connect(skills);
      const get = async (uri: string, name?: string) =>
        client.error('skills/get', { uri }, { http: { headers: { 'mcp-name': name } } });
      expect((await get('skill:2', 'skill:1')).code).toBe(-32020);
      expect((await get('skill:1')).code).toBe(-32020);
    });

    it('have their streams by its table, whatever a client accepts', async () => {
      const answer = await (
        await connect(skills)
      ).request('skills/watch', {}, { http: { accept: 'application/json' } });
      expectHttp(answer, { isStream: true });
      expect(answer.notifications).toHaveLength(1);
    });
  },
  { over: 'http' },
);

function raise(thrown: unknown): never {
  throw thrown;
}
