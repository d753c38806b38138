import { expect, it } from 'vitest';
import { z } from 'zod';
import { type Completer, McpServer, ResourceTemplate } from '../../src/server/index.ts';
import { type Connect, describeMatrix } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'completion', version: '1.0.0' };
const cities = ['Rome', 'Riga', 'Paris'];
const startingWith: Completer = (value) => cities.filter((city) => city.startsWith(value));
const prompt = { type: 'ref/prompt', name: 'travel' };

async function serve(connect: Connect, city: Completer = startingWith) {
  const logger = recordingLogger();
  const server = new McpServer(info, { logger });
  const argsSchema = z.object({ country: z.string(), city: z.string() });
  server.registerPrompt('travel', { argsSchema, complete: { city } }, () => '');
  server.registerPrompt('constructor', {}, () => '');
  const template = new ResourceTemplate('city:///{country}/{city}', { complete: { city } });
  server.registerResource('city', template, {}, () => '');
  server.registerResource('plain', 'city:///plain', {}, () => '');
  return { client: await connect(server), logger };
}

describeMatrix('completion', (connect) => {
  it.each([prompt, { type: 'ref/resource', uri: 'city:///{country}/{city}' }])(
    'suggests values for $type',
    async (ref) => {
      const { client } = await serve(connect);
      const result = await client.result('completion/complete', { ref, argument: { name: 'city', value: 'R' } });
      expect(result).toEqual({
        resultType: 'complete',
        completion: { values: ['Rome', 'Riga'], total: 2 },
        _meta: { 'io.modelcontextprotocol/serverInfo': info },
      });
    },
  );

  it('an argument without a completer has no suggestions', async () => {
    const { client } = await serve(connect);
    const result = await client.result('completion/complete', {
      ref: prompt,
      argument: { name: 'country', value: '' },
    });
    expect(result.completion).toEqual({ values: [] });
  });

  it('100 values are all, more are cut and said to be more', async () => {
    for (const [length, expected] of [
      [100, { total: 100 }],
      [101, { total: 101, hasMore: true }],
      [5000, { total: 5000, hasMore: true }],
    ] as const) {
      const values = Array.from({ length }, (_, index) => `city ${index}`);
      const { client } = await serve(connect, () => values);
      const argument = { name: 'city', value: '' };
      const { completion } = await client.result('completion/complete', { ref: prompt, argument });
      expect(completion).toEqual({ values: values.slice(0, 100), ...expected });
    }
  });

  it('a completer can say how many there are', async () => {
    const { client } = await serve(connect, async () => ({ values: ['Rome'], total: 7, hasMore: true }));
    const argument = { name: 'city', value: '' };
    const { completion } = await client.result('completion/complete', { ref: prompt, argument });
    expect(completion).toEqual({ values: ['Rome'], total: 7, hasMore: true });
  });

  it('sees what has been chosen already, strings alone, and no prototype', async () => {
    const { client } = await serve(connect, (_value, chosen) => [
      JSON.stringify(chosen),
      typeof chosen.toString,
      String(Object.getPrototypeOf(chosen)),
    ]);
    const complete = async (context: unknown) =>
      (await client.result('completion/complete', { ref: prompt, argument: { name: 'city', value: '' }, context }))
        .completion;
    const without = ['undefined', 'null'];
    expect(await complete({ arguments: { country: 'Italy', days: 3 } })).toMatchObject({
      values: ['{"country":"Italy"}', ...without],
    });
    for (const nothing of [undefined, {}, null, 'text', { arguments: null }]) {
      expect(await complete(nothing)).toMatchObject({ values: ['{}', ...without] });
    }
  });

  it('sees who asks', async () => {
    const { client } = await serve(connect, (_value, _chosen, { auth }) => [auth?.principal ?? 'nobody']);
    const params = { ref: prompt, argument: { name: 'city', value: '' } };
    const { completion } = await client.result('completion/complete', params, { auth: { principal: 'alice' } });
    expect(completion).toMatchObject({ values: ['alice'] });
  });

  it.each([
    { ref: { type: 'ref/prompt', name: 'other' } },
    { ref: { type: 'ref/prompt', name: '__proto__' } },
    { ref: { type: 'ref/prompt' } },
    { ref: { type: 'ref/resource', uri: 'city:///{other}' } },
    { ref: { type: 'ref/resource', uri: 'city:///plain' } },
    { ref: { type: 'ref/resource' } },
    { ref: { type: 'ref/tool', name: 'travel' } },
    { ref: null },
    { ref: undefined },
    { argument: { name: 'other', value: '' } },
    { argument: { name: 'constructor', value: '' } },
    { argument: { name: 'city', value: 7 } },
    { argument: { name: 'city' } },
    { argument: { value: '' } },
    { argument: null },
    { argument: undefined },
  ])('FEAT-01: what cannot be completed (%j) is −32602', async (wrong) => {
    const { client, logger } = await serve(connect);
    const params = { ref: prompt, argument: { name: 'city', value: '' }, ...wrong };
    expect((await client.error('completion/complete', params)).code).toBe(-32602);
    expect(logger.entries).toEqual([]);
  });

  it('an unexpected error is −32603 with a reference that is in the log', async () => {
    const { client, logger } = await serve(connect, async () => Promise.reject(new Error('password hunter2')));
    const error = await client.error('completion/complete', { ref: prompt, argument: { name: 'city', value: '' } });
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(logger.byReference(referenceIn(error.message)).fields.error).toEqual(new Error('password hunter2'));
  });

  it.each([undefined, null, 7, 'Rome', {}, { values: 'Rome' }, [7], { values: [null] }])(
    'what is no list of strings (%j) is −32603 and never sent',
    async (value) => {
      const { client, logger } = await serve(connect, () => value as unknown as readonly string[]);
      const { message } = await client.request('completion/complete', {
        ref: prompt,
        argument: { name: 'city', value: '' },
      });
      expect(message.error?.code).toBe(-32603);
      expect(logger.entries).toHaveLength(1);
    },
  );

  it('JR-15: without any completer there is no such method', async () => {
    const server = new McpServer(info);
    server.registerPrompt('travel', { argsSchema: z.object({ city: z.string() }) }, () => '');
    const client = await connect(server);
    const params = { ref: prompt, argument: { name: 'city', value: '' } };
    expect((await client.error('completion/complete', params)).code).toBe(-32601);
  });
});
