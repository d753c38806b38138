import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { connect } from 'stateless-mcp';
import { nodeFetch } from 'stateless-mcp/node';
import { startOfficialServer } from './peers/start-official-server.mjs';
import { withClient } from './peers/with-client.mjs';

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_PROTOCOL_VERSION = -32022;
const TEN_MEGABYTES = 10 * 1024 * 1024;

describe('our client and the official server: what only HTTP has', { timeout: 60_000 }, () => {
  const work = new EventEmitter();
  let server;

  before(async () => {
    server = await startOfficialServer((text) => work.emit(text));
  });

  after(async () => {
    await server?.stop();
  });

  /** Uses a client of a server of its own. */
  async function withOther(options, use) {
    const other = await startOfficialServer((text) => work.emit(text), options);
    try {
      await withClient(other.url, async (client) => use(client, other));
    } finally {
      await other.stop();
    }
  }

  it('repeats method, name and version in headers', async () => {
    await withClient(server.url, async (client) => {
      const sentBefore = server.requests.length;
      await client.callTool('add', { a: 1, b: 2 });
      await client.readResource('memo://first');
      await client.getPrompt('visit', { city: 'Rome' });
      await client.listTools();
      assert.deepEqual(
        server.requests.slice(sentBefore).map((headers) => [headers['mcp-method'], headers['mcp-name']]),
        [
          ['tools/call', 'add'],
          ['resources/read', 'memo://first'],
          ['prompts/get', 'visit'],
          ['tools/list', undefined],
        ],
      );
    });
    assert.ok(server.requests.every((headers) => headers['mcp-protocol-version'] === '2026-07-28'));
  });

  it('sends arguments as headers too, also those that a header cannot carry as they are', async () => {
    const encoded = (text) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
    await withClient(server.url, async (client) => {
      await client.listTools();
      for (const [region, header] of [
        ['eu-west', 'eu-west'],
        ['', ''],
        [' Zürich ', encoded(' Zürich ')],
        ['=?base64?eA==?=', encoded('=?base64?eA==?=')],
      ]) {
        const { content } = await client.callTool('route', { region });
        assert.deepEqual(content, [{ type: 'text', text: region }]);
        assert.equal(server.requests.at(-1)['mcp-param-region'], header);
      }
    });
  });

  it('learns the headers of a tool when the server misses them', async () => {
    let runs = 0;
    work.on('route north', () => {
      runs += 1;
    });
    await withClient(server.url, async (client) => {
      const sentBefore = server.requests.length;
      const { content } = await client.callTool('route', { region: 'north' });
      assert.deepEqual(content, [{ type: 'text', text: 'north' }]);
      assert.deepEqual(
        server.requests.slice(sentBefore).map((headers) => [headers['mcp-method'], headers['mcp-param-region']]),
        [
          ['tools/call', undefined],
          ['tools/list', undefined],
          ['tools/call', 'north'],
        ],
      );
    });
    assert.equal(runs, 1);
  });

  it('is refused with the wrong headers, and says so', async () => {
    // Nothing of ours sends such headers: somebody on the way changes them.
    for (const [name, value] of [
      ['mcp-method', 'tools/list'],
      ['mcp-protocol-version', '2099-01-01'],
    ]) {
      const realFetch = nodeFetch();
      const fetch = async (url, request) =>
        realFetch(url, { ...request, headers: { ...request.headers, [name]: value } });
      const refusal = { name: 'RemoteError', code: HEADER_MISMATCH, status: 400 };
      await assert.rejects(connect({ url: server.url, fetch }), refusal, name);
      realFetch.close();
    }
  });

  it('is told which revisions the server speaks when it is written to in another one', async () => {
    const realFetch = nodeFetch();
    const fetch = async (url, { headers, body, ...request }) =>
      realFetch(url, {
        ...request,
        headers: { ...headers, 'mcp-protocol-version': '2099-01-01' },
        body: body.replace('2026-07-28', '2099-01-01'),
      });
    const sentBefore = server.requests.length;
    await assert.rejects(connect({ url: server.url, fetch }), {
      name: 'RemoteError',
      code: UNSUPPORTED_PROTOCOL_VERSION,
      status: 400,
      data: { supported: ['2026-07-28'], requested: '2099-01-01' },
    });
    // Once more in the revision that the server names, and no more than that.
    assert.equal(server.requests.length, sentBefore + 2);
    realFetch.close();
  });

  it('carries 10 MB in both directions', async () => {
    await withClient({ url: server.url, maxResponseBytes: 2 * TEN_MEGABYTES }, async (client) => {
      const text = 'x'.repeat(TEN_MEGABYTES);
      const { content } = await client.callTool('mirror', { text, answer: TEN_MEGABYTES });
      assert.equal(content[0]?.text, String(TEN_MEGABYTES));
      assert.equal(content[1]?.text.length, TEN_MEGABYTES);
    });
  });

  it('refuses an answer over its limit, and goes on', async () => {
    await withClient({ url: server.url, maxResponseBytes: 100_000 }, async (client) => {
      const large = client.callTool('mirror', { text: '', answer: 200_000 });
      await assert.rejects(large, { name: 'LocalError', code: 'too_large', maybeExecuted: true });
      assert.equal((await client.callTool('mirror', { text: '', answer: 10 })).content[0]?.text, '0');
    });
  });

  it('says that a body was too large for the server', async () => {
    await withOther({ maxRequestBodySize: 10_000 }, async (client) => {
      const large = client.callTool('mirror', { text: 'x'.repeat(20_000), answer: 1 });
      await assert.rejects(large, { status: 413 });
    });
  });

  it('takes comments of a silent stream for signs of life', async () => {
    await withOther({ responseMode: 'sse', keepAliveMs: 50 }, async (client) => {
      const { content } = await client.callTool('count', { to: 0, silenceMs: 1200 }, { idleTimeoutMs: 400 });
      assert.deepEqual(content, [{ type: 'text', text: 'Counted to 0.' }]);
    });
  });

  it('says whether a call may have been carried out when the server goes away', async () => {
    await withOther({}, async (client, other) => {
      const started = once(work, 'wait started');
      const lost = { name: 'LocalError', code: 'closed', maybeExecuted: true };
      const call = assert.rejects(client.callTool('wait'), lost);
      await started;
      await other.stop();
      await call;
      const unreached = { name: 'LocalError', code: 'unreachable', phase: 'connect', maybeExecuted: false };
      await assert.rejects(client.callTool('fail'), unreached);
    });
  });
});
