import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import chokidar, { type FSWatcher } from 'chokidar';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fileUri } from '../src/file-uri.ts';
import { type Folder, openFolder } from '../src/folder.ts';
import { announceChanges, createFilesServer } from '../src/server.ts';
import { watchFolder } from '../src/watch.ts';
import { type FilesClient, type Message, serveFiles } from './files-client.ts';
import { runShell } from './program.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface Watched {
  readonly folder: Folder;
  readonly client: FilesClient;
  readonly problems: readonly string[];
}

async function serveWatched(root: string, watch?: typeof chokidar.watch): Promise<Watched> {
  const folder = await openFolder(root);
  const server = createFilesServer(folder);
  const problems: string[] = [];
  const problem = (message: string): void => void problems.push(message);
  const { ready, close } = watchFolder(folder, { ...announceChanges(server), problem }, watch);
  onTestFinished(close);
  await ready;
  return { folder, client: await serveFiles(server), problems };
}

/** Messages of an open listen stream, after its acknowledgement. */
async function listen(client: FilesClient, notifications: object): Promise<() => Promise<Message | undefined>> {
  const messages = client.open('subscriptions/listen', { notifications });
  const { value: acknowledged } = (await messages.next()) as { value: Message };
  expect(acknowledged).toMatchObject({ params: { notifications } });
  return async () => ((await messages.next()) as { value?: Message }).value;
}

const listChanged = { method: 'notifications/resources/list_changed' };
const updated = (path: string): object => ({
  method: 'notifications/resources/updated',
  params: { uri: fileUri(path) },
});

describe('changes in the folder', () => {
  it('arrive at those who listen for the list', async () => {
    const root = await temporaryFolder({ 'one.md': '1' });
    const { folder, client } = await serveWatched(root);
    const next = await listen(client, { resourcesListChanged: true });

    await mkdir(join(root, 'new'));
    await writeFile(join(root, 'new/two.md'), '2');
    expect(await next()).toMatchObject(listChanged);
    expect([...folder.index]).toEqual(['new/two.md', 'one.md']);

    await rm(join(root, 'one.md'));
    expect(await next()).toMatchObject(listChanged);
    expect([...folder.index]).toEqual(['new/two.md']);
  });

  it('arrive at those who subscribed to a file', async () => {
    const root = await temporaryFolder({ 'a b#1.md': '1', 'other.md': '1' });
    const { client } = await serveWatched(root);
    const next = await listen(client, { resourceSubscriptions: [fileUri('a b#1.md')] });
    await writeFile(join(root, 'other.md'), '2');
    await writeFile(join(root, 'a b#1.md'), '2');
    expect(await next()).toMatchObject(updated('a b#1.md'));
    await rm(join(root, 'a b#1.md'));
    // A write may be seen in more than one piece.
    for (let message = await next(); ; message = await next()) {
      expect(message).toMatchObject(updated('a b#1.md'));
      const { error } = await client.request('resources/read', { uri: fileUri('a b#1.md') });
      if (error !== undefined) break;
    }
  });

  it('are announced together when they are many', async () => {
    const root = await temporaryFolder();
    const { folder, client } = await serveWatched(root);
    const next = await listen(client, { resourcesListChanged: true });
    await Promise.all(Array.from({ length: 200 }, async (_, index) => writeFile(join(root, `${index}.md`), '')));
    let announcements = 0;
    while (folder.index.size < 200 || announcements === 0) {
      expect(await next()).toMatchObject(listChanged);
      announcements += 1;
    }
    expect(announcements).toBeLessThan(20);
  });

  it('take a file away that is replaced by a symbolic link', async () => {
    const root = await temporaryFolder({ 'one.md': '1', 'two.md': '2' });
    const { folder, client } = await serveWatched(root);
    const next = await listen(client, { resourcesListChanged: true });
    await symlink(join(root, 'two.md'), join(root, '.link'));
    await rename(join(root, '.link'), join(root, 'one.md'));
    expect(await next()).toMatchObject(listChanged);
    expect([...folder.index]).toEqual(['two.md']);
  });

  it('are noticed that happened between making the index and watching', async () => {
    const root = await temporaryFolder({ 'gone.md': '', 'stays.md': '' });
    const folder = await openFolder(root);
    await rm(join(root, 'gone.md'));
    await writeFile(join(root, 'came.md'), '');
    const seen: string[] = [];
    const listener = { fileChanged: (path: string) => void seen.push(path), listChanged: () => {}, problem: () => {} };
    const { ready, close } = watchFolder(folder, listener);
    onTestFinished(close);
    await ready;
    expect([...folder.index]).toEqual(['came.md', 'stays.md']);
    expect(seen.toSorted()).toEqual(['came.md', 'gone.md']);
  });

  it('are ignored in what is not served', async () => {
    const root = await temporaryFolder({ 'one.md': '1' });
    const { folder, client } = await serveWatched(root);
    const next = await listen(client, { resourcesListChanged: true });
    await writeFile(join(root, '.hidden.md'), '');
    await writeFile(join(root, 'image.png'), '');
    await mkdir(join(root, 'node_modules'));
    await writeFile(join(root, 'node_modules/x.md'), '');
    await symlink(join(root, 'one.md'), join(root, 'link.md'));
    await runShell(`mkfifo '${join(root, 'pipe.md')}'`);
    await writeFile(join(root, 'two.md'), '');
    expect(await next()).toMatchObject(listChanged);
    expect([...folder.index]).toEqual(['one.md', 'two.md']);
  });
});

describe('the limit of watched files', () => {
  it.each(['ENOSPC', 'EMFILE'])('is said once (%s), and everything else goes on', async (code) => {
    const root = await temporaryFolder({ 'one.md': '1' });
    let watcher: FSWatcher | undefined;
    const { client, problems } = await serveWatched(root, (...args) => (watcher = chokidar.watch(...args)));
    for (let times = 0; times < 3; times += 1) watcher?.emit('error', Object.assign(new Error('full'), { code }));
    expect(problems).toEqual([expect.stringContaining(`watches no more files for this process (${code})`)]);
    expect(watcher?.closed).toBe(true);
    expect(await client.call('read_file', { path: 'one.md' })).toMatchObject({ content: [{ text: '1' }] });
    expect(await client.result('resources/list')).toMatchObject({ resources: [{ name: 'one.md' }] });
  });

  it('is not confused with other troubles', async () => {
    const root = await temporaryFolder();
    let watcher: FSWatcher | undefined;
    const { problems } = await serveWatched(root, (...args) => (watcher = chokidar.watch(...args)));
    watcher?.emit('error', new Error('odd'));
    expect(problems).toEqual(['Watching the folder: Error: odd']);
    expect(watcher?.closed).toBe(false);
  });
});
