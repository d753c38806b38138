import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { LocalError, RemoteError } from 'stateless-mcp';
import { defineMethod } from 'stateless-mcp/protocol';
import { TRANSPORTS } from './peers/open-official-server.mjs';
import { PIXEL_PNG } from './peers/pixel.mjs';

const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;

for (const transport of TRANSPORTS) {
  describe(`our client and the official server over ${transport.name}`, { timeout: 60_000 }, () => {
    /** @type {import('./peers/open-official-server.mjs').Connection} */
    let connection;
    /** @type {import('stateless-mcp').McpClient} */
    let client;
    /** @type {EventEmitter} */
    let work;

    /** A server of which nothing is asked keeps nobody awake, and some tests wait for what it says all the same. */
    let waiting;

    /** What our client has to complain about. */
    const complaints = [];
    const keep = (message) => complaints.push(message);

    before(async () => {
      waiting = setInterval(() => {}, 1000);
      const logger = { debug() {}, info() {}, warn: keep, error: keep };
      connection = await transport.open({ outputCheck: 'strict', logger });
      ({ client, work } = connection);
    });

    after(async () => {
      await connection?.close();
      clearInterval(waiting);
      assert.deepEqual(complaints, []);
    });

    it('discovers revision, identity, capabilities and instructions', async () => {
      const { supportedVersions, capabilities, instructions } = await client.discover();
      assert.deepEqual(supportedVersions, ['2026-07-28']);
      assert.deepEqual(capabilities.resources, { listChanged: true, subscribe: true });
      assert.ok(capabilities.tools && capabilities.prompts && capabilities.completions);
      assert.equal(instructions, 'Everything is here for a test.');
      const { revision, server } = client.explain();
      assert.equal(revision, '2026-07-28');
      assert.deepEqual(server?.info, { name: 'official-server', title: 'The official one', version: '2.4.0' });
    });

    it('lists tools with their schemas and hints', async () => {
      const { tools } = await client.listTools();
      const add = tools.find(({ name }) => name === 'add');
      assert.equal(add?.title, 'Sum');
      assert.deepEqual(add.inputSchema.required, ['a', 'b']);
      assert.deepEqual(add.outputSchema?.required, ['sum']);
      assert.deepEqual(add.annotations, { readOnlyHint: true });
    });

    it('lists resources, templates and prompts', async () => {
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map(({ uri, mimeType }) => [uri, mimeType]),
        [
          ['memo://first', 'text/plain'],
          ['memo://pixel', 'image/png'],
        ],
      );
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ['weather://{city}/{day}'],
      );
      const { prompts } = await client.listPrompts();
      assert.deepEqual(prompts[0]?.arguments, [{ name: 'city', description: 'Where to', required: true }]);
    });

    it('keeps what the server says may be kept, and nothing else', async () => {
      await client.listPrompts();
      const { requests } = client.explain();
      await client.listPrompts();
      assert.equal(client.explain().requests, requests);
      await client.listResources();
      await client.listResources();
      assert.equal(client.explain().requests, requests + 2);
    });

    it('calls a tool and checks its structured output', async () => {
      await client.listTools();
      const { content, structuredContent } = await client.callTool('add', { a: 2, b: 3 });
      assert.deepEqual(structuredContent, { sum: 5 });
      assert.deepEqual(content, [{ type: 'text', text: '5' }]);
    });

    it('gets every kind of content as it is', async () => {
      const { content } = await client.callTool('picture');
      assert.deepEqual(content, [
        { type: 'image', data: PIXEL_PNG, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'memo://inside', mimeType: 'text/plain', text: 'inside' } },
        { type: 'resource_link', uri: 'memo://first', name: 'first' },
      ]);
    });

    it('gets failures of a tool as results', async () => {
      assert.equal((await client.callTool('fail')).isError, true);
      const invalid = await client.callTool('add', { a: 'two' });
      assert.equal(invalid.isError, true);
      assert.match(invalid.content[0].text, /expected number/);
    });

    it('gets an error for what does not exist', async () => {
      const isRemote = (code) => (error) => error instanceof RemoteError && error.code === code;
      await assert.rejects(client.callTool('none'), isRemote(INVALID_PARAMS));
      await assert.rejects(client.getPrompt('none'), isRemote(INVALID_PARAMS));
      await assert.rejects(client.getPrompt('visit'), isRemote(INVALID_PARAMS));
      const uri = 'memo://none';
      await assert.rejects(client.readResource(uri), { name: 'RemoteError', code: INVALID_PARAMS, data: { uri } });
      const unknown = defineMethod({ name: 'com.example/none' });
      await assert.rejects(client.request(unknown, {}), isRemote(METHOD_NOT_FOUND));
    });

    it('reads text, bytes and what a template makes', async () => {
      const contentsOf = async (uri) => (await client.readResource(uri)).contents;
      assert.deepEqual(await contentsOf('memo://first'), [
        { uri: 'memo://first', mimeType: 'text/plain', text: 'The first memo' },
      ]);
      assert.deepEqual(await contentsOf('memo://pixel'), [
        { uri: 'memo://pixel', mimeType: 'image/png', blob: PIXEL_PNG },
      ]);
      const uri = 'weather://Rome/today';
      assert.deepEqual(await contentsOf(uri), [{ uri, text: 'Sunny in Rome on today' }]);
    });

    it('gets a prompt', async () => {
      const { messages } = await client.getPrompt('visit', { city: 'Rome' });
      assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Show me Rome' } }]);
    });

    it('completes arguments and template variables', async () => {
      for (const ref of [
        { type: 'ref/prompt', name: 'visit' },
        { type: 'ref/resource', uri: 'weather://{city}/{day}' },
      ]) {
        const { completion } = await client.complete({ ref, argument: { name: 'city', value: 'Par' } });
        assert.deepEqual(completion.values, ['Paris', 'Parma']);
      }
    });

    it('hears of progress, in order and before the result', async () => {
      const heard = [];
      const result = await client.callTool('count', { to: 3 }, { onProgress: (progress) => heard.push(progress) });
      assert.deepEqual(result.content, [{ type: 'text', text: 'Counted to 3.' }]);
      assert.deepEqual(
        heard,
        [1, 2, 3].map((progress) => ({ progress, total: 3, message: `number ${progress}` })),
      );
    });

    it('gets the log messages of the level that it asks for, and none unasked', async () => {
      const messages = [];
      const onLog = (message) => messages.push(message);
      await client.callTool('log', {}, { onLog });
      assert.deepEqual(messages, []);
      await client.callTool('log', {}, { onLog, logLevel: 'info' });
      assert.deepEqual(messages, [
        { level: 'info', data: { size: 'medium' } },
        { level: 'error', data: 'large', logger: 'sizes' },
      ]);
    });

    it('cancels: the work stops on the server', async () => {
      const controller = new AbortController();
      const started = once(work, 'wait started');
      const stopped = once(work, 'wait stopped');
      const call = client.callTool('wait', {}, { signal: controller.signal });
      const given = assert.rejects(call, { name: 'LocalError', code: 'aborted', maybeExecuted: true });
      await started;
      controller.abort(new Error('enough'));
      await given;
      await stopped;
    });

    it('gives up after its limits of time: the work stops on the server', async () => {
      for (const [timer, limit] of [
        ['idle', { idleTimeoutMs: 200 }],
        ['total', { totalTimeoutMs: 200 }],
      ]) {
        const stopped = once(work, 'wait stopped');
        await assert.rejects(client.callTool('wait', {}, limit), { name: 'LocalError', code: 'timeout', timer });
        await stopped;
      }
    });

    it('waits longer while there is progress', async () => {
      const result = await client.callTool('count', { to: 8, pauseMs: 100 }, { idleTimeoutMs: 500 });
      assert.deepEqual(result.content, [{ type: 'text', text: 'Counted to 8.' }]);
      const silent = client.callTool('count', { to: 1, silenceMs: 5000 }, { idleTimeoutMs: 500 });
      await assert.rejects(silent, (error) => {
        assert.ok(error instanceof LocalError);
        assert.equal(error.timer, 'idle');
        assert.equal(error.lastProgress?.message, 'number 1');
        return true;
      });
    });

    it('listens: what was asked for changes, and nothing else is heard of', async () => {
      const changes = new EventEmitter();
      const heard = [];
      const subscription = await client.listen(
        { toolsListChanged: true, resourceSubscriptions: ['memo://first'] },
        {
          onChange: ({ method, params }) => {
            heard.push(method);
            changes.emit(method, params);
          },
        },
      );
      assert.deepEqual(subscription.honored, {
        toolsListChanged: true,
        resourceSubscriptions: ['memo://first'],
      });

      const grown = once(changes, 'notifications/tools/list_changed');
      await client.callTool('grow');
      await grown;
      assert.ok((await client.listTools()).tools.some(({ name }) => name === 'late'));
      assert.deepEqual((await client.callTool('late')).content, [{ type: 'text', text: 'Here.' }]);

      const updated = once(changes, 'notifications/resources/updated');
      await client.callTool('touch', { uri: 'memo://pixel' });
      await client.callTool('touch', { uri: 'memo://first' });
      assert.deepEqual(await updated, [{ uri: 'memo://first' }]);

      await subscription.close();
      await subscription.closed;
      await client.callTool('touch', { uri: 'memo://first' });
      assert.deepEqual(heard, ['notifications/tools/list_changed', 'notifications/resources/updated']);
    });

    it('sends 200 requests at once and gets each its own answer', async () => {
      const numbers = Array.from({ length: 200 }, (_, index) => index);
      const results = await Promise.all(numbers.map(async (a) => client.callTool('add', { a, b: 1000 })));
      assert.deepEqual(
        results.map(({ structuredContent }) => structuredContent),
        numbers.map((a) => ({ sum: a + 1000 })),
      );
    });

    it('ends what is under way when it is closed', async () => {
      const other = await transport.open();
      const started = once(other.work, 'wait started');
      const lost = assert.rejects(other.client.callTool('wait'), { name: 'LocalError', code: 'closed' });
      await started;
      await other.close();
      await lost;
      await assert.rejects(other.client.callTool('late'), { name: 'LocalError', code: 'closed', maybeExecuted: false });
    });
  });
}
