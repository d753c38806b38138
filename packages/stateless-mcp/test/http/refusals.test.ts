import { describe, expect, it } from 'vitest';
import { type Authenticate, fetchHandler, type HttpOptions, type Refusal } from '../../src/http/index.ts';
import { McpError } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool, notification, request } from '../wire/messages.ts';
import { DONE, fetchRequest, recordingLogger, type RequestParts, requestHead, serveNode, within } from './harness.ts';

const message = request('tools/list');
const authenticate: Authenticate = ({ headers }) => {
  if (headers.get('authorization') !== null) return { principal: 'alice' };
  throw new McpError(401, 'Who are you?');
};
const withCredential = { authorization: 'Bearer x' };

interface Case {
  readonly what: string;
  readonly message?: unknown;
  readonly parts?: RequestParts;
  readonly options?: HttpOptions;
  readonly refusal: Partial<Refusal>;
}

const cases: readonly Case[] = [
  {
    what: 'a foreign origin',
    parts: { headers: { origin: 'https://evil.example' } },
    refusal: { status: 403, code: 403 },
  },
  { what: 'no credential', options: { authenticate }, refusal: { status: 401, code: 401 } },
  { what: 'GET', message: undefined, parts: { method: 'GET' }, refusal: { status: 405, code: -32600 } },
  {
    what: 'a wrong content type',
    parts: { headers: { 'content-type': 'text/plain' } },
    refusal: { status: 415, code: 415 },
  },
  { what: 'a large body', options: { maxBodyBytes: 10 }, refusal: { status: 413, code: 413 } },
  { what: 'no JSON', parts: { body: '{' }, refusal: { status: 400, code: -32700 } },
  {
    what: 'a batch',
    message: [message],
    parts: { headers: { 'mcp-method': 'x' } },
    refusal: { status: 400, code: -32600 },
  },
  {
    what: 'another method in the header',
    parts: { headers: { 'mcp-method': 'tools/call' } },
    refusal: { status: 400, code: -32020, method: 'tools/list' },
  },
  {
    what: 'another revision',
    message: request('tools/list', {}, { meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } }),
    refusal: { status: 400, code: -32022, method: 'tools/list' },
  },
  {
    what: 'a verified caller with a wrong header',
    options: { authenticate },
    parts: { headers: { 'mcp-method': 'tools/call', ...withCredential } },
    refusal: { status: 400, code: -32020, method: 'tools/list', principal: 'alice' },
  },
];

describe('onRefused', () => {
  it.each(cases)('is told once of $what', async ({ message: sent = message, parts, options, refusal }) => {
    const refusals: Refusal[] = [];
    const { send } = await serveNode(async () => DONE, { ...options, onRefused: (told) => refusals.push(told) });
    const { status, text } = await send(parts?.method === 'GET' ? undefined : sent, parts);
    expect(status).toBe(refusal.status);
    const { error } = JSON.parse(text) as { error: { code: number; message: string } };
    expect(refusals).toEqual([{ ...refusal, reason: error.message }]);
    expect(error.code).toBe(refusal.code);
  });

  it.each(cases)(
    'that throws does not break the answer to $what',
    async ({ message: sent = message, parts, options, refusal }) => {
      const logger = recordingLogger();
      const onRefused = (): never => {
        throw new Error('the log is full');
      };
      const { send } = await serveNode(async () => DONE, { ...options, logger, onRefused });
      const { status, text } = await within(send(parts?.method === 'GET' ? undefined : sent, parts), 2000);
      console.log('fault: onRefused threw');
      expect(status).toBe(refusal.status);
      expect(JSON.parse(text)).toMatchObject({ error: { code: refusal.code } });
      expect(logger.lines.map(({ level }) => level)).toContain('error');
    },
  );

  it('that throws does not break a Fetch answer either', async () => {
    const { fetch } = fetchHandler(async () => DONE, {
      logger: recordingLogger(),
      maxBodyBytes: 10,
      onRefused: () => {
        throw new Error('the log is full');
      },
    });
    expect((await fetch(fetchRequest(message))).status).toBe(413);
    expect((await fetch(new Request('http://localhost/mcp'))).status).toBe(405);
    console.log('fault: onRefused threw');
  });

  it('is told of a request that came while draining, and of none that was served', async () => {
    const refusals: Refusal[] = [];
    const { send, listener } = await serveNode(async () => DONE, { onRefused: (told) => refusals.push(told) });
    await send(message);
    await send(notification('notifications/initialized'));
    expect(refusals).toEqual([]);
    await listener.drain();
    await send(message);
    expect(refusals).toMatchObject([{ status: 503, code: 503 }]);
  });

  it('is told once of a body that grows over the limit in chunks', async () => {
    const refusals: Refusal[] = [];
    const { connect } = await serveNode(async () => DONE, {
      maxBodyBytes: 10,
      onRefused: (told) => refusals.push(told),
    });
    const client = await connect();
    await client.write(`${requestHead(message, 'chunked')}9\r\n123456789\r\n`);
    for (let turn = 0; turn < 10; turn++) await client.write('9\r\n123456789\r\n');
    expect((await client.response()).status).toBe(413);
    expect(refusals).toHaveLength(1);
  });
});

describe('the endpoint', () => {
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'HTTP-08: answers %s with 405 and Allow: POST',
    async (method) => {
      const { connect, send } = await serveNode(async () => DONE);
      const client = await connect();
      await client.write(`${method} /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
      await client.until(() => client.bytes.includes('\r\n\r\n'));
      const head = client.bytes.toString('latin1');
      expect(head).toMatch(/^HTTP\/1\.1 405[^]*\r\nAllow: POST\r\n/);
      expect((await send(message)).status).toBe(200);
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    null,
  ])('answers content type %s with 415', async (contentType) => {
    const { send } = await serveNode(async () => DONE);
    const { status, text } = await send(message, { headers: { 'content-type': contentType } });
    expect(status).toBe(415);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 415 } });
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="utf-8"',
  ])('takes content type %s', async (contentType) => {
    const { send } = await serveNode(async () => DONE);
    expect((await send(message, { headers: { 'content-type': contentType } })).status).toBe(200);
  });

  it('HTTP-05: answers notifications with 202 and nothing else', async () => {
    const { send } = await serveNode(async () => DONE);
    for (const method of ['notifications/initialized', 'notifications/cancelled', 'notifications/whatever']) {
      const { status, text, headers } = await send(notification(method));
      expect([status, text, headers.get('content-length') ?? '0']).toEqual([202, '', '0']);
    }
  });

  it('HTTP-09: never mints or repeats a session id', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('x', {}, () => 'x');
    const { send } = await serveNode(server);
    const session = { 'mcp-session-id': 'abc', 'last-event-id': '5' };
    for (const sent of [
      message,
      callTool('x'),
      request('server/discover'),
      request('unknown/method'),
      notification('n'),
    ]) {
      const { status, headers } = await send(sent, { headers: session });
      expect(headers.has('mcp-session-id')).toBe(false);
      expect(status).toBeLessThan(405);
    }
  });
});
