import { expect, it } from 'vitest';
import { z } from 'zod';
import { McpServer, ToolError } from '../../src/server/index.ts';
import { INVALID_PARAMS, McpError } from '../../src/protocol/index.ts';
import { type Connect, describeMatrix, expectHttp } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'results', version: '1.0.0' };
const count = z.object({ count: z.number() });
/** The same for authors who do not heed types. */
const looseCount: object = count;

/** Calls a tool that has no arguments, on a server of its own. */
async function callWith(connect: Connect, register: (server: McpServer) => unknown) {
  const logger = recordingLogger();
  const server = new McpServer(info, { logger });
  register(server);
  const client = await connect(server, { logger });
  return { logger, answer: await client.request('tools/call', { name: 'tool' }) };
}

describeMatrix('results of tools', (connect) => {
  it('a string becomes one text', async () => {
    const { answer } = await callWith(connect, (server) => server.registerTool('tool', {}, () => 'Sunny'));
    expect(answer.message.result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: 'Sunny' }],
      _meta: { 'io.modelcontextprotocol/serverInfo': info },
    });
  });

  it('a whole result passes as it is, with its metadata', async () => {
    const whole = {
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
      structuredContent: { free: 'form' },
      _meta: { 'com.example/trace': 1 },
    } as const;
    const { answer } = await callWith(connect, (server) => server.registerTool('tool', {}, () => whole));
    expect(answer.message.result).toEqual({
      resultType: 'complete',
      ...whole,
      _meta: { 'com.example/trace': 1, 'io.modelcontextprotocol/serverInfo': info },
    });
  });

  it('FEAT-04: with an outputSchema a value becomes structuredContent and its JSON the text', async () => {
    const { answer } = await callWith(connect, (server) =>
      server.registerTool('tool', { outputSchema: count }, () => ({ count: 2 })),
    );
    expect(answer.message.result).toMatchObject({
      structuredContent: { count: 2 },
      content: [{ type: 'text', text: '{"count":2}' }],
    });
    expect(answer.message.result).not.toHaveProperty('isError');
  });

  it('structured output may be an array, a number, or null', async () => {
    const outputs: readonly (readonly [schema: object, value: unknown])[] = [
      [z.array(z.string()), ['a', 'b']],
      [z.array(z.string()), []],
      [z.number(), 0],
      [z.null(), null],
      [z.boolean(), false],
    ];
    for (const [outputSchema, value] of outputs) {
      const { answer } = await callWith(connect, (server) =>
        server.registerTool('tool', { outputSchema }, () => value),
      );
      expect(answer.message.result).toMatchObject({ content: [{ type: 'text', text: JSON.stringify(value) }] });
      expect(answer.message.result?.structuredContent).toEqual(value);
    }
  });

  it('structured output is what the schema makes of it: defaults in, unknown members out', async () => {
    const outputSchema = z.object({ count: z.number(), unit: z.string().default('pieces') });
    const { answer } = await callWith(connect, (server) =>
      server.registerTool('tool', { outputSchema }, () => ({ count: 2, password: 'hunter2' })),
    );
    expect(answer.message.result?.structuredContent).toEqual({ count: 2, unit: 'pieces' });
    expect(JSON.stringify(answer.message)).not.toContain('hunter2');
  });

  it('a whole result is checked against the outputSchema too', async () => {
    const content = [{ type: 'text', text: 'two' }] as const;
    const good = await callWith(connect, (server) =>
      server.registerTool('tool', { outputSchema: count }, () => ({ content, structuredContent: { count: 2 } })),
    );
    expect(good.answer.message.result).toMatchObject({ content, structuredContent: { count: 2 } });
    const bad = await callWith(connect, (server) =>
      server.registerTool('tool', { outputSchema: count }, () => ({ content, structuredContent: { count: 'two' } })),
    );
    expect(bad.answer.message.result?.isError).toBe(true);
    expect(bad.logger.entries).toHaveLength(1);
  });

  it.each([
    { what: 'of another type', value: { count: 'two' } },
    { what: 'that is missing', value: undefined },
  ])('output $what is a masked failure whose reference is in the log', async ({ value }) => {
    const { answer, logger } = await callWith(connect, (server) =>
      server.registerTool('tool', { outputSchema: looseCount }, () => value),
    );
    expect(answer.message.result).toMatchObject({ isError: true });
    expect(answer.message.result).not.toHaveProperty('structuredContent');
    const entry = logger.byReference(referenceIn(answer.message.result?.content));
    expect(entry.level).toBe('error');
    expect(String(entry.fields.error)).toMatch(/tool "tool".*outputSchema/);
  });

  it('structured output that has a member "content" of its own is not taken for a whole result', async () => {
    const outputSchema = z.object({ content: z.array(z.string()) });
    for (const content of [['a line'], []]) {
      const { answer } = await callWith(connect, (server) =>
        server.registerTool('tool', { outputSchema }, () => ({ content })),
      );
      expect(answer.message.result?.isError).toBeUndefined();
      expect(answer.message.result?.structuredContent).toEqual({ content });
    }
  });

  it('a returned isError is never checked against the outputSchema', async () => {
    const content = [{ type: 'text', text: 'authentication failed' }] as const;
    const { answer, logger } = await callWith(connect, (server) =>
      server.registerTool('tool', { outputSchema: count }, () => ({ content, isError: true })),
    );
    expect(answer.message.result).toMatchObject({ content, isError: true });
    expect(logger.entries).toEqual([]);
  });

  it.each([undefined, null, 7, true, { count: 1 }, { content: 'text' }, { content: [{ text: 'no type' }] }, ['a']])(
    'what is no result (%j) is refused without an outputSchema, and the log says what to return',
    async (value) => {
      const { answer, logger } = await callWith(connect, (server) =>
        server.registerTool('tool', {}, () => value as unknown as string),
      );
      expect(answer.message.result).toMatchObject({ isError: true });
      expect(String(logger.byReference(referenceIn(answer.message.result?.content)).fields.error)).toContain(
        'outputSchema',
      );
    },
  );

  it.each([{ value: 10n }, { value: circular() }])('what JSON cannot carry is a masked failure', async ({ value }) => {
    const { answer, logger } = await callWith(connect, (server) =>
      server.registerTool('tool', { outputSchema: z.any() }, () => ({ value })),
    );
    expect(answer.message.error?.code ?? answer.message.result?.isError).toBeTruthy();
    expect(logger.entries).toHaveLength(1);
  });
});

