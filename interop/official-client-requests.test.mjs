import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { LOG_LEVEL_META_KEY, MissingRequiredClientCapabilityError, SdkErrorCode } from '@modelcontextprotocol/client';
import { McpServer, serveHttp } from 'stateless-mcp';
import { z } from 'zod';
import { connectOfficialClient } from './connect-official-client.mjs';

/** Emits `started` and `stopped` when handlers do. */
const work = new EventEmitter();

/** What can only be seen from inside the server, or is not in the example. */
function createServer() {
  const server = new McpServer(
    { name: 'requests', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } }, logger: { debug() {}, info() {}, warn() {}, error() {} } },
  );
  server.registerTool('wait', { description: 'Works until nobody wants it any more' }, async (_input, { signal }) => {
    work.emit('started');
    if (!signal.aborted) await once(signal, 'abort');
    work.emit('stopped');
    return 'Nobody reads this.';
  });
  server.registerTool('log', { description: 'Logs on three levels' }, async (_input, { log }) => {
    await log('debug', 'small');
    await log('info', { size: 'medium' });
    await log('error', 'large', 'sizes');
    return 'Logged.';
  });
  server.registerTool('ask', { description: 'Needs sampling', requires: { sampling: {} } }, () => 'Asked.');
  server.registerTool('fail', { description: 'Fails for a reason that is nobody’s business' }, () => {
    throw new Error('the password is swordfish');
  });
  server.registerTool(
    'route',
    {
      description: 'Tells the region',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }), copies: z.int().default(1) }),
      outputSchema: z.object({ region: z.string() }),
    },
    ({ region, copies }) => ({ region: region.repeat(copies) }),
  );
  return server;
}

describe('the official client and what a request can do', { timeout: 60_000 }, () => {
  const server = createServer();
  let http;
  let connection;
  /** @type {import('@modelcontextprotocol/client').Client} */
  let client;

  before(async () => {
    http = await serveHttp(server, { port: 0 });
    connection = await connectOfficialClient(http.url);
    client = connection.client;
    await client.listTools();
  });

  after(async () => {
    await client?.close();
    await http?.close();
  });

  it('cancels: the work stops on the server', async () => {
    const controller = new AbortController();
    const started = once(work, 'started');
    const stopped = once(work, 'stopped');
    const call = assert.rejects(client.callTool({ name: 'wait' }, { signal: controller.signal }), /enough/);
    await started;
    controller.abort(new Error('enough'));
    await call;
    await stopped;
  });

  it('gives up after its timeout: the work stops on the server', async () => {
    const stopped = once(work, 'stopped');
    await assert.rejects(client.callTool({ name: 'wait' }, { timeout: 200 }), { code: SdkErrorCode.RequestTimeout });
    await stopped;
  });

  it('gets the log messages of the level that it asks for, and none unasked', async () => {
    const messages = [];
    const keep = (message) => messages.push(message);
    connection.notifications.on('notifications/message', keep);
    await client.callTool({ name: 'log' });
    assert.deepEqual(messages, []);
    await client.callTool({ name: 'log', _meta: { [LOG_LEVEL_META_KEY]: 'info' } });
    connection.notifications.off('notifications/message', keep);
    assert.deepEqual(messages, [
      { level: 'info', data: { size: 'medium' } },
      { level: 'error', data: 'large', logger: 'sizes' },
    ]);
  });

  it('sends arguments as headers too, also those that a header cannot carry as they are', async () => {
    for (const region of ['eu-west', ' Zürich ', '=?base64?eA==?=']) {
      const { structuredContent } = await client.callTool({ name: 'route', arguments: { region, copies: 2 } });
      assert.deepEqual(structuredContent, { region: region + region });
      assert.ok(connection.requests.at(-1).has('mcp-param-region'));
    }
  });

  it('is told which capability it lacks', async () => {
    const error = await client.callTool({ name: 'ask' }).catch((reason) => reason);
    assert.ok(error instanceof MissingRequiredClientCapabilityError, String(error));
    assert.deepEqual(error.requiredCapabilities, { sampling: {} });
    const able = await connectOfficialClient(http.url, { capabilities: { sampling: {} } });
    assert.deepEqual((await able.client.callTool({ name: 'ask' })).content, [{ type: 'text', text: 'Asked.' }]);
    await able.client.close();
  });

  it('learns that a tool failed, and nothing of why', async () => {
    const result = await client.callTool({ name: 'fail' });
    assert.equal(result.isError, true);
    assert.doesNotMatch(JSON.stringify(result), /swordfish/);
  });

  it('sends many requests at once', async () => {
    const regions = Array.from({ length: 50 }, (_, index) => `region-${index}`);
    const results = await Promise.all(
      regions.map(async (region) => client.callTool({ name: 'route', arguments: { region } })),
    );
    assert.deepEqual(
      results.map(({ structuredContent }) => structuredContent),
      regions.map((region) => ({ region })),
    );
  });

  it('hears that the list of tools has changed', async () => {
    const subscription = await client.listen({ toolsListChanged: true, promptsListChanged: true });
    assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true });
    const changed = once(connection.notifications, 'notifications/tools/list_changed');
    server.registerTool('late', { description: 'Came later' }, () => 'Here.');
    await changed;
    assert.ok((await client.listTools()).tools.some(({ name }) => name === 'late'));
    await subscription.close();
  });
});
