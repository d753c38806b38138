import { describe, expect, it } from 'vitest';
import { McpError, type McpHandler, type McpResult } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import { DONE, recordingLogger, requestText, serveNode, within } from './harness.ts';

const message = request('tools/list');
const logged = { meta: { [LOG_LEVEL_KEY]: 'debug' } };
const cycle: Record<string, unknown> = {};
cycle.self = cycle;

/** What is no result by its type, as code without types returns it. */
function untyped(value: unknown): McpHandler {
  return async () => value as McpResult;
}

describe('a handler that fails', () => {
  it('after the stream has begun ends it with the error', async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: 'test', version: '1' }, { logger });
    server.registerTool('fail', {}, async (_input, { log }) => {
      await log('info', 'begun');
      throw new McpError(-31999, 'out of paper', { data: { tray: 2 }, status: 500, headers: { 'X-Never': 'sent' } });
    });
    const { connect } = await serveNode(server, { logger });
    const client = await connect();
    void client.write(requestText(callTool('fail', {}, logged)));
    const events = await client.untilEvents(2);
    console.log('fault: handler threw after its stream had begun');
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({ error: { code: -31999, message: 'out of paper', data: { tray: 2 } } });
    const { status, headers, isComplete } = await client.response();
    expect([status, isComplete]).toEqual([200, true]);
    expect(headers.has('x-never')).toBe(false);
  });

  it.each([
    ['rejects', async () => Promise.reject(new Error('secret of the database'))],
    [
      'throws at once',
      () => {
        throw new Error('secret of the database');
      },
    ],
    ['throws no error', async () => Promise.reject('secret of the database')],
    ['throws nothing', async () => Promise.reject(undefined)],
  ] as const)('and %s is answered with a reference alone', async (_how, handler: McpHandler) => {
    const logger = recordingLogger();
    const { send } = await serveNode(handler, { logger });
    const { status, text } = await send(message);
    console.log('fault: handler threw');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ id: message.id, error: { code: -32603 } });
    expect(text).not.toContain('secret');
    expect(logger.lines).toHaveLength(1);
    expect(text).toContain(String(logger.lines[0]?.fields?.reference));
  });

  it.each([
    ['a BigInt in its data', { data: { amount: 1n } }],
    ['a cycle in its data', { data: cycle }],
    ['a header that HTTP cannot carry', { headers: { 'X-Note': 'line\nbreak' } }],
    ['a status that HTTP does not have', { status: 42 }],
  ])('with an McpError with %s is answered all the same', async (_what, options) => {
    const logger = recordingLogger();
    const handler: McpHandler = async () => {
      throw new McpError(-31999, 'it failed', options);
    };
    const { send } = await serveNode(handler, { logger });
    const { text } = await within(send(message), 2000);
    console.log('fault: handler threw an error that cannot be sent');
    expect(JSON.parse(text)).toMatchObject({ id: message.id, error: { code: expect.any(Number) } });
    expect(logger.lines.length).toBeGreaterThan(0);
  });
});

describe('a result', () => {
  it.each([
    ['a BigInt', { ...DONE, amount: 1n }],
    ['a cycle', { ...DONE, cycle }],
    [
      'a toJSON that throws',
      {
        ...DONE,
        toJSON: () => {
          throw new Error('secret');
        },
      },
    ],
    ['a toJSON without a value', { ...DONE, toJSON: () => undefined }],
    ['no value at all', undefined],
    ['null', null],
    ['a function', () => 1],
  ])('with %s is an internal error, and logged', async (_what, result) => {
    const logger = recordingLogger();
    const { send } = await serveNode(untyped(result), { logger });
    const { status, text } = await within(send(message), 2000);
    console.log('fault: handler returned what JSON cannot carry');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ id: message.id, error: { code: -32603 } });
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it.each([
    ['JSON', {}],
    ['event stream', logged],
  ])('with a BigInt from a tool does no harm to a %s answer', async (_form, options) => {
    const logger = recordingLogger();
    const server = new McpServer({ name: 'test', version: '1' }, { logger });
    server.registerTool('count', {}, async (_input, { log }) => {
      await log('info', 'counting');
      return { content: [{ type: 'text', text: 'many' }], structuredContent: { atoms: 10n ** 80n } };
    });
    const { connect, send } = await serveNode(server, { logger });
    const client = await connect();
    void client.write(requestText(callTool('count', {}, options)));
    const { text } = await client.response();
    console.log('fault: a tool returned a BigInt');
    expect(text).toMatch(/"error":\{"code":-32603|"isError":true/);
    expect(logger.lines.some(({ level }) => level === 'error')).toBe(true);
    expect((await send(message)).status).toBe(200);
  });

  it.each([
    ['ASCII', 'x'.repeat(2000)],
    ['text that is longer in UTF-8 than in memory', '日'.repeat(400)],
  ])('over maxResponseBytes is an error that names the option: %s', async (_kind, text) => {
    const logger = recordingLogger();
    const { send } = await serveNode(async () => ({ ...DONE, text }), { maxResponseBytes: 1000, logger });
    const response = await send(message);
    console.log('fault: a result over its limit');
    expect(response.status).toBe(200);
    const { error } = JSON.parse(response.text) as { error: { code: number; message: string } };
    expect(error.code).toBe(-32603);
    expect(error.message).toContain('maxResponseBytes');
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { maxResponseBytes: 1000 } }]);
  });

  it('over maxResponseBytes ends a stream with that error', async () => {
    const handler: McpHandler = async (_request, exchange) => {
      void exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 'begun' } });
      return { ...DONE, text: 'x'.repeat(2000) };
    };
    const { connect } = await serveNode(handler, { maxResponseBytes: 1000 });
    const client = await connect();
    void client.write(requestText(message));
    const events = await client.untilEvents(2);
    expect(events[1]).toMatchObject({ error: { code: -32603, message: expect.stringContaining('maxResponseBytes') } });
    expect((await client.response()).isComplete).toBe(true);
  });

  it('as large as maxResponseBytes is sent', async () => {
    const frame = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { ...DONE, text: '' } }).length;
    const text = 'x'.repeat(1000 - frame);
    const { send } = await serveNode(async () => ({ ...DONE, text }), { maxResponseBytes: 1000 });
    expect(JSON.parse((await send(message)).text)).toMatchObject({ result: { text } });
  });
});

describe('a notification', () => {
  it('that JSON cannot carry fails the handler that sent it, and nothing else', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('count', {}, async (_input, { log }) => {
      expect(() => log('info', 1n)).toThrow(TypeError);
      await log('info', 'recovered');
      return 'done';
    });
    const { connect } = await serveNode(server);
    const client = await connect();
    void client.write(requestText(callTool('count', {}, logged)));
    const events = await client.untilEvents(2);
    expect(events).toMatchObject([{ params: { data: 'recovered' } }, { result: { content: [{ text: 'done' }] } }]);
  });

  it('after the result is dropped', async () => {
    let late: (() => unknown) | undefined;
    const handler: McpHandler = async (_request, exchange) => {
      late = () => exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 'late' } });
      return DONE;
    };
    const { send } = await serveNode(handler);
    const { text } = await send(message);
    expect(late?.()).toBeUndefined();
    expect(text).not.toContain('late');
  });
});
