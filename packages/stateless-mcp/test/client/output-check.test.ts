import { describe, expect, it } from 'vitest';
import { McpClient, type McpClientOptions } from '../../src/client/index.ts';
import { LIST_TOOLS, LocalError } from '../../src/protocol/index.ts';
import { type RecordingLogger, recordingLogger } from '../recording-logger.ts';
import { rejection, scriptedPeer, type ScriptedPeer } from './scripted-peer.ts';

const countSchema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };
const fits = { content: [], structuredContent: { count: 1 } };
const doesNotFit = { content: [], structuredContent: { count: 'one' } };

interface Setup {
  readonly client: McpClient;
  readonly logger: RecordingLogger;
  readonly peer: ScriptedPeer;
}

/** A client that has read a list with one tool, and the answers of its calls. */
async function setUp(
  outputSchema: unknown,
  results: ReadonlyArray<Readonly<Record<string, unknown>>>,
  options: McpClientOptions = {},
): Promise<Setup> {
  const left = [...results];
  const peer = scriptedPeer(({ method }) =>
    method === 'tools/list' ? { tools: [{ name: 't', outputSchema }, { name: 'plain' }] } : left.shift(),
  );
  const logger = recordingLogger();
  const client = new McpClient(peer, { logger, ...options });
  await client.listTools();
  return { client, logger, peer };
}

describe('a structured result that does not fit', () => {
  it('is handed out with a warning that names tool, place and problem', async () => {
    const { client, logger } = await setUp(countSchema, [doesNotFit]);
    expect(await client.callTool('t')).toMatchObject(doesNotFit);
    expect(logger.entries).toHaveLength(1);
    expect(logger.entries[0]).toMatchObject({ level: 'warn', fields: { tool: 't' } });
    expect(logger.entries[0]?.message).toMatch(/result of tool "t" does not fit its outputSchema: .*\/count/);
  });

  it('is an error that has it, if that is wanted', async () => {
    const { client, logger } = await setUp(countSchema, [doesNotFit], { outputCheck: 'strict' });
    const error = await rejection(client.callTool('t'));
    expect(error).toBeInstanceOf(LocalError);
    expect(error).toMatchObject({ code: 'invalid_output', maybeExecuted: true, phase: 'call', result: doesNotFit });
    expect(String(error)).toContain('/count');
    expect(logger.entries).toEqual([]);
  });

  it('is not looked at, if that is wanted', async () => {
    const { client, logger } = await setUp(countSchema, [doesNotFit], { outputCheck: 'off' });
    expect(await client.callTool('t')).toMatchObject(doesNotFit);
    expect(logger.entries).toEqual([]);
  });

  it('does so too if it is not there', async () => {
    const results = [{ content: [{ type: 'text', text: '{"count":1}' }] }, { content: [] }];
    const { client, logger } = await setUp(countSchema, [results[0] ?? {}]);
    expect(await client.callTool('t')).toMatchObject(results[0] ?? {});
    expect(logger.entries[0]?.message).toContain('it has no structuredContent');
    const strict = await setUp(countSchema, results, { outputCheck: 'strict' });
    expect(await rejection(strict.client.callTool('t'))).toMatchObject({ code: 'invalid_output' });
  });
});

describe('nothing is said about', () => {
  it.each([
    ['what fits', countSchema, fits],
    ['FEAT-02: what a failed tool says', countSchema, { ...doesNotFit, isError: true }],
    ['a failed tool that says nothing structured', countSchema, { content: [], isError: true }],
    ['tools without a schema', undefined, doesNotFit],
    ['tools whose schema is null', null, doesNotFit],
    ['results of any JSON type that fit', { type: 'array' }, { content: [], structuredContent: [] }],
    ['null where that fits', { type: 'null' }, { content: [], structuredContent: null }],
    ['content of unknown types', countSchema, { ...fits, content: [{ type: 'hologram' }] }],
  ])('%s', async (_, schema, result) => {
    for (const outputCheck of ['warn', 'strict'] as const) {
      const { client, logger } = await setUp(schema, [result], { outputCheck });
      expect(await client.callTool('t')).toMatchObject(result);
      expect(logger.entries).toEqual([]);
    }
  });

  it('tools of lists that were not read', async () => {
    const logger = recordingLogger();
    const client = new McpClient(
      scriptedPeer(() => doesNotFit),
      { logger, outputCheck: 'strict' },
    );
    for (const name of ['t', '__proto__', 'constructor']) await client.callTool(name);
    expect(logger.entries).toEqual([]);
  });

  it('calls that are made as plain requests', async () => {
    const { client, logger } = await setUp(countSchema, [doesNotFit], { outputCheck: 'strict' });
    const row = (await import('../../src/protocol/index.ts')).CALL_TOOL;
    expect(await client.request(row, { name: 't', arguments: {} })).toMatchObject(doesNotFit);
    expect(logger.entries).toEqual([]);
  });
});

