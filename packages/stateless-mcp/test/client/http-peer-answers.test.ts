import { describe, expect, it } from 'vitest';
import { LocalError, RemoteError } from '../../src/protocol/index.ts';
import {
  ask,
  callTool,
  CONTENT,
  failureOf,
  HTTP_CLIENTS,
  expectLocalError,
  openPeer,
  expectRemoteError,
} from './http-peer-harness.ts';
import { type Answer, type Received, type Script, scriptedServer } from './scripted-server.ts';

/** The two forms that an answer may have: each test runs with both. */
const FORMS: readonly (readonly [string, (answer: Answer, message: unknown) => void])[] = [
  ['a JSON body', (answer, message) => answer.json(message)],
  ['an event stream', (answer, message) => void answer.stream().event(message).response.end()],
];

const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

describe.each(HTTP_CLIENTS)('answers over $name', (client) => {
  describe.each(FORMS)('in %s', (_form, write) => {
    /** Answers with a result of this shape, under the id of the request. */
    const withResult =
      (result: unknown): Script =>
      (answer, { message }) =>
        write(answer, { jsonrpc: '2.0', id: message.id, result });

    const outcomeOf = async (script: Script, method: string, params?: Readonly<Record<string, unknown>>) => {
      const server = await scriptedServer(script);
      return ask(openPeer(client, server.url), method, params);
    };

    it('STRM-02: a result is a result', async () => {
      const result = { resultType: 'complete', content: [{ type: 'text', text: 'héllo 🌍' }], extra: { kept: [1] } };
      await expect(outcomeOf(withResult(result), 'tools/call', { name: 'a' })).resolves.toEqual(result);
    });

    it('JR-09, BC-15: without resultType it is complete', async () => {
      const result = await outcomeOf(withResult(CONTENT), 'tools/call', { name: 'a' });
      expect(result).toEqual({ resultType: 'complete', content: [] });
    });

    it.each([
      ['tools/call', 'task'],
      ['tools/call', 'Complete'],
      ['tools/call', ''],
      ['tools/call', null],
      ['tools/call', 7],
      ['tools/list', 'input_required'],
      ['server/discover', 'input_required'],
      ['completion/complete', 'input_required'],
      ['subscriptions/listen', 'input_required'],
    ])('JR-10, T-10, T-112: %s with resultType %j is not valid', async (method, resultType) => {
      const error = await expectLocalError(
        outcomeOf(withResult({ resultType, content: [], tools: [], inputRequests: {} }), method),
        'invalid_answer',
      );
      expect(error.message).toContain(method);
      expect(error.message).toContain('resultType');
      expect(error.maybeExecuted).toBe(true);
    });

    it.each(['tools/call', 'resources/read', 'prompts/get'])('a question may answer %s', async (method) => {
      const question = {
        resultType: 'input_required',
        inputRequests: { a: { method: 'roots/list' } },
        requestState: 's',
      };
      await expect(outcomeOf(withResult(question), method)).resolves.toEqual(question);
    });

    it.each([
      [{}, { ttlMs: 0, cacheScope: 'private' }],
      [
        { ttlMs: -5, cacheScope: 'public' },
        { ttlMs: 0, cacheScope: 'public' },
      ],
      [
        { ttlMs: '60000', cacheScope: 'Public' },
        { ttlMs: 0, cacheScope: 'private' },
      ],
      [{ ttlMs: 60_000 }, { ttlMs: 60_000, cacheScope: 'private' }],
      [
        { ttlMs: 60_000, cacheScope: 'public' },
        { ttlMs: 60_000, cacheScope: 'public' },
      ],
    ])('CACHE-03, D07: the hints %j are read as %j', async (given, read) => {
      const result = await outcomeOf(withResult({ tools: [], ...given }), 'tools/list');
      expect(result).toEqual({ resultType: 'complete', tools: [], ...read });
    });

    it('adds no hints where a method has none', async () => {
      const result = await outcomeOf(withResult({ resultType: 'complete', ...CONTENT }), 'tools/call');
      expect(Object.keys(result)).toEqual(['resultType', 'content']);
    });

    it.each([
      ['tools/call', {}],
      ['tools/call', { content: 'text' }],
      ['tools/list', { tools: {} }],
      ['tools/list', { tools: [], nextCursor: 7 }],
      ['server/discover', { supportedVersions: ['2026-07-28'], capabilities: [] }],
      ['completion/complete', { completion: null }],
    ])('%s with %j is not valid', async (method, result) => {
      await expectLocalError(outcomeOf(withResult(result), method), 'invalid_answer');
    });

    it.each([[null], ['text'], [[]], [7]])('a result that is %j is not valid', async (result) => {
      await expectLocalError(outcomeOf(withResult(result), 'tools/call'), 'invalid_answer');
    });

    it('takes an id that became a string', async () => {
      const script: Script = (answer, { message }) =>
        write(answer, { jsonrpc: '2.0', id: String(message.id), result: CONTENT });
      await expect(outcomeOf(script, 'tools/call')).resolves.toMatchObject(CONTENT);
    });

    it.each([
      ['with its id', (message: Received['message']) => ({ id: message.id })],
      ['T-09: without an id', () => ({})],
      ['T-03: with null for an id', () => ({ id: null })],
      ['with an id that nobody gave', () => ({ id: 'server-error' })],
    ])('T-09: an error %s belongs to the request of this POST', async (_, idOf) => {
      const script: Script = (answer, { message }) =>
        write(answer, { jsonrpc: '2.0', ...idOf(message), error: { code: -32050, message: 'No', data: [1] } });
      const error = await expectRemoteError(outcomeOf(script, 'tools/call'), -32050);
      expect(error).toMatchObject({ message: 'No', data: [1] });
    });

    it('JR-19: codes have the meaning that the server gives them', async () => {
      for (const code of [-32000, -32001, -32002, -32019, -32042, 0, 1, -1.5]) {
        const script: Script = (answer, { message }) =>
          write(answer, { jsonrpc: '2.0', id: message.id, error: { code, message: 'Of its own' } });
        await expectRemoteError(outcomeOf(script, 'tools/call'), code);
      }
    });

    it.each([[{}], [null], ['text'], [{ code: '-32600', message: 'no' }]])(
      'the error %j is not valid',
      async (error) => {
        const script: Script = (answer, { message }) => write(answer, { jsonrpc: '2.0', id: message.id, error });
        await expectLocalError(outcomeOf(script, 'tools/call'), 'invalid_answer');
      },
    );

    it('an error without a message has an empty one', async () => {
      const script: Script = (answer, { message }) => write(answer, { id: message.id, error: { code: -32603 } });
      await expect(expectRemoteError(outcomeOf(script, 'tools/call'), -32603)).resolves.toMatchObject({ message: '' });
    });

    it('nests as deep as a message may, and no deeper', async () => {
      // The message and its result are two levels, `structuredContent` holds the rest.
      const structured = (levels: number) => withResult({ content: [], structuredContent: deep(levels) });
      await expect(outcomeOf(structured(126), 'tools/call')).resolves.toMatchObject(CONTENT);
      const error = await failureOf(outcomeOf(structured(127), 'tools/call'));
      expect(error).toMatchObject({ phase: 'call', maybeExecuted: true });
      expect((error as LocalError).message).toContain('nests deeper than 128 levels');
    });
  });

  it('a result for another request is not valid in a JSON body, and ignored in a stream', async () => {
    const server = await scriptedServer((answer, { index, message }) => {
      const foreign = { jsonrpc: '2.0', id: 4711, result: { content: ['foreign'] } };
      if (index === 0) return answer.json(foreign);
      answer.stream().event(foreign);
      answer.event({ jsonrpc: '2.0', id: message.id, result: CONTENT }).response.end();
      return undefined;
    });
    const peer = openPeer(client, server.url);
    const error = await expectLocalError(callTool(peer, 'a'), 'invalid_answer');
    expect(error.message).toContain('4711');
    await expect(callTool(peer, 'a')).resolves.toMatchObject(CONTENT);
    expect(peer.log.entries).toEqual([
      expect.objectContaining({ level: 'debug', message: expect.stringContaining('4711') as string }),
    ]);
  });

  it('JR-22, T-13: what arises here is no error of the server, and has a word for a code', async () => {
    const server = await scriptedServer((answer) => answer.json([]));
    const error = await failureOf(callTool(openPeer(client, server.url), 'a'));
    expect(error).toBeInstanceOf(LocalError);
    expect(error).not.toBeInstanceOf(RemoteError);
    expect(typeof (error as LocalError).code).toBe('string');
  });

  it.each([
    ['parameters', 'application/json; charset=utf-8'],
    ['capitals', 'Application/JSON'],
    ['a suffix', 'application/problem+json'],
  ])('T-104: the content type is read with %s', async (_, type) => {
    const server = await scriptedServer((answer) =>
      answer.send(200, { 'Content-Type': type }, JSON.stringify(answer.resultMessage(CONTENT))),
    );
    await expect(callTool(openPeer(client, server.url), 'a')).resolves.toMatchObject(CONTENT);
  });

  it('T-104: the type of a stream has parameters too', async () => {
    const server = await scriptedServer((answer) =>
      answer.send(
        200,
        { 'Content-Type': 'Text/Event-Stream ; charset=utf-8' },
        `data: ${JSON.stringify(answer.resultMessage(CONTENT))}\n\n`,
      ),
    );
    await expect(callTool(openPeer(client, server.url), 'a')).resolves.toMatchObject(CONTENT);
  });

  it('a body is the same whatever its pieces', async () => {
    const server = await scriptedServer(async (answer) => {
      const bytes = Buffer.from(JSON.stringify(answer.resultMessage({ content: [{ text: 'Grüße 🌍' }] })));
      answer.response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders();
      answer.response.socket?.setNoDelay(true);
      for (const byte of bytes) {
        answer.write(Uint8Array.of(byte));
        await new Promise(setImmediate);
      }
      answer.response.end();
    });
    const result = await callTool(openPeer(client, server.url), 'a');
    expect(result).toMatchObject({ content: [{ text: 'Grüße 🌍' }] });
  });
});
