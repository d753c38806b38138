import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import {
  LOG_LEVEL_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolErrorCode,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import { serveHttp } from 'stateless-mcp';
import { connectOverHttp, connectOverStdio } from './peers/official-client.mjs';
import { ourCommand } from './peers/our-command.mjs';
import { createOurServer } from './peers/our-server.mjs';
import { PIXEL_PNG } from './peers/pixel.mjs';

/** Each opens a server of ours and connects the official client to it. `work` emits what the server reports. */
const TRANSPORTS = [
  {
    name: 'HTTP',
    async open(options) {
      const work = new EventEmitter();
      const http = await serveHttp(
        createOurServer((text) => work.emit(text)),
        { port: 0 },
      );
      const connection = await connectOverHttp(http.url, options);
      const close = async () => {
        await connection.client.close();
        await http.close();
      };
      return { ...connection, work, close };
    },
  },
  {
    name: 'stdio',
    async open(options) {
      const { stderr, ...connection } = await connectOverStdio(ourCommand, options);
      return { ...connection, work: stderr, close: async () => connection.client.close() };
    },
  },
];

for (const transport of TRANSPORTS) {
  describe(`the official client and our server over ${transport.name}`, { timeout: 60_000 }, () => {
    let connection;
    /** @type {import('@modelcontextprotocol/client').Client} */
    let client;
    let work;

    before(async () => {
      connection = await transport.open();
      ({ client, work } = connection);
      await client.listTools();
    });

    after(async () => {
      await connection?.close();
      assert.deepEqual(connection?.errors, []);
    });

    it('gets every kind of content as it is', async () => {
      const { content } = await client.callTool({ name: 'picture' });
      assert.deepEqual(content, [
        { type: 'image', data: PIXEL_PNG, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'memo://inside', mimeType: 'text/plain', text: 'inside' } },
        { type: 'resource_link', uri: 'memo://pixel', name: 'pixel' },
      ]);
    });

    it('reads bytes and what a template makes', async () => {
      const pixel = await client.readResource({ uri: 'memo://pixel' });
      assert.deepEqual(pixel.contents, [{ uri: 'memo://pixel', mimeType: 'image/png', blob: PIXEL_PNG }]);
      const uri = 'weather://Rome/today';
      const weather = await client.readResource({ uri });
      assert.deepEqual(weather.contents, [{ uri, text: 'Sunny in Rome on today' }]);
    });

    it('gets the error of a method that does not exist', async () => {
      const other = await transport.open();
      const anyResult = { '~standard': { version: 1, vendor: 'interop', validate: (value) => ({ value }) } };
      const error = await other.client.request({ method: 'com.example/none' }, anyResult).catch((reason) => reason);
      // Over HTTP the official client does not look for the error in the answer, whose status has to be 404.
      const code =
        error.code === SdkErrorCode.ClientHttpNotImplemented ? JSON.parse(error.data.text).error.code : error.code;
      assert.equal(code, ProtocolErrorCode.MethodNotFound);
      await other.close();
    });

    it('cancels: the work stops on the server', async () => {
      const controller = new AbortController();
      const started = once(work, 'wait started');
      const stopped = once(work, 'wait stopped');
      const call = assert.rejects(client.callTool({ name: 'wait' }, { signal: controller.signal }), /enough/);
      await started;
      controller.abort(new Error('enough'));
      await call;
      await stopped;
    });

    it('gives up after its timeout: the work stops on the server', async () => {
      const stopped = once(work, 'wait stopped');
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

    it('is told which capability it lacks', async () => {
      const error = await client.callTool({ name: 'ask' }).catch((reason) => reason);
      assert.ok(error instanceof MissingRequiredClientCapabilityError, String(error));
      assert.deepEqual(error.requiredCapabilities, { sampling: {} });
      const able = await transport.open({ capabilities: { sampling: {} } });
      assert.deepEqual((await able.client.callTool({ name: 'ask' })).content, [{ type: 'text', text: 'Asked.' }]);
      await able.close();
    });

    it('learns that a tool failed, and nothing of why', async () => {
      const result = await client.callTool({ name: 'fail' });
      assert.equal(result.isError, true);
      assert.doesNotMatch(JSON.stringify(result), /swordfish/);
    });

    it('sends 200 requests at once and gets each its own answer', async () => {
      const regions = Array.from({ length: 200 }, (_, index) => `region-${index}`);
      const results = await Promise.all(
        regions.map(async (region) => client.callTool({ name: 'route', arguments: { region } })),
      );
      assert.deepEqual(
        results.map(({ structuredContent }) => structuredContent),
        regions.map((region) => ({ region })),
      );
    });

    it('listens: what was asked for changes, and nothing else is heard of', async () => {
      const uri = 'memo://pixel';
      const filter = { toolsListChanged: true, resourceSubscriptions: [uri] };
      const subscription = await client.listen({ ...filter, promptsListChanged: true });
      assert.deepEqual(subscription.honoredFilter, filter);

      const grown = once(connection.notifications, 'notifications/tools/list_changed');
      await client.callTool({ name: 'grow' });
      await grown;
      assert.ok((await client.listTools()).tools.some(({ name }) => name === 'late'));

      const updated = once(connection.notifications, 'notifications/resources/updated');
      await client.callTool({ name: 'touch', arguments: { uri: 'weather://Rome/today' } });
      await client.callTool({ name: 'touch', arguments: { uri } });
      assert.equal((await updated)[0].uri, uri);

      await subscription.close();
      assert.equal(await subscription.closed, 'local');
    });
  });
}

describe('the official client and our server: what only HTTP has', { timeout: 60_000 }, () => {
  const limit = 32 * 1024 * 1024;
  const TEN_MEGABYTES = 10 * 1024 * 1024;
  let http;
  let connection;

  before(async () => {
    http = await serveHttp(
      createOurServer(() => {}),
      { port: 0, maxBodyBytes: limit, maxResponseBytes: limit },
    );
    connection = await connectOverHttp(http.url);
  });

  after(async () => {
    await connection?.client.close();
    await http?.close();
  });

  it('sends arguments as headers too, also those that a header cannot carry as they are', async () => {
    const { client, headers } = connection;
    await client.listTools();
    for (const region of ['eu-west', ' Zürich ', '=?base64?eA==?=']) {
      const { structuredContent } = await client.callTool({ name: 'route', arguments: { region, copies: 2 } });
      assert.deepEqual(structuredContent, { region: region + region });
      assert.ok(headers.at(-1).has('mcp-param-region'));
    }
  });

  it('carries 10 MB in both directions', async () => {
    const args = { text: 'x'.repeat(TEN_MEGABYTES), answer: TEN_MEGABYTES };
    const { content } = await connection.client.callTool({ name: 'mirror', arguments: args });
    assert.equal(content[0].text, String(TEN_MEGABYTES));
    assert.equal(content[1].text.length, TEN_MEGABYTES);
  });
});

describe('the official client and our server: what only stdio has', { timeout: 120_000 }, () => {
  const MEGABYTE = 1024 * 1024;

  it('sends a line of 50 MB, and gets one of 4 MB', async () => {
    // The official client puts the pieces of a line together anew for each one, which takes minutes for 50 MB.
    const { client } = await connectOverStdio({ ...ourCommand, maxBufferSize: 64 * MEGABYTE });
    const args = { text: 'x'.repeat(50 * MEGABYTE), answer: 4 * MEGABYTE };
    const { content } = await client.callTool({ name: 'mirror', arguments: args });
    assert.equal(content[0].text, String(50 * MEGABYTE));
    assert.equal(content[1].text.length, 4 * MEGABYTE);
    await client.close();
  });

  it('is not disturbed by what modules and tools print', async () => {
    const { client, stderr, errors } = await connectOverStdio(ourCommand);
    const printed = once(stderr, 'wait started');
    await assert.rejects(client.callTool({ name: 'wait' }, { timeout: 500 }), { code: SdkErrorCode.RequestTimeout });
    await printed;
    assert.equal((await client.callTool({ name: 'log' })).content[0].text, 'Logged.');
    assert.deepEqual(errors, []);
    await client.close();
  });

  it('ends the server by closing', async () => {
    const { client, pid } = await connectOverStdio(ourCommand);
    process.kill(pid, 0);
    await client.close();
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });
});
