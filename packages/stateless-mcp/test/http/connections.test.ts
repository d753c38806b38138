import { describe, expect, it, onTestFinished } from 'vitest';
import { serveHttp } from '../../src/node/index.ts';
import type { McpHandler } from '../../src/protocol/index.ts';
import { callTool, request } from '../wire/messages.ts';
import { connectTo, DONE, requestText, sendTo, serveNode, silentLogger, sleep } from './harness.ts';

const message = request('tools/list');

/** Answers after as many milliseconds as the request says. */
const delayed: McpHandler = async ({ params }) => {
  await sleep(Number(params.delayMs ?? 0));
  return { ...DONE, delayMs: params.delayMs ?? 0 };
};

async function loopbackPort(handler: McpHandler = async () => DONE): Promise<number> {
  const server = await serveHttp(handler, { port: 0, logger: silentLogger });
  onTestFinished(() => void server.close());
  return server.port;
}

describe('one connection', () => {
  it('carries requests that are sent without waiting, answered in their order', async () => {
    const { connect } = await serveNode(delayed);
    const client = await connect();
    const delays = [120, 0, 60, 0, 0];
    const texts = delays.map((delayMs, index) => requestText(request('tools/list', { delayMs }, { id: `r${index}` })));
    void client.write(texts.join(''));
    for (const [index, delayMs] of delays.entries()) {
      expect(JSON.parse((await client.response()).text)).toMatchObject({ id: `r${index}`, result: { delayMs } });
    }
  });

  it('gives an answer its time that waits behind a slow one', async () => {
    const { connect } = await serveNode(delayed, { readerTimeoutMs: 100 });
    const client = await connect();
    const first = requestText(request('tools/list', { delayMs: 500 }, { id: 'slow' }));
    void client.write(first + requestText(request('tools/list', {}, { id: 'quick' })));
    console.log('fault: an answer waits for 500 ms behind another, its reader has 100 ms');
    expect(JSON.parse((await client.response()).text)).toMatchObject({ id: 'slow' });
    expect(JSON.parse((await client.response()).text)).toMatchObject({ id: 'quick' });
  });

  it('with the same id in flight several times answers each', async () => {
    const { connect } = await serveNode(delayed);
    const clients = await Promise.all([connect(), connect(), connect()]);
    for (const [index, client] of clients.entries()) {
      void client.write(requestText(request('tools/list', { delayMs: 30 + index }, { id: 1 })));
    }
    for (const [index, client] of clients.entries()) {
      const { text } = await client.response();
      expect(JSON.parse(text)).toMatchObject({ id: 1, result: { delayMs: 30 + index } });
    }
  });

  it('is used again after every kind of error', async () => {
    const { connect } = await serveNode(delayed, {
      maxBodyBytes: 1000,
      authenticate: ({ headers }) => (headers.get('x-bad') === null ? undefined : Promise.reject(new Error('down'))),
    });
    const client = await connect();
    const large = JSON.stringify({ ...message, pad: 'x'.repeat(2000) });
    const turns: readonly (readonly [text: string, status: number])[] = [
      [requestText(message, { body: '{' }), 400],
      [requestText(message, { headers: { 'mcp-method': 'x' } }), 400],
      [requestText(message, { headers: { 'x-bad': '1' } }), 503],
      [requestText(message, { headers: { origin: 'https://evil.example' } }), 403],
      [requestText(message, { method: 'PUT' }), 405],
      [requestText(message, { body: large }), 413],
      [requestText(message, { headers: { 'content-type': 'text/plain' } }), 415],
      [requestText(message, { headers: { 'content-type': 'text/plain' }, body: large }), 415],
    ];
    for (const [text, status] of turns) {
      await client.write(text);
      expect((await client.response()).status).toBe(status);
      await client.write(requestText(message));
      expect((await client.response()).status).toBe(200);
    }
    // What lingers after a refusal must not end the connection of later requests.
    await sleep(2200);
    await client.write(requestText(message));
    expect((await client.response()).status).toBe(200);
  });

  it('is used again after a wrong path', async () => {
    const client = await connectTo(await loopbackPort());
    await client.write(requestText(message, { target: '/other', body: 'x'.repeat(100_000) }));
    expect((await client.response()).status).toBe(404);
    await client.write(requestText(message));
    expect((await client.response()).status).toBe(200);
  });

  it('serves a request behind an event stream', async () => {
    const { connect } = await serveNode(async (_request, exchange) => {
      await exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 1 } });
      return DONE;
    });
    const client = await connect();
    void client.write(requestText(message) + requestText(message));
    expect((await client.response()).headers.get('content-type')).toBe('text/event-stream');
    expect((await client.response()).headers.get('content-type')).toBe('text/event-stream');
  });
});

