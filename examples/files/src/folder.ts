import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileIndex } from './file-index.ts';
import { isBinaryByName } from './file-types.ts';
import { isServedName } from './safe-path.ts';

/** A folder whose text files are served. */
export interface Folder {
  /** Absolute path without symbolic links. */
  readonly root: string;
  readonly index: FileIndex;
}

/** There is no folder to serve. The message says why, in one line. */
export class NoFolderError extends Error {
  override readonly name = 'NoFolderError';
}

/**
 * Finds all files of a folder. Left out are hidden files and folders, `node_modules`, symbolic links, and what has the
 * name of a binary file.
 *
 * @throws NoFolderError
 */
export async function openFolder(path: string): Promise<Folder> {
  const root = await realpath(path).catch(() => undefined);
  if (root === undefined) throw new NoFolderError(`The folder ${path} does not exist`);
  if (!(await stat(root)).isDirectory()) throw new NoFolderError(`${path} is not a folder`);
  const paths: string[] = [];
  for await (const file of walk(root)) paths.push(file);
  return { root, index: new FileIndex(paths) };
}

async function* walk(root: string): AsyncGenerator<string> {
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    // What vanishes meanwhile or may not be read has no files for anybody.
    const entries = await opendir(join(root, folder), { bufferSize: 256 }).catch(() => []);
    for await (const entry of entries) {
      if (!isServedName(entry.name)) continue;
      const path = folder + entry.name;
      if (entry.isDirectory()) folders.push(`${path}/`);
      else if (entry.isFile() && !isBinaryByName(path)) yield path;
    }
  }
}
