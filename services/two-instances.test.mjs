import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from 'stateless-mcp';
import { startFilesExample } from '../interop/peers/files-example.mjs';
import { startNginx } from './nginx.mjs';
import { connectRecording } from './recording-client.mjs';
import { walk } from './walk.mjs';

/** More than two pages of the example, and more than it searches without reporting progress. */
const NOTES = 1200;

const KEEP_CONNECTIONS = {
  upstream: 'keepalive 4;',
  location: 'proxy_http_version 1.1; proxy_set_header Connection "";',
};

describe('two instances behind nginx, which takes them in turn', { timeout: 120_000 }, () => {
  let dir;
  let files;
  let instances;
  /** One as it is when nothing is said, and one that keeps connections to the instances open. */
  const proxies = {};

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'two-instances-'));
    files = join(dir, 'files');
    await mkdir(join(files, 'notes'), { recursive: true });
    await writeFile(join(files, 'start.md'), '# Start\n\nA needle is on this line.\n');
    await writeFile(join(files, 'Übersicht & more.md'), 'Grüße, 世界 👋\n');
    const notes = Array.from({ length: NOTES }, (_, index) => `note-${String(index).padStart(4, '0')}.txt`);
    await Promise.all(notes.map(async (note) => writeFile(join(files, 'notes', note), `This is ${note}.\n`)));
    instances = await Promise.all([startFilesExample(files), startFilesExample(files)]);
    proxies.plain = await startNginx(join(dir, 'plain'), addresses());
    proxies.keeping = await startNginx(join(dir, 'keeping'), addresses(), KEEP_CONNECTIONS);
  });

  after(async () => {
    await Promise.all([...Object.values(proxies), ...(instances ?? [])].map(async (started) => started.stop()));
    await rm(dir, { recursive: true, force: true });
  });

  const addresses = () => instances.map(({ url }) => new URL(url).host);

  for (const name of ['plain', 'keeping']) {
    it(`${name}: one client is served by both, and every answer is what one of them alone would say`, async () => {
      const alone = await walkOver(instances[0].url);
      const first = await walkOver(proxies[name].url);
      // After an even number of requests the same instance would begin again.
      if (first.answers.length % 2 === 0) await fetch(proxies[name].url);
      const second = await walkOver(proxies[name].url);
      for (const { outcomes, answers } of [first, second]) {
        assert.deepEqual(outcomes, alone.outcomes);
        assert.deepEqual(
          answers.map((answer) => ({ ...answer, instance: null })),
          alone.answers,
        );
        for (const [index, { instance }] of answers.entries()) assert.notEqual(instance, answers[index - 1]?.instance);
      }
      // So each request was answered by both.
      for (const [index, { instance }] of first.answers.entries()) {
        assert.deepEqual(new Set([instance, second.answers[index].instance]), new Set(addresses()));
      }
    });

    it(`${name}: many requests at once are answered`, async () => {
      const { client, answers } = await connectRecording(proxies[name].url);
      const paths = Array.from({ length: 100 }, (_, index) => `notes/note-0${index + 100}.txt`);
      const results = await Promise.all(paths.map(async (path) => client.callTool('read_file', { path })));
      assert.deepEqual(
        results.map(({ content }) => content[0].text),
        paths.map((path) => `This is ${path.slice('notes/'.length)}.\n`),
      );
      const shares = addresses().map((address) => answers.filter(({ instance }) => instance === address).length);
      assert.ok(Math.min(...shares) >= 40, `shared out as ${shares.join(' and ')}`);
      await client.close();
    });
  }

  // From here on the folder changes, which no two instances see in the same moment.
  for (const name of ['plain', 'keeping']) {
    it(`${name}: what changes arrives on a stream of either of them`, async () => {
      const { client, answers } = await connectRecording(proxies[name].url);
      const path = `fresh-${name}.md`;
      const uri = `files:///${path}`;
      const changes = new EventEmitter();
      const listen = async (stream) =>
        client.listen(
          { resourceSubscriptions: [uri] },
          { onChange: ({ method, params }) => void changes.emit(stream, method, params) },
        );
      const sentBefore = answers.length;
      // The acknowledgement arrives although the answer goes on: nothing on the way waits for its end.
      const subscriptions = [await listen('first'), await listen('second')];
      assert.deepEqual(new Set(answers.slice(sentBefore).map(({ instance }) => instance)), new Set(addresses()));

      const heard = Promise.all([once(changes, 'first'), once(changes, 'second')]);
      await writeFile(join(files, path), 'one');
      for (const change of await heard) assert.deepEqual(change, ['notifications/resources/updated', { uri }]);

      for (const subscription of subscriptions) await subscription.close();
      await client.close();
    });
  }

  it('when one of them stops, its stream ends in good order, and calls go to the other', async () => {
    const client = await connect(proxies.plain.url);
    const streams = [];
    for (let count = 0; count < 2; count++) {
      const { closed } = await client.listen({ resourcesListChanged: true }, { onChange() {} });
      streams.push(closed);
    }
    assert.equal(await instances[0].stop(), 0);
    await Promise.any(streams);
    for (let count = 0; count < 6; count++) {
      const { content } = await client.callTool('read_file', { path: 'start.md' });
      assert.match(content[0].text, /needle/);
    }
    await client.close();
  });
});

async function walkOver(url) {
  const { client, answers } = await connectRecording(url);
  try {
    return { outcomes: await walk(client), answers };
  } finally {
    await client.close();
  }
}
