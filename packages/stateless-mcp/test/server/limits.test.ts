import { expect, it } from 'vitest';
import { type DefinitionConfig, McpServer, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix, expectHttp, type MatrixClient, type Params } from '../matrix.ts';
import { recordingLogger } from '../recording-logger.ts';

const info = { name: 'limits', version: '1.0.0' };

/** Definitions of every kind whose handlers run until they are let go, whatever their signal says. */
function serve(config: DefinitionConfig) {
  const waiting: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  let wake: () => void = () => {};
  const run = async (signal: AbortSignal): Promise<string> => {
    signals.push(signal);
    const done = new Promise<void>((resolve) => waiting.push(resolve));
    wake();
    await done;
    return 'done';
  };
  const logger = recordingLogger();
  const server = new McpServer(info, { logger });
  const tool = server.registerTool('x', config, async (_input, { signal }) => run(signal));
  server.registerPrompt('x', config, async (_input, { signal }) => run(signal));
  server.registerResource('x', 'x:///1', config, async (_uri, { signal }) => run(signal));
  const template = new ResourceTemplate('y:///{id}');
  server.registerResource('y', template, config, async (_uri, _variables, { signal }) => run(signal));
  return {
    server,
    tool,
    signals,
    logger,
    /** Resolves when so many handlers have started in all. */
    started: async (count: number) => {
      while (signals.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    letGo: () => waiting.shift()?.(),
  };
}

const uses: readonly (readonly [method: string, params: Params])[] = [
  ['tools/call', { name: 'x' }],
  ['prompts/get', { name: 'x' }],
  ['resources/read', { uri: 'x:///1' }],
  ['resources/read', { uri: 'y:///1' }],
];

describeMatrix('maxConcurrency', (connect) => {
  it.each(uses)('%s %j: more at once are refused with 503, until one has ended', async (method, params) => {
    const { server, started, letGo, signals } = serve({ maxConcurrency: 2 });
    const client = await connect(server);
    const running = [client.result(method, params), client.result(method, params)];
    await started(2);
    const refused = await client.request(method, params);
    expect(refused.message.error).toMatchObject({
      code: 503,
      message: expect.stringMatching(/2.*maxConcurrency/),
    });
    expectHttp(refused, { status: 503, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(signals).toHaveLength(2);
    letGo();
    await Promise.race(running);
    running.push(client.result(method, params));
    await started(3);
    letGo();
    letGo();
    await Promise.all(running);
  });

  it('a call that fails gives its place back', async () => {
    const server = new McpServer(info, { logger: recordingLogger() });
    server.registerTool('x', { maxConcurrency: 1 }, () => {
      throw new Error('at once');
    });
    const client = await connect(server);
    for (const _ of [1, 2, 3]) expect((await client.result('tools/call', { name: 'x' })).isError).toBe(true);
  });

  it('a caller that left still holds the place of a handler that runs on', async () => {
    const { server, started, letGo, signals } = serve({ maxConcurrency: 1 });
    const client = await connect(server);
    const leaving = new AbortController();
    const left = client.request('tools/call', { name: 'x' }, { signal: leaving.signal });
    await started(1);
    const aborted = new Promise((resolve) => signals[0]?.addEventListener('abort', resolve, { once: true }));
    leaving.abort();
    await expect(left).rejects.toThrow();
    await aborted;
    expect((await client.error('tools/call', { name: 'x' })).code).toBe(503);
    letGo();
    await expectServed(client, started, letGo, 2);
  });

  it('a call over its time still holds its place while its handler runs on', async () => {
    const { server, started, letGo } = serve({ maxConcurrency: 1, timeoutMs: 20 });
    const client = await connect(server);
    expect((await client.result('tools/call', { name: 'x' })).isError).toBe(true);
    await started(1);
    expect((await client.error('tools/call', { name: 'x' })).code).toBe(503);
    letGo();
    // Its place is given back some microtasks later.
    await client.result('tools/list');
    await client.result('tools/call', { name: 'x' });
  });

  it('counts for each definition alone', async () => {
    const { server, started, letGo } = serve({ maxConcurrency: 1 });
    const client = await connect(server);
    const running = uses.map(async ([method, params]) => client.result(method, params));
    await started(uses.length);
    for (const _ of uses) letGo();
    expect(await Promise.all(running)).toHaveLength(uses.length);
  });

  it('does not hold back completion: who types is no call', async () => {
    const argsSchema = { type: 'object', properties: { a: { type: 'string' } } };
    const goOn: (() => void)[] = [];
    const server = new McpServer(info);
    const started = new Promise<void>((resolve) => {
      const complete = { a: () => ['suggested'] };
      server.registerPrompt('p', { maxConcurrency: 1, argsSchema, complete }, async () => {
        await new Promise<void>((done) => {
          goOn.push(done);
          resolve();
        });
        return '';
      });
    });
    const client = await connect(server);
    const running = client.result('prompts/get', { name: 'p' });
    await started;
    const params = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } };
    const { completion } = await client.result('completion/complete', params);
    expect(completion).toMatchObject({ values: ['suggested'] });
    goOn[0]?.();
    await running;
  });

  it('an update of the definition does not forget who is running', async () => {
    const { server, tool, started, letGo, signals } = serve({ maxConcurrency: 1 });
    const client = await connect(server);
    const running = client.result('tools/call', { name: 'x' });
    await started(1);
    tool.update({ description: 'another text' });
    const second = client.request('tools/call', { name: 'x' });
    const answered = await Promise.race([second, started(2).then(() => undefined)]);
    letGo();
    letGo();
    expect(signals).toHaveLength(1);
    expect(answered?.message.error?.code).toBe(503);
    await running;
  });
});

describeMatrix('timeoutMs', (connect) => {
  it('of a tool: a result for the model that names the limit; the signal aborts', async () => {
    const { server, signals, letGo, logger } = serve({ timeoutMs: 30 });
    const client = await connect(server);
    const result = await client.result('tools/call', { name: 'x' });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/tool "x".*30 ms.*timeoutMs/) }],
    });
    expect(signals[0]?.aborted).toBe(true);
    letGo();
    expect(logger.entries).toEqual([]);
  });

  it.each(uses.slice(1))('of %s %j: −32603 that names the limit', async (method, params) => {
    const { server, signals, letGo } = serve({ timeoutMs: 30 });
    const client = await connect(server);
    expect(await client.error(method, params)).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/30 ms.*timeoutMs/),
    });
    expect(signals[0]?.aborted).toBe(true);
    letGo();
  });

  it('who is in time is not disturbed', async () => {
    const { server, started, letGo, signals } = serve({ timeoutMs: 60_000 });
    const client = await connect(server);
    const running = client.result('tools/call', { name: 'x' });
    await started(1);
    letGo();
    expect(await running).toMatchObject({ content: [{ text: 'done' }] });
    expect(signals[0]?.aborted).toBe(false);
  });

  it('a handler that fails after its time fails for nobody', async () => {
    const logger = recordingLogger();
    const server = new McpServer(info, { logger });
    const failed = new Promise<void>((resolve) => {
      server.registerTool('x', { timeoutMs: 20 }, async (_input, { signal }) => {
        await new Promise((abort) => signal.addEventListener('abort', abort, { once: true }));
        queueMicrotask(resolve);
        throw new Error('after the deadline');
      });
    });
    const client = await connect(server);
    expect((await client.result('tools/call', { name: 'x' })).isError).toBe(true);
    await failed;
    expect(await client.result('tools/list')).toBeDefined();
  });

  it('progress after the time is not sent', async () => {
    const server = new McpServer(info);
    let late: unknown = 'not called';
    const called = new Promise<void>((resolve) => {
      server.registerTool('x', { timeoutMs: 20 }, async (_input, { signal, progress }) => {
        await new Promise((abort) => signal.addEventListener('abort', abort, { once: true }));
        setTimeout(() => {
          late = progress(1);
          resolve();
        }, 5);
        return '';
      });
    });
    const client = await connect(server);
    const answer = await client.request('tools/call', { name: 'x' }, { meta: { progressToken: 1 } });
    await called;
    expect({ notifications: answer.notifications, late }).toEqual({ notifications: [], late: undefined });
    expectHttp(answer, { isStream: false });
  });
});

async function expectServed(
  client: MatrixClient,
  started: (count: number) => Promise<void>,
  letGo: () => void,
  count: number,
): Promise<void> {
  await client.result('tools/list');
  const served = client.result('tools/call', { name: 'x' });
  await started(count);
  letGo();
  expect(await served).toMatchObject({ content: [{ text: 'done' }] });
}
