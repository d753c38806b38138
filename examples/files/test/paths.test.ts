import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveInside } from '../src/safe-path.ts';
import { type FilesClient, serveFolder } from './files-client.ts';
import { runShell } from './program.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SECRET = 'this lies outside';

/** A folder to serve inside of another one that has a secret. */
async function folderBesideSecret(): Promise<{ root: string; secret: string }> {
  const outside = await temporaryFolder({
    'secret.txt': SECRET,
    'served/a/inside.txt': 'inside',
    'served/.hidden.txt': SECRET,
    'served/node_modules/p/readme.md': SECRET,
  });
  return { root: join(outside, 'served'), secret: join(outside, 'secret.txt') };
}

/** Ways to files outside, to hidden ones, and to others by more than one name. */
const refusedPaths = (secret: string): readonly string[] => [
  '..',
  '/',
  '../secret.txt',
  'a/../../secret.txt',
  'a/../inside.txt',
  './../secret.txt',
  './a/inside.txt',
  'a/./inside.txt',
  'a//inside.txt',
  '/a/inside.txt',
  secret,
  `/${secret}`,
  `file://${secret}`,
  '..\\secret.txt',
  'a\\..\\..\\secret.txt',
  'a\\inside.txt',
  'C:\\Windows\\win.ini',
  '\\\\server\\share\\x.txt',
  'a/inside.txt\0',
  'a/inside.txt\0.png',
  '../secret.txt\0',
  '..%00/secret.txt',
  '..%2fsecret.txt',
  '..%5csecret.txt',
  '\ud800/secret.txt',
  '.hidden.txt',
  'a/../.hidden.txt',
  'node_modules/p/readme.md',
];

/** Names like any others, if nobody decodes or normalises them once more. */
const MISLEADING_PATHS = [
  '%2e%2e/secret.txt',
  '%2e%2e%2fsecret.txt',
  '%252e%252e%252fsecret.txt',
  '%c0%ae%c0%ae/secret.txt',
  '%2ehidden.txt',
  '\u2025/secret.txt',
  '\uff0e\uff0e/secret.txt',
  'a/\u2024\u2024/\u2024\u2024/secret.txt',
  'a'.repeat(4000),
  'a/'.repeat(2000).slice(0, -1),
  '__proto__',
  'constructor',
];

const hostilePaths = (secret: string): readonly string[] => [...refusedPaths(secret), ...MISLEADING_PATHS];

/** A path as a URI would carry it, if it can. */
function hostileUris(path: string): readonly string[] {
  if (/\p{Surrogate}/u.test(path)) return [];
  return [`files:///${path}`, `files:///${encodeURI(path)}`, `files:///${encodeURIComponent(path)}`];
}

describe('paths that lead out of the folder', () => {
  it('lead nowhere through tools', async () => {
    const { root, secret } = await folderBesideSecret();
    const { client } = await serveFolder(root);
    for (const path of hostilePaths(secret)) {
      expectMissing(await client.call('read_file', { path }), path);
      const noFolder = { isError: true, content: [{ text: `There are no files in "${path}"` }] };
      expect(await client.call('list_files', { folder: path }), path).toMatchObject(noFolder);
      expect(await client.call('search_files', { query: 'lies', folder: path }), path).toMatchObject(noFolder);
      const { structuredContent } = await client.call('list_files', { prefix: path });
      expect(structuredContent, path).toEqual({ files: [], total: 0 });
    }
  });

  it('lead nowhere through resources', async () => {
    const { root, secret } = await folderBesideSecret();
    const { client } = await serveFolder(root);
    for (const uri of hostilePaths(secret).flatMap(hostileUris)) {
      expectNotFound(await client.request('resources/read', { uri }), uri);
    }
  });

  it('cannot be subscribed to', async () => {
    const { root, secret } = await folderBesideSecret();
    const { client } = await serveFolder(root);
    const resourceSubscriptions = refusedPaths(secret).flatMap((path) => hostileUris(path).slice(1));
    const messages = await client.messages('subscriptions/listen', { notifications: { resourceSubscriptions } });
    // Nothing that could happen is left, so that the stream ends at once.
    expect(messages).toMatchObject([{ params: { notifications: {} } }, { result: { resultType: 'complete' } }]);
    expect(messages[0]?.params?.notifications).toEqual({});
  });

  it('lead nowhere through prompts', async () => {
    const { root, secret } = await folderBesideSecret();
    const { client } = await serveFolder(root);
    for (const path of hostilePaths(secret)) {
      const { error } = await client.request('prompts/get', { name: 'summarize_file', arguments: { path } });
      expect(error, path).toMatchObject({ code: -32602, message: `"${path}" does not exist` });
    }
  });

  it('are not completed', async () => {
    const { root, secret } = await folderBesideSecret();
    const { client } = await serveFolder(root);
    const refs = [
      { type: 'ref/prompt', name: 'summarize_file' },
      { type: 'ref/resource', uri: 'files:///{+path}' },
    ];
    for (const ref of refs) {
      for (const value of hostilePaths(secret)) {
        const { completion } = await client.result('completion/complete', { ref, argument: { name: 'path', value } });
        expect(completion, value).toEqual({ values: [], total: 0, hasMore: false });
      }
    }
  });

  it('are refused before the file system sees them', () => {
    for (const path of refusedPaths('/etc/passwd')) {
      if (!path.includes('%')) expect(resolveInside('/srv/files', path), path).toBeUndefined();
    }
    expect(resolveInside('/srv/files', 'a/b../c d.md')).toBe(join('/srv/files/a/b../c d.md'));
  });
});

