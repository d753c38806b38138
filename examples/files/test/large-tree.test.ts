import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveFolder } from './files-client.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FOLDERS = 250;
const FILES_PER_FOLDER = 200;

function fillLargeTree(root: string): void {
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    const path = join(root, `part-${folder % 10}`, `folder-${folder}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file += 1) writeFileSync(join(path, `file-${file}.txt`), '');
  }
}

describe('a tree of 50,000 files', () => {
  it(
    'is listed page by page, each file once and in order, without walking it again',
    { timeout: 120_000 },
    async () => {
      const parent = await temporaryFolder();
      fillLargeTree(join(parent, 'tree'));
      const { client, folder } = await serveFolder(join(parent, 'tree'));
      // Nothing is left to walk.
      renameSync(join(parent, 'tree'), join(parent, 'elsewhere'));

      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.result('resources/list', cursor === undefined ? {} : { cursor });
        const resources = page.resources as readonly { name: string }[];
        expect(resources).toHaveLength(500);
        names.push(...resources.map(({ name }) => name));
        cursor = page.nextCursor as string | undefined;
      } while (cursor !== undefined);

      expect(new Set(names).size).toBe(FOLDERS * FILES_PER_FOLDER);
      expect(names).toEqual(names.toSorted());
      expect(names).toEqual([...folder.index]);
    },
  );
});
