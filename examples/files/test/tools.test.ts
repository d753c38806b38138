import { describe, expect, it } from 'vitest';
import { FileIndex, type FoundPaths, type PathQuery } from '../src/file-index.ts';
import { openFolder } from '../src/folder.ts';
import { searchFiles } from '../src/search.ts';
import { createFilesServer } from '../src/server.ts';
import { MAX_FILE_BYTES } from '../src/text-file.ts';
import { serveFiles, serveFolder } from './files-client.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FILES = {
  'readme.md': '# Notes\r\nAll about Rivers\r\n',
  'guide/rivers.md': 'one river\ntwo RIVERS\nthree\n',
  'guide/lakes.md': 'no such thing\n',
  'guides.txt': 'not in the folder guide\n',
  'photo.png': 'river',
};

describe('list_files', () => {
  it('lists paths in order, of a folder, with a prefix, up to a limit', async () => {
    const { client } = await serveFolder(await temporaryFolder(FILES));
    const list = async (toolArguments: object): Promise<unknown> =>
      (await client.call('list_files', { ...toolArguments })).structuredContent;
    expect(await list({})).toEqual({
      files: ['guide/lakes.md', 'guide/rivers.md', 'guides.txt', 'readme.md'],
      total: 4,
    });
    expect(await list({ folder: 'guide' })).toEqual({ files: ['guide/lakes.md', 'guide/rivers.md'], total: 2 });
    expect(await list({ folder: 'guide/', prefix: 'r' })).toEqual({ files: ['guide/rivers.md'], total: 1 });
    expect(await list({ folder: '.', limit: 1 })).toEqual({ files: ['guide/lakes.md'], total: 4 });
  });
});

describe('search_files', () => {
  it('finds lines in upper and lower case and says where', async () => {
    const { client } = await serveFolder(await temporaryFolder(FILES));
    const { structuredContent } = await client.call('search_files', { query: 'rivers' });
    expect(structuredContent).toEqual({
      matches: [
        { path: 'guide/rivers.md', line: 2, text: 'two RIVERS' },
        { path: 'readme.md', line: 2, text: 'All about Rivers' },
      ],
      filesSearched: 4,
      truncated: false,
    });
  });

  it('stops at the limit and says that there is more', async () => {
    const { client } = await serveFolder(await temporaryFolder(FILES));
    const { structuredContent } = await client.call('search_files', { query: 'RIVER', folder: 'guide', limit: 1 });
    expect(structuredContent).toMatchObject({ matches: [{ line: 1 }], truncated: true });
  });

  it('shows the part of a long line that matches', async () => {
    const { client } = await serveFolder(
      await temporaryFolder({ 'long.txt': `${'a'.repeat(5000)}needle${'b'.repeat(5000)}` }),
    );
    const { structuredContent } = await client.call('search_files', { query: 'needle' });
    expect(structuredContent).toMatchObject({
      matches: [{ text: expect.stringMatching(/^…a+needleb+…$/) as string }],
    });
  });

  it('passes over files that are too large or no text', async () => {
    const { client } = await serveFolder(
      await temporaryFolder({ 'big.txt': 'x'.repeat(MAX_FILE_BYTES + 1), 'data.txt': '\0x', 'ok.txt': 'x' }),
    );
    const { structuredContent } = await client.call('search_files', { query: 'x' });
    expect(structuredContent).toMatchObject({ matches: [{ path: 'ok.txt' }], filesSearched: 3 });
  });

  it('tells how far it is, and stops when the caller gives up', async () => {
    const files = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`${index}.txt`, 'text']));
    const folder = await openFolder(await temporaryFolder(files));
    const giveUp = new AbortController();
    const progress: (readonly number[])[] = [];
    const search = searchFiles(folder, {
      query: 'nowhere',
      prefix: '',
      maxMatches: 10,
      signal: giveUp.signal,
      onProgress: (searched, total) => {
        progress.push([searched, total]);
        if (progress.length === 2) giveUp.abort();
      },
    });
    await expect(search).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }) as Error);
    expect(progress).toEqual([
      [512, 2000],
      [1024, 2000],
    ]);
  });

  it('ends with the connection of its caller', async () => {
    let batches = 0;
    class CountingIndex extends FileIndex {
      override find(query: PathQuery): FoundPaths {
        batches += 1;
        return super.find(query);
      }
    }
    const files = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`${index}.txt`, 'text']));
    const { root, index } = await openFolder(await temporaryFolder(files));
    const client = await serveFiles(createFilesServer({ root, index: new CountingIndex(index) }));
    const params = { name: 'search_files', arguments: { query: 'nowhere' } };
    const giveUp = new AbortController();
    const given = client.open('tools/call', params, { progressToken: 'p' }, giveUp.signal);
    expect(await given.next()).toMatchObject({ value: { method: 'notifications/progress' } });
    giveUp.abort();
    // This one starts later, so that the other would be at its end before it.
    const batchesBefore = batches;
    await client.result('tools/call', params);
    const batchesOfOne = Math.ceil(3000 / 16);
    expect(batches - batchesBefore).toBeLessThan(batchesOfOne + 40);
  });

  it('sends progress to a caller that asked for it', async () => {
    const files = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`${index}.txt`, 'text']));
    const { client } = await serveFolder(await temporaryFolder(files));
    const params = { name: 'search_files', arguments: { query: 'nowhere' } };
    const messages = await client.messages('tools/call', params, { progressToken: 'p' });
    expect(messages).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p', progress: 512, total: 600 } },
      { result: { structuredContent: { filesSearched: 600 } } },
    ]);
  });
});

describe('read_file', () => {
  it('reads a file whole or in part', async () => {
    const { client } = await serveFolder(await temporaryFolder(FILES));
    const read = async (toolArguments: object): Promise<unknown> =>
      (await client.call('read_file', { path: 'guide/rivers.md', ...toolArguments })).content;
    expect(await read({})).toEqual([{ type: 'text', text: FILES['guide/rivers.md'] }]);
    expect(await read({ startLine: 2, endLine: 3 })).toEqual([{ type: 'text', text: 'two RIVERS\nthree\n' }]);
    expect(await read({ startLine: 2, endLine: 2 })).toEqual([{ type: 'text', text: 'two RIVERS\n' }]);
    expect(await read({ startLine: 3 })).toEqual([{ type: 'text', text: 'three\n' }]);
  });

  it.each([
    ['missing.md', {}, '"missing.md" does not exist'],
    ['guide', {}, '"guide" does not exist'],
    ['guide/lakes.md', { startLine: 9 }, '"guide/lakes.md" ends with line 1'],
    ['big.txt', {}, `"big.txt" has ${MAX_FILE_BYTES + 1} bytes; at most ${MAX_FILE_BYTES} can be read`],
    ['data.txt', {}, '"data.txt" is not a text file'],
  ])('says what is wrong with %s %o', async (path, lines, text) => {
    const files = { ...FILES, 'big.txt': 'x'.repeat(MAX_FILE_BYTES + 1), 'data.txt': 'text\0' };
    const { client } = await serveFolder(await temporaryFolder(files));
    expect(await client.call('read_file', { path, ...lines })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text }],
    });
  });
});
