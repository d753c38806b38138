import { expect, it } from 'vitest';
import { LOG_LEVEL_META_KEY, LOGGING_LEVELS } from '../../src/protocol/index.ts';
import { McpServer, type RequestContext } from '../../src/server/index.ts';
import { type Connect, describeMatrix, expectHttp, type RequestOptions } from '../matrix.ts';
import { recordingLogger } from '../recording-logger.ts';

const info = { name: 'notifications', version: '1.0.0' };
const wanting: RequestOptions = { meta: { progressToken: 'token' } };

/** Calls a tool that does only this. */
async function run(connect: Connect, work: (context: RequestContext) => unknown, options: RequestOptions = {}) {
  const server = new McpServer(info, { logger: recordingLogger() });
  server.registerTool('work', {}, async (_input, context) => {
    await work(context);
    return 'done';
  });
  const answer = await (await connect(server)).request('tools/call', { name: 'work' }, options);
  return { ...answer, params: answer.notifications.map(({ params }) => params) };
}

describeMatrix('log messages', (connect) => {
  const logAll = ({ log }: RequestContext): void => {
    for (const level of LOGGING_LEVELS) void log(level, `at ${level}`, 'worker');
  };

  it('META-08: without logLevel there are none, and the answer stays JSON', async () => {
    const answer = await run(connect, logAll);
    expect(answer.notifications).toEqual([]);
    expect(answer.message.result).toMatchObject({ content: [{ text: 'done' }] });
    expectHttp(answer, { isStream: false });
  });

  it.each(LOGGING_LEVELS)('META-09: with %s come that level and all above, before the response', async (level) => {
    const { notifications, message } = await run(connect, logAll, { meta: { [LOG_LEVEL_META_KEY]: level } });
    expect(notifications).toEqual(
      LOGGING_LEVELS.slice(LOGGING_LEVELS.indexOf(level)).map((each) => ({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: each, logger: 'worker', data: `at ${each}` },
      })),
    );
    expect(message.result).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('below the level there are none, and the answer stays JSON', async () => {
    const meta = { [LOG_LEVEL_META_KEY]: 'emergency' };
    const answer = await run(connect, ({ log }) => log('alert', 'x'), { meta });
    expect(answer.notifications).toEqual([]);
    expectHttp(answer, { isStream: false });
  });

  it('data is any JSON value', async () => {
    const values = ['text', 7, null, false, [1, [2]], { deep: { er: true } }];
    const meta = { [LOG_LEVEL_META_KEY]: 'debug' };
    const { params } = await run(connect, ({ log }) => values.forEach((value) => void log('info', value)), { meta });
    expect(params).toEqual(values.map((data) => ({ level: 'info', data })));
  });

  it('data that JSON has no form for is null', async () => {
    const meta = { [LOG_LEVEL_META_KEY]: 'debug' };
    expect((await run(connect, ({ log }) => log('info', undefined), { meta })).params).toEqual([
      { level: 'info', data: null },
    ]);
  });

  it('META-11: an unknown level is −32602, for every method', async () => {
    const server = new McpServer(info);
    server.registerTool('work', {}, () => '');
    const client = await connect(server);
    for (const level of ['verbose', 'INFO', '', 7, null, ['info'], 'constructor']) {
      const meta = { [LOG_LEVEL_META_KEY]: level };
      expect((await client.error('tools/call', { name: 'work' }, { meta })).code).toBe(-32602);
      expect((await client.error('tools/list', {}, { meta })).code).toBe(-32602);
    }
  });

  it('after the result nothing is sent', async () => {
    let late: (() => unknown) | undefined;
    const meta = { [LOG_LEVEL_META_KEY]: 'debug' };
    const { notifications } = await run(
      connect,
      ({ log }) => {
        late = () => log('info', 'late');
      },
      { meta },
    );
    expect(late?.()).toBeUndefined();
    expect(notifications).toEqual([]);
  });
});

describeMatrix('progress', (connect, carrier) => {
  it('goes to who wants it, before the response, with the token as it came', async () => {
    for (const progressToken of ['token', '', 0, 7]) {
      const { notifications } = await run(
        connect,
        async ({ progress }) => {
          await progress(1, 3, 'first');
          await progress(2, 3);
          await progress(3);
        },
        { meta: { progressToken } },
      );
      expect(notifications).toEqual(
        [{ progress: 1, total: 3, message: 'first' }, { progress: 2, total: 3 }, { progress: 3 }].map((params) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, ...params },
        })),
      );
    }
  });

  it('that nobody wants is dropped, and the answer stays JSON', async () => {
    const seen: boolean[] = [];
    const answer = await run(connect, async ({ progress, wantsProgress }) => {
      seen.push(wantsProgress);
      await progress(1);
    });
    expect(seen).toEqual([false]);
    expect(answer.notifications).toEqual([]);
    expectHttp(answer, { isStream: false });
  });

  it('handlers know whether somebody wants it, and never see the token', async () => {
    const seen: unknown[] = [];
    await run(connect, ({ wantsProgress, meta }) => seen.push(wantsProgress, 'progressToken' in meta), wanting);
    expect(seen).toEqual([true, false]);
  });

  it('META-20: only grows; zero, negative and fractional values are fine', async () => {
    const values = [-2, -2, -3, -1, 0, 0, 0.5, 0.25, 0.75, 10, 9, 10];
    const { params } = await run(connect, ({ progress }) => values.forEach((value) => void progress(value)), wanting);
    expect(params.map((each) => each?.progress)).toEqual([-2, -1, 0, 0.5, 0.75, 10]);
  });

  it.each([Number.NaN, Infinity, -Infinity, undefined, null, 'x', '7'])('%s is no progress', async (value) => {
    const { params } = await run(
      connect,
      async ({ progress }) => {
        await progress(value as number);
        await progress(1);
      },
      wanting,
    );
    expect(params).toEqual([{ progressToken: 'token', progress: 1 }]);
  });

  it.each([Number.NaN, Infinity])('a total of %s is none', async (total) => {
    const { params } = await run(connect, ({ progress }) => progress(1, total), wanting);
    expect(params).toEqual([{ progressToken: 'token', progress: 1 }]);
  });

  it('META-20: after the result nothing is sent', async () => {
    let late: (() => unknown) | undefined;
    const { notifications, message } = await run(
      connect,
      ({ progress }) => {
        late = () => progress(99);
        void progress(1);
      },
      wanting,
    );
    expect(late?.()).toBeUndefined();
    expect(notifications).toHaveLength(1);
    expect(message.result).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('works in prompts, resources, completers and list providers too', async () => {
    const server = new McpServer(info);
    const argsSchema = { type: 'object', properties: { a: { type: 'string' } } };
    const complete = {
      a: (_value: string, _chosen: unknown, { progress }: RequestContext) => {
        void progress(1);
        return [];
      },
    };
    server.registerPrompt('p', { argsSchema, complete }, (_input, { progress }) => {
      void progress(1);
      return '';
    });
    server.registerResource('r', 'r:///1', {}, (_uri, { progress }) => {
      void progress(1);
      return '';
    });
    const client = await connect(server);
    for (const [method, params] of [
      ['prompts/get', { name: 'p' }],
      ['resources/read', { uri: 'r:///1' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
    ] as const) {
      const { notifications, message } = await client.request(method, params, wanting);
      expect(notifications).toMatchObject([{ params: { progressToken: 'token', progress: 1 } }]);
      expect(message.result).toBeDefined();
    }
  });

  it('of concurrent calls goes each to its own', async () => {
    const server = new McpServer(info);
    const inputSchema = { type: 'object', properties: { n: { type: 'number' } } };
    server.registerTool('work', { inputSchema }, async ({ n }, { progress }) => {
      for (let step = 0; step < 5; step++) {
        await progress(step, 5, String(n));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      return 'done';
    });
    const client = await connect(server);
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        // Where every request has a connection of its own, all tokens and ids may be the same.
        const options = carrier === 'http' ? { ...wanting, id: 1 } : { meta: { progressToken: n } };
        const answer = await client.request('tools/call', { name: 'work', arguments: { n } }, options);
        expect(answer.notifications.map(({ params }) => params?.message)).toEqual(
          Array.from({ length: 5 }, () => String(n)),
        );
      }),
    );
  });
});