describe('headers', () => {
  it.each([
    ['mcp-method', 'tools/list'],
    ['mcp-protocol-version', '2026-07-28'],
    ['Mcp-Method', 'tools/call'],
  ])('HDR: %s twice is no value that the body agrees with', async (name, value) => {
    const { send } = await serveNode(async () => DONE);
    const { status, text } = await send(message, { extraLines: [[name, value]] });
    console.log('fault: a header line was sent twice');
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ id: message.id, error: { code: -32020 } });
  });

  it.each([
    ['raw UTF-8', Buffer.from('日本').toString('latin1')],
    ['Latin-1', 'caf\u00e9'],
    ['an encoding that is none', '=?base64?###?='],
  ])('a name in %s is a mismatch, not a crash', async (_kind, name) => {
    const { connect, send } = await serveNode(async () => DONE);
    const client = await connect();
    const text = requestText(callTool('caf\u00e9'), { headers: { 'mcp-name': name } });
    const split = text.indexOf('\r\n\r\n');
    await client.write(Buffer.concat([Buffer.from(text.slice(0, split), 'latin1'), Buffer.from(text.slice(split))]));
    const response = await client.response();
    expect(response.status).toBe(400);
    expect(JSON.parse(response.text)).toMatchObject({ error: { code: -32020 } });
    expect((await send(message)).status).toBe(200);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is a header like others', async (name) => {
    const { send } = await serveNode(async (_request, { http }) => ({
      ...DONE,
      value: http?.headers.get(name) ?? null,
    }));
    expect(JSON.parse((await send(message)).text)).toMatchObject({ result: { value: null } });
    const { status } = await send(message, { extraLines: [[name, 'polluted']] });
    expect(status).toBe(200);
  });

  it('that are too many or broken are refused without harm', async () => {
    const { connect, send } = await serveNode(async () => DONE);
    for (const bytes of [
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nbroken header\r\n\r\n',
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nx: a\0b\r\n\r\n',
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      'not http at all\r\n\r\n',
      'POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n',
    ]) {
      const client = await connect();
      await client.write(bytes);
      await client.until(() => client.bytes.length > 0, 2000);
      expect(client.bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 4\d\d /);
      client.socket.destroy();
    }
    console.log('fault: six kinds of broken heads were sent');
    expect((await send(message)).status).toBe(200);
  });
});

describe('the request target', () => {
  it.each(['/mcp', '/mcp?', '/mcp?a=1&b=/x', '/mcp?/other', '/mcp?https://evil.example'])(
    '%s is the endpoint',
    async (target) => {
      expect((await sendTo(await loopbackPort(), message, { target })).status).toBe(200);
    },
  );

  it.each(['/', '/mcp/', '/mcpx', '/MCP', '//mcp', '/other?/mcp', '/mcp%20', '*'])('%s is not', async (target) => {
    const { status, text } = await sendTo(await loopbackPort(), message, { target });
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32601 } });
  });

  // RFC 9112, section 3.2.2: a server must accept it, and its authority takes the place of Host.
  it('in absolute form is the endpoint of that URL', async () => {
    const port = await loopbackPort();
    const { status } = await sendTo(port, message, { target: `http://127.0.0.1:${port}/mcp` });
    expect(status).toBe(200);
  });

  it('in absolute form does not get around the check of the host', async () => {
    const { status } = await sendTo(await loopbackPort(), message, { target: 'http://evil.example/mcp' });
    expect([403, 404]).toContain(status);
  });
});

describe('HTTP/1.0', () => {
  it('gets a JSON answer, and the connection closed', async () => {
    const { connect } = await serveNode(async () => DONE);
    const client = await connect();
    await client.write(requestText(message, { httpVersion: '1.0' }));
    const { status, text } = await client.response();
    expect([status, JSON.parse(text)]).toMatchObject([200, { result: DONE }]);
    await client.ended;
  });

  it('gets an event stream without chunks, ended by closing', async () => {
    const { connect } = await serveNode(async (_request, exchange) => {
      await exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 1 } });
      return DONE;
    });
    const client = await connect();
    await client.write(requestText(message, { httpVersion: '1.0' }));
    await client.ended;
    const { headers, text } = await client.response();
    expect(headers.get('transfer-encoding')).toBeUndefined();
    expect(text.match(/^data: /gm)).toHaveLength(2);
  });
});