describe('a schema', () => {
  it.each([
    [
      'draft-07 by name',
      { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { n: { type: 'integer' } } },
    ],
    ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', definitions: { n: { type: 'integer' } } }],
    ['2020-12 by name', { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { n: { type: 'integer' } } }],
    ['of no name', { $defs: { n: { type: 'integer' } } }],
  ])('of %s is understood', async (_, head) => {
    const place = '$defs' in head ? '$defs' : 'definitions';
    const schema = { ...head, type: 'object', properties: { count: { $ref: `#/${place}/n` } } };
    const { client, logger } = await setUp(schema, [fits, doesNotFit]);
    await client.callTool('t');
    expect(logger.entries).toEqual([]);
    await client.callTool('t');
    expect(logger.entries).toHaveLength(1);
    expect(logger.entries[0]?.message).toContain('/count');
  });

  it('of draft-07 is read by its own rules', async () => {
    const items = [{ type: 'string' }];
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items };
    const { client, logger } = await setUp(schema, [
      { content: [], structuredContent: ['a', 1] },
      { content: [], structuredContent: [1] },
    ]);
    await client.callTool('t');
    expect(logger.entries).toEqual([]);
    await client.callTool('t');
    expect(logger.entries).toHaveLength(1);
  });

  it.each([
    ['of an unknown dialect', { $schema: 'https://example.com/dialect', type: 'object' }],
    ['that refers to another place', { $ref: 'https://example.com/schema' }],
    ['that refers to nothing', { $ref: '#/$defs/none' }],
    ['that is malformed', { type: 'objekt' }],
    ['with a pattern that could take forever', { type: 'string', pattern: '(a+)+$' }],
    ['that never ends', { $ref: '#' }],
    ['that is no object', 'string'],
    ['that calls itself a Standard Schema', { '~standard': { version: 1, vendor: 'x', jsonSchema: {}, validate: {} } }],
  ])('%s costs the check of its tool, and is told once', async (_, schema) => {
    for (const outputCheck of ['warn', 'strict'] as const) {
      const { client, logger } = await setUp(schema, [doesNotFit, doesNotFit], { outputCheck });
      expect(await client.callTool('t')).toMatchObject(doesNotFit);
      expect(await client.callTool('t')).toMatchObject(doesNotFit);
      expect(logger.entries).toHaveLength(1);
      expect(logger.entries[0]?.message).toMatch(/^Results of tool "t" are not checked: /);
    }
  });

  it('that cannot be used does not touch those of other tools', async () => {
    const logger = recordingLogger();
    const peer = scriptedPeer(({ method }) =>
      method === 'tools/list'
        ? {
            tools: [
              { name: 'bad', outputSchema: { type: 'objekt' } },
              { name: 'good', outputSchema: countSchema },
            ],
          }
        : doesNotFit,
    );
    const client = new McpClient(peer, { logger, outputCheck: 'strict' });
    await client.listTools();
    await client.callTool('bad');
    expect(await rejection(client.callTool('good'))).toMatchObject({ code: 'invalid_output' });
  });

  it('is the one of the list that was read last', async () => {
    const schemas = [countSchema, { type: 'object' }];
    const logger = recordingLogger();
    const peer = scriptedPeer(({ method }) =>
      method === 'tools/list' ? { tools: [{ name: 't', outputSchema: schemas.shift() }] } : doesNotFit,
    );
    const client = new McpClient(peer, { logger });
    await client.listTools();
    await client.callTool('t');
    expect(logger.entries).toHaveLength(1);
    await client.listTools();
    await client.callTool('t');
    await client.listTools();
    await client.callTool('t');
    expect(logger.entries).toHaveLength(1);
  });

  it('of a list that was read page by page counts too', async () => {
    const logger = recordingLogger();
    const peer = scriptedPeer(({ method }) =>
      method === 'tools/list' ? { tools: [{ name: 't', outputSchema: countSchema }] } : doesNotFit,
    );
    const client = new McpClient(peer, { logger });
    for await (const _ of client.pages(LIST_TOOLS));
    await client.callTool('t');
    expect(logger.entries).toHaveLength(1);
  });

  it('T-81: of the credentials before is forgotten', async () => {
    const { client, logger, peer } = await setUp(countSchema, [doesNotFit]);
    peer.changeCredentials();
    await client.callTool('t');
    expect(logger.entries).toEqual([]);
  });
});

describe('another validator', () => {
  it('is asked once for a schema and once for each result', async () => {
    const asked: unknown[] = [];
    const { client, logger } = await setUp(countSchema, [fits, doesNotFit], {
      validator: {
        compile(schema) {
          asked.push(schema);
          return (value) => {
            asked.push(value);
            return [{ path: '/here', message: 'is not liked' }];
          };
        },
      },
    });
    await client.callTool('t');
    await client.callTool('t');
    expect(asked).toEqual([countSchema, { count: 1 }, { count: 'one' }]);
    expect(logger.entries.map(({ message }) => message)).toEqual([
      expect.stringContaining('/here: is not liked'),
      expect.stringContaining('/here: is not liked'),
    ]);
  });

  it('is not asked again for a schema that a later list has too', async () => {
    const schemas = [countSchema, { ...countSchema }, { type: 'object' }];
    const compiled: unknown[] = [];
    const peer = scriptedPeer(({ method }) =>
      method === 'tools/list' ? { tools: [{ name: 't', outputSchema: schemas.shift() }] } : fits,
    );
    const client = new McpClient(peer, {
      validator: {
        compile(schema) {
          compiled.push(schema);
          return () => [];
        },
      },
    });
    for (const after of [1, 1, 2]) {
      await client.listTools();
      await client.callTool('t');
      expect(compiled).toHaveLength(after);
    }
  });

  it.each([
    [
      'compile',
      () => {
        throw new Error('no such keyword');
      },
    ],
    [
      'check',
      () => () => {
        throw new Error('no such keyword');
      },
    ],
  ])('that fails in %s costs the check, not the call', async (_, compile) => {
    const { client, logger } = await setUp(countSchema, [doesNotFit], {
      outputCheck: 'strict',
      validator: { compile },
    });
    expect(await client.callTool('t')).toMatchObject(doesNotFit);
    expect(logger.entries).toHaveLength(1);
    expect(logger.entries[0]?.message).toMatch(/"t" are not checked: .*no such keyword/);
  });
});
