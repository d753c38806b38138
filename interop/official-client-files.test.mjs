import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { filesExampleCommand, startFilesExample } from './peers/files-example.mjs';
import { connectOverHttp, connectOverStdio } from './peers/official-client.mjs';

/** More than two pages of the example, and more than it searches without reporting progress. */
const NOTES = 1200;

/** Each serves a folder by the example and connects the official client to it. `stop` asks the example to end. */
const TRANSPORTS = [
  {
    name: 'HTTP',
    async open(dir, options) {
      const { url, stop } = await startFilesExample(dir);
      try {
        return { ...(await connectOverHttp(url, options)), stop };
      } catch (error) {
        await stop();
        throw error;
      }
    },
  },
  {
    name: 'stdio',
    async open(dir, options) {
      const connection = await connectOverStdio(filesExampleCommand(dir), options);
      return { ...connection, stop: async () => terminate(connection.pid) };
    },
  },
];

function terminate(pid) {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    // It ended when its client was closed.
    if (error.code !== 'ESRCH') throw error;
  }
}

for (const transport of TRANSPORTS) {
  describe(`the official client and the files example over ${transport.name}`, { timeout: 60_000 }, () => {
    let dir;
    let connection;
    /** @type {import('@modelcontextprotocol/client').Client} */
    let client;

    before(async () => {
      dir = await mkdtemp(join(tmpdir(), 'interop-'));
      await mkdir(join(dir, 'notes'));
      await writeFile(join(dir, 'start.md'), '# Start\n\nA needle is on this line.\n');
      const notes = Array.from({ length: NOTES }, (_, index) => `note-${String(index).padStart(4, '0')}.txt`);
      await Promise.all(notes.map(async (name) => writeFile(join(dir, 'notes', name), `This is ${name}.\n`)));
      connection = await transport.open(dir);
      client = connection.client;
    });

    after(async () => {
      await client?.close();
      await connection?.stop();
      await rm(dir, { recursive: true, force: true });
    });

    it('discovers revision, identity and capabilities', () => {
      assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
      assert.equal(client.getProtocolEra(), 'modern');
      assert.equal(client.getServerVersion()?.name, 'files');
      assert.match(client.getInstructions() ?? '', /folder/);
      const { resources, tools, prompts, completions } = client.getServerCapabilities() ?? {};
      assert.deepEqual(resources, { listChanged: true, subscribe: true });
      assert.ok(tools && prompts && completions);
    });

    it('chooses this revision when it may choose', async () => {
      const other = await transport.open(dir, { versionNegotiation: { mode: 'auto' } });
      assert.equal(other.client.getNegotiatedProtocolVersion(), '2026-07-28');
      await other.client.close();
      await other.stop();
    });

    it('is told what is served here when it knows only older revisions', async () => {
      const options = { versionNegotiation: { mode: 'legacy' } };
      await assert.rejects(transport.open(dir, options), /2026-07-28/);
    });

    it('lists all pages of the resources', async () => {
      const sentBefore = connection.sent.length;
      const { resources } = await client.listResources();
      assert.deepEqual(connection.sent.slice(sentBefore), ['resources/list', 'resources/list', 'resources/list']);
      const uris = resources.map(({ uri }) => uri);
      assert.equal(uris.length, NOTES + 1);
      assert.equal(new Set(uris).size, uris.length);
      assert.ok(uris.includes('files:///start.md'));
    });

    it('lists templates, tools and prompts', async () => {
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ['files:///{+path}'],
      );
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['list_files', 'read_file', 'search_files'],
      );
      const { prompts } = await client.listPrompts();
      assert.deepEqual(prompts[0]?.arguments, [
        { name: 'path', description: 'Path of the file in the folder', required: true },
      ]);
    });

    it('calls a tool', async () => {
      const result = await client.callTool({ name: 'read_file', arguments: { path: 'notes/note-0007.txt' } });
      assert.deepEqual(result.content, [{ type: 'text', text: 'This is note-0007.txt.\n' }]);
      assert.notEqual(result.isError, true);
    });

    it('checks structured output against the schema that was listed', async () => {
      await client.listTools();
      const { structuredContent } = await client.callTool({
        name: 'search_files',
        arguments: { query: 'NEEDLE' },
      });
      assert.deepEqual(structuredContent, {
        matches: [{ path: 'start.md', line: 3, text: 'A needle is on this line.' }],
        filesSearched: NOTES + 1,
        truncated: false,
      });
    });

    it('hears of progress', async () => {
      const reports = [];
      await client.callTool(
        { name: 'search_files', arguments: { query: 'needle' } },
        { onprogress: (report) => reports.push(report) },
      );
      const progress = reports.map((report) => report.progress);
      assert.ok(progress.length > 1, `heard ${progress.length} times`);
      assert.deepEqual(
        progress,
        [...new Set(progress)].sort((a, b) => a - b),
      );
      assert.ok(reports.every(({ total, message }) => total === NOTES + 1 && message !== undefined));
    });

    it('gets failures of a tool as results', async () => {
      const missing = await client.callTool({ name: 'read_file', arguments: { path: 'nothing.md' } });
      assert.equal(missing.isError, true);
      assert.match(missing.content[0]?.text, /nothing\.md/);
      const invalid = await client.callTool({ name: 'read_file', arguments: { path: 7 } });
      assert.equal(invalid.isError, true);
      assert.match(invalid.content[0]?.text, /path/);
    });

    it('gets an error for what does not exist', async () => {
      const invalidParams = { code: ProtocolErrorCode.InvalidParams };
      await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), invalidParams);
      await assert.rejects(client.getPrompt({ name: 'no_such_prompt' }), invalidParams);
      const uri = 'files:///nothing.md';
      await assert.rejects(client.readResource({ uri }), { ...invalidParams, data: { uri } });
      await assert.rejects(client.listResources({ cursor: 'not one of ours' }), invalidParams);
    });

    it('reads a resource', async () => {
      const { contents } = await client.readResource({ uri: 'files:///start.md' });
      assert.deepEqual(contents, [
        { uri: 'files:///start.md', mimeType: 'text/markdown', text: '# Start\n\nA needle is on this line.\n' },
      ]);
    });

    it('gets a prompt', async () => {
      const { messages } = await client.getPrompt({ name: 'summarize_file', arguments: { path: 'start.md' } });
      assert.deepEqual(
        messages.map(({ content }) => content.type),
        ['resource', 'text'],
      );
    });

    it('completes arguments and template variables', async () => {
      const argument = { name: 'path', value: 'notes/note-000' };
      const names = Array.from({ length: 10 }, (_, digit) => `notes/note-000${digit}.txt`);
      for (const ref of [
        { type: 'ref/prompt', name: 'summarize_file' },
        { type: 'ref/resource', uri: 'files:///{+path}' },
      ]) {
        const { completion } = await client.complete({ ref, argument });
        assert.deepEqual(completion, { values: names, total: names.length, hasMore: false });
      }
    });

    it('listens: a file comes, changes and goes', async () => {
      const { notifications } = connection;
      const uri = 'files:///fresh.md';
      const updated = async () => once(notifications, 'notifications/resources/updated');
      const listChanged = async () => once(notifications, 'notifications/resources/list_changed');
      const filter = { resourcesListChanged: true, resourceSubscriptions: [uri] };
      const subscription = await client.listen(filter);
      assert.deepEqual(subscription.honoredFilter, filter);

      const came = Promise.all([updated(), listChanged()]);
      await writeFile(join(dir, 'fresh.md'), 'one');
      const [[params]] = await came;
      assert.equal(params.uri, uri);
      assert.ok((await client.listResources()).resources.some((resource) => resource.uri === uri));

      const changed = updated();
      await writeFile(join(dir, 'fresh.md'), 'two');
      await changed;
      assert.equal((await client.readResource({ uri })).contents[0]?.text, 'two');

      const went = Promise.all([updated(), listChanged()]);
      await rm(join(dir, 'fresh.md'));
      await went;
      await assert.rejects(client.readResource({ uri }), { code: ProtocolErrorCode.InvalidParams });

      await subscription.close();
      assert.equal(await subscription.closed, 'local');
    });

    it('is told in good order that the server stops', async () => {
      const subscription = await client.listen({ resourcesListChanged: true });
      const ended = connection.stop();
      assert.equal(await subscription.closed, 'graceful');
      await ended;
    });
  });
}
