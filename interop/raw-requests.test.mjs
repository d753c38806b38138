import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { createInterface } from 'node:readline';
import { serveHttp } from 'stateless-mcp';
import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY } from 'stateless-mcp/protocol';
import { ourCommand } from './peers/our-command.mjs';
import { createOurServer } from './peers/our-server.mjs';

// What neither client can be made to send: requests that are wrong.

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_PROTOCOL_VERSION = -32022;

function request(id, method, params = {}, version = '2026-07-28') {
  const _meta = { [PROTOCOL_VERSION_META_KEY]: version, [CLIENT_CAPABILITIES_META_KEY]: {} };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

describe('wrong requests to our server over HTTP', { timeout: 30_000 }, () => {
  const call = request(1, 'tools/call', { name: 'route', arguments: { region: 'eu' } });
  const right = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'route',
    'mcp-param-region': 'eu',
  };
  let http;

  before(async () => {
    http = await serveHttp(
      createOurServer(() => {}),
      { port: 0 },
    );
  });

  after(async () => {
    await http?.close();
  });

  /** @param headers over the right ones; `undefined` leaves one out */
  async function post(headers, message = call) {
    const given = Object.entries({ ...right, ...headers }).filter(([, value]) => value !== undefined);
    const response = await fetch(http.url, { method: 'POST', headers: given, body: JSON.stringify(message) });
    return { status: response.status, message: await response.json() };
  }

  it('answers the right one', async () => {
    const { status, message } = await post({});
    assert.equal(status, 200);
    assert.deepEqual(message.result.structuredContent, { region: 'eu' });
  });

  it('refuses headers that are missing or say something else than the body', async () => {
    for (const headers of [
      { 'mcp-protocol-version': undefined },
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-method': undefined },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': 'TOOLS/CALL' },
      { 'mcp-name': undefined },
      { 'mcp-name': 'mirror' },
      { 'mcp-param-region': undefined },
      { 'mcp-param-region': 'us' },
    ]) {
      const { status, message } = await post(headers);
      assert.equal(status, 400, JSON.stringify(headers));
      assert.equal(message.error.code, HEADER_MISMATCH, JSON.stringify(headers));
      assert.equal(message.id, 1);
    }
  });

  it('refuses another revision and names those that are served', async () => {
    const later = request(2, 'tools/list', {}, '2099-01-01');
    const { status, message } = await post({ 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' }, later);
    assert.equal(status, 400);
    assert.equal(message.error.code, UNSUPPORTED_PROTOCOL_VERSION);
    assert.deepEqual(message.error.data, { supported: ['2026-07-28'], requested: '2099-01-01' });
  });
});

describe('wrong requests to our server over stdio', { timeout: 30_000 }, () => {
  let child;
  let lines;

  before(() => {
    child = spawn(ourCommand.command, ourCommand.args, { stdio: ['pipe', 'pipe', 'ignore'] });
    lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  });

  after(() => {
    child?.kill('SIGKILL');
  });

  async function answerTo(text) {
    child.stdin.write(`${text}\n`);
    const { value } = await lines.next();
    return JSON.parse(value);
  }

  it('answers what cannot be read with errors, and goes on', async () => {
    assert.equal((await answerTo('{"jsonrpc": "2.0", "id": ')).error.code, PARSE_ERROR);
    assert.equal((await answerTo('[]')).error.code, INVALID_REQUEST);
    assert.equal((await answerTo('{"jsonrpc":"2.0","id":3,"method":7}')).error.code, INVALID_REQUEST);
    const withoutMeta = await answerTo('{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{}}');
    assert.equal(withoutMeta.id, 4);
    assert.equal(withoutMeta.error.code, INVALID_PARAMS);
    const unknown = await answerTo(JSON.stringify(request(5, 'com.example/none')));
    assert.equal(unknown.error.code, METHOD_NOT_FOUND);
    // Empty lines and notifications are not answered: the next answer is that of the request.
    const blank = '\n\r\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n';
    const { id, result } = await answerTo(blank + JSON.stringify(request('six', 'tools/list')));
    assert.equal(id, 'six');
    assert.ok(result.tools.length > 0);
  });

  it('refuses another revision and names those that are served', async () => {
    const { error } = await answerTo(JSON.stringify(request(7, 'tools/list', {}, '2025-11-25')));
    assert.equal(error.code, UNSUPPORTED_PROTOCOL_VERSION);
    assert.deepEqual(error.data, { supported: ['2026-07-28'], requested: '2025-11-25' });
  });

  it('ends in good order when its input ends', async () => {
    const ended = once(child, 'exit');
    child.stdin.end();
    assert.deepEqual(await ended, [0, null]);
  });
});
