import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { INVALID_PARAMS, McpError } from '../../src/protocol/index.ts';
import { McpServer, type PromptResult, ToolError } from '../../src/server/index.ts';
import { type Connect, describeMatrix } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'prompts', version: '1.0.0' };

async function serve(connect: Connect, register: (server: McpServer) => unknown) {
  const logger = recordingLogger();
  const server = new McpServer(info, { logger });
  register(server);
  return { client: await connect(server), logger };
}

const greeting = z.object({
  name: z.string().describe('Whom to greet'),
  tone: z.enum(['warm', 'cool']).default('warm').meta({ title: 'Tone' }),
});

describeMatrix('prompts', (connect) => {
  it('are listed with their arguments, sorted by name', async () => {
    const { client } = await serve(connect, (server) => {
      server.registerPrompt('plain', { description: 'No arguments' }, () => '');
      server.registerPrompt('greet', { title: 'Greet', argsSchema: greeting, _meta: { k: 1 } }, () => '');
    });
    expect((await client.result('prompts/list')).prompts).toEqual([
      {
        name: 'greet',
        title: 'Greet',
        arguments: [
          { name: 'name', description: 'Whom to greet', required: true },
          { name: 'tone', title: 'Tone', required: false },
        ],
        _meta: { k: 1 },
      },
      { name: 'plain', description: 'No arguments' },
    ]);
  });

  it('a string becomes one message of the user', async () => {
    const { client } = await serve(connect, (server) => {
      server.registerPrompt(
        'greet',
        { description: 'Greets', argsSchema: greeting },
        ({ name, tone }) => `${tone}: ${name}`,
      );
    });
    expect(await client.result('prompts/get', { name: 'greet', arguments: { name: 'Ada' } })).toEqual({
      resultType: 'complete',
      description: 'Greets',
      messages: [{ role: 'user', content: { type: 'text', text: 'warm: Ada' } }],
      _meta: { 'io.modelcontextprotocol/serverInfo': info },
    });
  });

  it('a whole result passes, and its description wins', async () => {
    const whole: PromptResult = {
      description: 'of this one',
      messages: [
        { role: 'user', content: { type: 'text', text: 'a' } },
        { role: 'assistant', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
      ],
      _meta: { 'com.example/k': 1 },
    };
    const { client } = await serve(connect, (server) => {
      server.registerPrompt('whole', { description: 'of all' }, async () => whole);
    });
    const result = await client.result('prompts/get', { name: 'whole' });
    expect(result).toMatchObject({ description: 'of this one', messages: whole.messages });
    expect(result._meta).toEqual({ 'com.example/k': 1, 'io.modelcontextprotocol/serverInfo': info });
  });

  it('arguments can be described in Valibot and JSON Schema too', async () => {
    const { client } = await serve(connect, (server) => {
      const valibot = toStandardJsonSchema(v.object({ name: v.string(), tone: v.optional(v.string(), 'warm') }));
      server.registerPrompt('valibot', { argsSchema: valibot }, ({ name, tone }) => `${tone} ${name}`);
      const json = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
      server.registerPrompt('json', { argsSchema: json }, ({ name }) => `Hi ${String(name)}`);
    });
    const get = async (name: string) => client.result('prompts/get', { name, arguments: { name: 'Ada' } });
    expect(await get('valibot')).toMatchObject({ messages: [{ content: { text: 'warm Ada' } }] });
    expect(await get('json')).toMatchObject({ messages: [{ content: { text: 'Hi Ada' } }] });
  });

  it('absent arguments are {}', async () => {
    const { client } = await serve(connect, (server) => {
      const argsSchema = z.object({ name: z.string().optional() });
      server.registerPrompt('greet', { argsSchema }, (input) => JSON.stringify(input));
      server.registerPrompt('plain', {}, (input) => JSON.stringify(input));
    });
    for (const name of ['greet', 'plain']) {
      expect(await client.result('prompts/get', { name })).toMatchObject({ messages: [{ content: { text: '{}' } }] });
    }
  });

  it('a missing required argument is −32602 that names it', async () => {
    let runs = 0;
    const { client } = await serve(connect, (server) => {
      server.registerPrompt('greet', { argsSchema: greeting }, () => String((runs += 1)));
    });
    const error = await client.error('prompts/get', { name: 'greet', arguments: { tone: 'cool' } });
    expect(error.code).toBe(-32602);
    expect(error.message).toContain('prompt "greet"');
    expect(error.message).toContain('/name');
    expect(error.message).toContain('name (required)');
    expect(runs).toBe(0);
  });

  it.each([7, true, null, {}, ['a']])('an argument that is no string (%j) is −32602 that names it', async (value) => {
    const { client } = await serve(connect, (server) => {
      server.registerPrompt('greet', { argsSchema: z.object({ name: z.any() }) }, () => 'ran');
    });
    const error = await client.error('prompts/get', { name: 'greet', arguments: { name: value } });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('params.arguments.name') });
  });

  it('a schema may make something else of the strings', async () => {
    const { client } = await serve(connect, (server) => {
      server.registerPrompt('sum', { argsSchema: z.object({ n: z.coerce.number().int() }) }, ({ n }) => String(n + 1));
    });
    expect(await client.result('prompts/get', { name: 'sum', arguments: { n: '41' } })).toMatchObject({
      messages: [{ content: { text: '42' } }],
    });
    expect((await client.error('prompts/get', { name: 'sum', arguments: { n: 'x' } })).message).toContain('/n');
  });

  it('FEAT-01: an unknown prompt is −32602, prototype names included', async () => {
    const { client } = await serve(connect, (server) => server.registerPrompt('greet', {}, () => ''));
    for (const name of ['other', 'Greet', '', 'constructor', '__proto__', 'toString']) {
      expect(await client.error('prompts/get', { name })).toMatchObject({ code: -32602 });
    }
  });

  it('an McpError passes; a ToolError means nothing here and is masked like all others', async () => {
    const { client, logger } = await serve(connect, (server) => {
      server.registerPrompt('refused', {}, () => {
        throw new McpError(INVALID_PARAMS, 'Not on Sundays', { data: { day: 0 } });
      });
      server.registerPrompt('broken', {}, () => {
        throw new ToolError('password hunter2');
      });
    });
    expect(await client.error('prompts/get', { name: 'refused' })).toEqual({
      code: -32602,
      message: 'Not on Sundays',
      data: { day: 0 },
    });
    const error = await client.error('prompts/get', { name: 'broken' });
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(logger.byReference(referenceIn(error.message)).level).toBe('error');
  });

  it.each([undefined, null, 7, {}, { messages: 'text' }, { messages: [null] }])(
    'what is no prompt (%j) is −32603, and the log says what to return',
    async (value) => {
      const { client, logger } = await serve(connect, (server) =>
        server.registerPrompt('broken', {}, () => value as unknown as string),
      );
      const { code, message } = await client.error('prompts/get', { name: 'broken' });
      expect(code).toBe(-32603);
      expect(String(logger.byReference(referenceIn(message)).fields.error)).toContain('prompt "broken"');
    },
  );
});