describeMatrix('failures of tools', (connect) => {
  it('FEAT-02: the text of a ToolError is for the model', async () => {
    const { answer, logger } = await callWith(connect, (server) =>
      server.registerTool('tool', {}, () => {
        throw new ToolError('There is no city called "Atlantis"');
      }),
    );
    expectHttp(answer, { status: 200 });
    expect(answer.message.result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'There is no city called "Atlantis"' }],
    });
    expect(logger.entries).toEqual([]);
  });

  it('an McpError is the answer, with its code and data', async () => {
    const { answer, logger } = await callWith(connect, (server) =>
      server.registerTool('tool', {}, () => {
        throw new McpError(INVALID_PARAMS, 'No such table', { data: { table: 'users2' } });
      }),
    );
    expect(answer.message.error).toEqual({ code: -32602, message: 'No such table', data: { table: 'users2' } });
    expect(logger.entries).toEqual([]);
  });

  it.each([
    { how: 'thrown at once', run: () => raise(new Error('password hunter2')) },
    { how: 'rejected', run: async () => Promise.reject(new Error('password hunter2')) },
    { how: 'thrown later', run: async () => Promise.resolve().then(() => raise(new Error('password hunter2'))) },
  ])('an unexpected error ($how) is masked: one sentence and a reference that is in the log', async ({ run }) => {
    const { answer, logger } = await callWith(connect, (server) => server.registerTool('tool', {}, run));
    expect(JSON.stringify(answer.message)).not.toContain('hunter2');
    expect(answer.message.result?.isError).toBe(true);
    const entry = logger.byReference(referenceIn(answer.message.result?.content));
    expect(entry.level).toBe('error');
    expect(entry.message).toContain('tool "tool"');
    expect(entry.fields.error).toEqual(new Error('password hunter2'));
  });

  it.each(['text', undefined, null, 7, { code: -32602, message: 'looks like one' }])(
    'anything can be thrown: %j is masked too',
    async (thrown) => {
      const { answer, logger } = await callWith(connect, (server) =>
        server.registerTool('tool', {}, () => raise(thrown)),
      );
      expect(answer.message.result?.isError).toBe(true);
      expect(JSON.stringify(answer.message)).not.toContain('looks like one');
      expect(logger.entries[0]?.fields.error).toEqual(thrown);
    },
  );

  it('every failure has a reference of its own', async () => {
    const server = new McpServer(info, { logger: recordingLogger() });
    server.registerTool('tool', {}, () => raise(new Error('x')));
    const client = await connect(server);
    const texts = await Promise.all(
      [1, 2, 3].map(async () => JSON.stringify((await client.result('tools/call', { name: 'tool' })).content)),
    );
    expect(new Set(texts.map(referenceIn)).size).toBe(3);
  });
});

function circular(): object {
  const loop: { self?: object } = {};
  loop.self = loop;
  return loop;
}

function raise(thrown: unknown): never {
  throw thrown;
}
