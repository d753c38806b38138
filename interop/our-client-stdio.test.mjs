import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { officialCommand } from './peers/official-command.mjs';
import { ourCommand } from './peers/our-command.mjs';
import { withClient } from './peers/with-client.mjs';

const MEGABYTE = 1024 * 1024;
const logger = { debug() {}, info() {}, warn() {}, error() {} };

describe('our client and the official server: what only stdio has', { timeout: 90_000 }, () => {
  /** A server of which nothing is asked keeps nobody awake, and some tests wait for what it says all the same. */
  let waiting;

  before(() => {
    waiting = setInterval(() => {}, 1000);
  });

  after(() => {
    clearInterval(waiting);
  });

  it('gets a line of 50 MB, and sends one of 4 MB', async () => {
    // The official server puts the pieces of a line together anew for each one, which takes minutes for 50 MB.
    await withClient(officialCommand({ maxMessageBytes: 64 * MEGABYTE }), async (client) => {
      const args = { text: 'x'.repeat(4 * MEGABYTE), answer: 50 * MEGABYTE };
      const { content } = await client.callTool('mirror', args);
      assert.equal(content[0]?.text, String(4 * MEGABYTE));
      assert.equal(content[1]?.text.length, 50 * MEGABYTE);
    });
  });

  it('carries a line of 50 MB in both directions when the server is ours too', async () => {
    await withClient({ ...ourCommand, maxMessageBytes: 64 * MEGABYTE }, async (client) => {
      const args = { text: 'x'.repeat(50 * MEGABYTE), answer: 50 * MEGABYTE };
      const { content } = await client.callTool('mirror', args);
      assert.equal(content[0]?.text, String(50 * MEGABYTE));
      assert.equal(content[1]?.text.length, 50 * MEGABYTE);
    });
  });

  it('refuses a line over its limit, and goes on with the same process', async () => {
    await withClient(officialCommand({ maxMessageBytes: MEGABYTE }), async (client) => {
      const small = client.callTool('count', { to: 3, pauseMs: 100 });
      const large = client.callTool('mirror', { text: '', answer: 5 * MEGABYTE });
      await assert.rejects(large, { name: 'LocalError', code: 'too_large', maybeExecuted: true });
      assert.equal((await small).content[0]?.text, 'Counted to 3.');
      assert.equal((await client.callTool('mirror', { text: 'x', answer: 1 })).content[0]?.text, '1');
      assert.equal(client.explain().process?.starts, 1);
    });
  });

  it('is not disturbed by what a server prints on its standard output', async () => {
    const warnings = [];
    const listening = { ...logger, warn: (message) => warnings.push(message) };
    await withClient(officialCommand({ args: ['--noisy'], logger: listening }), async (client) => {
      const { content } = await client.callTool('route', { region: 'Zürich' });
      assert.deepEqual(content, [{ type: 'text', text: 'Zürich' }]);
      // The greeting, half a line, an array, and the report of the tool. The empty line is nothing.
      assert.equal(client.explain().ignoredLines, 4);
    });
    assert.match(warnings.join('\n'), /Welcome!|no message/);
  });

  it('starts a killed server again, and says what was lost', async () => {
    const work = new EventEmitter();
    const target = officialCommand({ stderr: (line) => work.emit(line), logger });
    await withClient(target, async (client) => {
      const first = client.explain().process?.pid;
      const started = once(work, 'wait started');
      const lost = assert.rejects(client.callTool('wait'), (error) => {
        assert.equal(error.name, 'LocalError');
        assert.equal(error.code, 'closed');
        assert.equal(error.maybeExecuted, true);
        assert.equal(error.exitSignal, 'SIGKILL');
        assert.deepEqual(error.stderr, ['wait started']);
        return true;
      });
      await started;
      process.kill(first, 'SIGKILL');
      await lost;
      assert.deepEqual((await client.callTool('add', { a: 1, b: 2 })).structuredContent, { sum: 3 });
      const { pid, starts } = client.explain().process ?? {};
      assert.equal(starts, 2);
      assert.notEqual(pid, first);
    });
  });

  it('asks again what only reads when the server was killed meanwhile', async () => {
    await withClient(officialCommand({ logger }), async (client) => {
      await client.listTools();
      const { pid } = client.explain().process ?? {};
      // Stopped, it cannot answer before it is killed.
      process.kill(pid, 'SIGSTOP');
      const reading = client.readResource('memo://first');
      const adding = client.callTool('add', { a: 1, b: 2 });
      process.kill(pid, 'SIGKILL');
      assert.equal((await reading).contents[0]?.text, 'The first memo');
      assert.deepEqual((await adding).structuredContent, { sum: 3 });
    });
  });

  it('ends the server when it is closed', async () => {
    let pid;
    await withClient(officialCommand(), async (client) => {
      ({ pid } = client.explain().process ?? {});
      process.kill(pid, 0);
    });
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  it('says why a server could not be started', async () => {
    const target = officialCommand({ args: ['--fail'], logger });
    await assert.rejects(
      withClient(target, async () => {}),
      (error) => {
        assert.equal(error.code, 'unreachable');
        assert.equal(error.phase, 'spawn');
        assert.equal(error.exitCode, 3);
        assert.deepEqual(error.stderr, ['This server does not want to start.']);
        return true;
      },
    );
  });
});
