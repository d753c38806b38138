import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResourceTemplate } from 'stateless-mcp';
import { escapePath, FILE_URI_TEMPLATE, fileUri, unescapePath } from '../src/file-uri.ts';
import { MAX_FILE_BYTES } from '../src/text-file.ts';
import { serveFolder } from './files-client.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Names that are easily broken on their way into a URI and back. */
const AWKWARD_NAMES = [
  'with space.md',
  '100%.md',
  'a%41b.md',
  'a%2Fb.md',
  'what?.md',
  'part#2.md',
  'ünïcödé 日本 😀.md',
  "it's (a) [test]!.md",
  'a+b=c&d,e;f@2x$.md',
  'star*.md',
  '{path}.md',
  'a:b.md',
  'quote".md',
  'line\nbreak.md',
];

describe('files as resources', () => {
  it('lists every file with a URI that reads it, whatever its name', async () => {
    const paths = AWKWARD_NAMES.flatMap((name) => [name, `in/${name}`, `${name}/deep.md`.replace('.md/', '/')]);
    const { client } = await serveFolder(
      await temporaryFolder(Object.fromEntries(paths.map((path) => [path, `text of ${path}`]))),
    );
    const { resources } = (await client.result('resources/list')) as {
      resources: { uri: string; name: string; mimeType: string }[];
    };
    expect(resources.map(({ name }) => name)).toEqual(paths.toSorted());
    for (const { uri, name, mimeType } of resources) {
      expect(URL.canParse(uri)).toBe(true);
      expect(await client.result('resources/read', { uri })).toMatchObject({
        contents: [{ uri, mimeType, text: `text of ${name}` }],
      });
    }
  });

  it('makes URIs that mean one path each', () => {
    const template = new ResourceTemplate(FILE_URI_TEMPLATE);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (path) => {
        expect(template.uriTemplate.match(fileUri(path))).toEqual({ path });
        // A client may put a completed value into the template by itself.
        expect(template.expand({ path: escapePath(path) })).toBe(fileUri(path));
        expect(unescapePath(escapePath(path))).toBe(path);
      }),
    );
  });

  it('completes the path of the template to values that make the right URI', async () => {
    const { client } = await serveFolder(await temporaryFolder({ '100%25.md': 'x', '100.md': 'x', 'other.md': 'x' }));
    const ref = { type: 'ref/resource', uri: FILE_URI_TEMPLATE };
    const complete = async (value: string): Promise<unknown> =>
      (await client.result('completion/complete', { ref, argument: { name: 'path', value } })).completion;
    expect(await complete('100')).toEqual({ values: ['100%2525.md', '100.md'], total: 2, hasMore: false });
    expect(await complete('100%25')).toEqual({ values: ['100%2525.md'], total: 1, hasMore: false });
  });

  it('leaves out what is hidden, linked, binary, or belongs to packages', async () => {
    const root = await temporaryFolder({
      '.env': 'x',
      '.git/config': 'x',
      'a/.hidden': 'x',
      'a/node_modules/x.md': 'x',
      'a/seen.md': 'x',
      'back\\slash.md': 'x',
      'image.PNG': 'x',
      'node_modules/y.md': 'x',
    });
    await symlink(join(root, 'a/seen.md'), join(root, 'link.md'));
    await symlink(join(root, 'a'), join(root, 'linked'));
    await writeFile(Buffer.concat([Buffer.from(`${root}/latin-`), Buffer.from([0xe9]), Buffer.from('.md')]), 'x');
    const { folder } = await serveFolder(root);
    expect([...folder.index]).toEqual(['a/seen.md']);
  });

  it('says why a file cannot be read', async () => {
    const root = await temporaryFolder({ 'big.txt': 'x'.repeat(MAX_FILE_BYTES + 1), 'data.txt': 'text\0' });
    const { client } = await serveFolder(root);
    const read = async (uri: string): Promise<unknown> => (await client.request('resources/read', { uri })).error;
    const message = `"big.txt" has ${MAX_FILE_BYTES + 1} bytes; at most ${MAX_FILE_BYTES} can be read`;
    expect(await read('files:///big.txt')).toEqual({ code: -32602, message, data: { uri: 'files:///big.txt' } });
    expect(await read('files:///data.txt')).toMatchObject({ code: -32602, message: '"data.txt" is not a text file' });
    expect(await read('files:///nope.txt')).toMatchObject({ code: -32602, data: { uri: 'files:///nope.txt' } });
  });
});

describe('summarize_file', () => {
  it('completes the path and brings the file along', async () => {
    const root = await temporaryFolder({ 'guide/one.md': '# One', 'guide/two.md': '# Two', 'z.md': '' });
    const { client } = await serveFolder(root);
    const { completion } = await client.result('completion/complete', {
      ref: { type: 'ref/prompt', name: 'summarize_file' },
      argument: { name: 'path', value: 'guide/' },
    });
    expect(completion).toEqual({ values: ['guide/one.md', 'guide/two.md'], total: 2, hasMore: false });
    const get = { name: 'summarize_file', arguments: { path: 'guide/one.md' } };
    expect(await client.result('prompts/get', get)).toMatchObject({
      messages: [
        { content: { resource: { uri: 'files:///guide/one.md', mimeType: 'text/markdown', text: '# One' } } },
        { content: { type: 'text' } },
      ],
    });
  });
});
