import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { McpServer } from '../../src/server/index.ts';
import { describeMatrix } from '../matrix.ts';
import { recordingLogger } from '../recording-logger.ts';

const info = { name: 'schemas', version: '1.0.0' };

/** One schema in four notations: a city in capitals, and days with a default where the notation can express one. */
const notations = [
  {
    vendor: 'Zod',
    inputSchema: z.object({ city: z.string().transform((city) => city.toUpperCase()), days: z.number().default(3) }),
    seen: { city: 'ROME', days: 3 },
  },
  {
    vendor: 'Valibot',
    inputSchema: toStandardJsonSchema(
      v.object({
        city: v.pipe(
          v.string(),
          v.transform((city) => city.toUpperCase()),
        ),
        days: v.optional(v.number(), 3),
      }),
    ),
    seen: { city: 'ROME', days: 3 },
  },
  {
    vendor: 'ArkType',
    inputSchema: type({ city: 'string', days: 'number = 3' }),
    seen: { city: 'Rome', days: 3 },
  },
  {
    vendor: 'JSON Schema',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number', default: 3 } },
      required: ['city'],
    },
    seen: { city: 'Rome' },
  },
];

describeMatrix('schemas of tool arguments', (connect) => {
  it.each(notations)('$vendor: arguments are advertised as an object with its properties', async ({ inputSchema }) => {
    const server = new McpServer(info);
    server.registerTool('forecast', { inputSchema }, () => 'ok');
    const { tools } = await (await connect(server)).result('tools/list');
    expect(tools).toEqual([
      {
        name: 'forecast',
        inputSchema: expect.objectContaining({
          type: 'object',
          properties: {
            city: expect.objectContaining({ type: 'string' }),
            days: expect.objectContaining({ type: 'number' }),
          },
          required: ['city'],
        }),
      },
    ]);
  });

  it.each(notations)(
    '$vendor: the handler sees what the schema made of the arguments',
    async ({ inputSchema, seen }) => {
      const server = new McpServer(info);
      server.registerTool('forecast', { inputSchema }, (input) => JSON.stringify(input));
      const result = await (
        await connect(server)
      ).result('tools/call', {
        name: 'forecast',
        arguments: { city: 'Rome' },
      });
      expect(result.isError).toBeUndefined();
      expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(seen) }]);
    },
  );

  it.each(notations)(
    '$vendor: FEAT-02: invalid arguments are a result that names path, expectation and properties',
    async ({ inputSchema }) => {
      let runs = 0;
      const logger = recordingLogger();
      const server = new McpServer(info, { logger });
      server.registerTool('forecast', { inputSchema }, () => {
        runs += 1;
        return 'ok';
      });
      const client = await connect(server);
      const result = await client.result('tools/call', { name: 'forecast', arguments: { city: 'Rome', days: 'many' } });
      expect(result.isError).toBe(true);
      const [{ text }] = result.content as [{ text: string }];
      expect(text).toContain('tool "forecast"');
      expect(text).toContain('/days');
      expect(text).toMatch(/number/i);
      expect(text).toContain('city (required), days');
      expect(runs).toBe(0);
      expect(logger.entries).toEqual([]);
    },
  );

  it.each(notations)('$vendor: absent arguments are {}', async ({ inputSchema }) => {
    const server = new McpServer(info);
    server.registerTool('forecast', { inputSchema }, () => 'ok');
    const client = await connect(server);
    const absent = await client.result('tools/call', { name: 'forecast' });
    const empty = await client.result('tools/call', { name: 'forecast', arguments: {} });
    expect(absent.isError).toBe(true);
    expect(absent.content).toEqual(empty.content);
    expect(JSON.stringify(absent.content)).toContain('city');
  });

  it('a nested problem is named by its whole path', async () => {
    const server = new McpServer(info);
    const inputSchema = z.object({ stops: z.array(z.object({ city: z.string() })) });
    server.registerTool('route', { inputSchema }, () => 'ok');
    const client = await connect(server);
    const params = { name: 'route', arguments: { stops: [{ city: 'Rome' }, { city: 7 }] } };
    expect(JSON.stringify((await client.result('tools/call', params)).content)).toContain('/stops/1/city');
  });

  it('a union of objects is advertised with all its branches', async () => {
    const server = new McpServer(info);
    const inputSchema = z.discriminatedUnion('by', [
      z.object({ by: z.literal('name'), city: z.string() }),
      z.object({ by: z.literal('place'), latitude: z.number(), longitude: z.number() }),
    ]);
    server.registerTool('forecast', { inputSchema }, ({ by }) => by);
    const client = await connect(server);
    const { tools } = await client.result('tools/list');
    expect(tools).toEqual([{ name: 'forecast', inputSchema: expect.objectContaining({ type: 'object' }) }]);
    expect(JSON.stringify(tools)).toContain('latitude');
    const call = { name: 'forecast', arguments: { by: 'place', latitude: 1, longitude: 2 } };
    expect((await client.result('tools/call', call)).content).toEqual([{ type: 'text', text: 'place' }]);
  });

  it('an asynchronous check is waited for', async () => {
    const server = new McpServer(info);
    const inputSchema = z.object({ city: z.string().refine(async (city) => city !== 'Atlantis', 'sank') });
    server.registerTool('forecast', { inputSchema }, ({ city }) => city);
    const client = await connect(server);
    const call = async (city: string) => client.result('tools/call', { name: 'forecast', arguments: { city } });
    expect(await call('Rome')).toMatchObject({ content: [{ text: 'Rome' }] });
    expect(await call('Atlantis')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('sank') }],
    });
  });

  it('a schema whose own code throws fails like the tool itself: masked, with its reference in the log', async () => {
    const logger = recordingLogger();
    const server = new McpServer(info, { logger });
    const inputSchema = z.object({
      city: z.string().transform((): string => {
        throw new Error('secret of the transformation');
      }),
    });
    server.registerTool('forecast', { inputSchema }, ({ city }) => city);
    const result = await (
      await connect(server)
    ).result('tools/call', {
      name: 'forecast',
      arguments: { city: 'Rome' },
    });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result)).not.toContain('secret');
    expect(logger.entries).toHaveLength(1);
  });

  it('a tool without a schema takes no arguments and says so', async () => {
    const server = new McpServer(info);
    server.registerTool('ping', {}, (input) => JSON.stringify(input));
    const client = await connect(server);
    const { tools } = await client.result('tools/list');
    expect(tools).toEqual([{ name: 'ping', inputSchema: { type: 'object', additionalProperties: false } }]);
    expect(await client.result('tools/call', { name: 'ping' })).toMatchObject({ content: [{ text: '{}' }] });
    const extra = await client.result('tools/call', { name: 'ping', arguments: { verbose: true } });
    expect(extra.isError).toBe(true);
    expect(JSON.stringify(extra.content)).toContain('verbose');
  });

  it('arguments that are no object are a protocol error', async () => {
    const server = new McpServer(info);
    server.registerTool('ping', {}, () => 'ok');
    const client = await connect(server);
    for (const wrong of [null, 'text', 7, []]) {
      expect(await client.error('tools/call', { name: 'ping', arguments: wrong })).toMatchObject({
        code: -32602,
        message: expect.stringContaining('params.arguments'),
      });
    }
  });
});