describe('symbolic links', () => {
  it('are not followed, neither those of files nor of folders', async () => {
    const { root, secret } = await folderBesideSecret();
    await symlink(secret, join(root, 'link.txt'));
    await symlink(dirname(secret), join(root, 'up'));
    await symlink(join(root, 'a'), join(root, 'within'));
    const { client } = await serveFolder(root);
    for (const path of ['link.txt', 'up/secret.txt', 'up/served/a/inside.txt', 'within/inside.txt']) {
      await expectNothingAt(path, client);
    }
    const { structuredContent } = await client.call('search_files', { query: 'lies' });
    expect(structuredContent).toMatchObject({ matches: [], filesSearched: 1 });
  });

  it('are not followed when one takes the place of a listed file', async () => {
    const { root, secret } = await folderBesideSecret();
    const { client } = await serveFolder(root);
    await rm(join(root, 'a/inside.txt'));
    await symlink(secret, join(root, 'a/inside.txt'));
    await expectNothingAt('a/inside.txt', client);
  });

  it('are not followed when one takes the place of a folder with a listed file', async () => {
    const { root, secret } = await folderBesideSecret();
    const { client } = await serveFolder(root);
    await rename(join(root, 'a'), join(dirname(secret), 'a'));
    await symlink(join(dirname(secret), 'a'), join(root, 'a'));
    await expectNothingAt('a/inside.txt', client);
  });

  it('may lead to the folder that is served', async () => {
    const { root, secret } = await folderBesideSecret();
    const alias = join(dirname(secret), 'alias');
    await symlink(root, alias);
    const { client } = await serveFolder(alias);
    expect(await client.call('read_file', { path: 'a/inside.txt' })).toMatchObject({ content: [{ text: 'inside' }] });
  });
});

describe('what is no regular file', () => {
  it('is neither listed nor read', async () => {
    const { root } = await folderBesideSecret();
    await mkdir(join(root, 'folder.txt'));
    const { client } = await serveFolder(root);
    await expectNothingAt('folder.txt', client);
  });

  it.skipIf(process.platform === 'win32')('is not waited for', async () => {
    const { root } = await folderBesideSecret();
    expect(await runShell(`mkfifo '${join(root, 'pipe.txt')}'`)).toMatchObject({ code: 0 });
    const { client } = await serveFolder(root);
    await expectNothingAt('pipe.txt', client);
  });
});

async function expectNothingAt(path: string, client: FilesClient): Promise<void> {
  expectMissing(await client.call('read_file', { path }), path);
  expectNotFound(await client.request('resources/read', { uri: `files:///${path}` }), path);
  const { structuredContent } = await client.call('search_files', { query: 'lies' });
  expect(structuredContent, path).toMatchObject({ matches: [] });
}

function expectMissing(result: unknown, path: string): void {
  expect(result, path).toMatchObject({ isError: true, content: [{ text: `"${path}" does not exist` }] });
}

function expectNotFound(message: unknown, label: string): void {
  expect(message, label).toMatchObject({ error: { code: -32602, message: 'Resource not found' } });
}
