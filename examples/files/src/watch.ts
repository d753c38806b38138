import type { Stats } from 'node:fs';
import { relative, sep } from 'node:path';
import chokidar from 'chokidar';
import { isBinaryByName } from './file-types.ts';
import type { Folder } from './folder.ts';
import { resolveInside } from './safe-path.ts';

/** Is told what happens in a folder, after the index knows it. */
export interface FolderListener {
  /** A file has other content, came, or went. */
  fileChanged(path: string): void;
  /** A file came or went. */
  listChanged(): void;
  /** For the operator: watching does not work as it should. */
  problem(message: string): void;
}

export interface Watch {
  /** Settles when every change from now on is noticed, or when it is clear that none will be. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Keeps the index of a folder up to date. */
export function watchFolder({ root, index }: Folder, listener: FolderListener, watch = chokidar.watch): Watch {
  const pathOf = (file: string): string => relative(root, file).split(sep).join('/');
  const isIgnored = (file: string, stats?: Stats): boolean => {
    const path = pathOf(file);
    if (path === '') return false;
    if (resolveInside(root, path) === undefined) return true;
    return stats !== undefined && !stats.isDirectory() && (!stats.isFile() || isBinaryByName(path));
  };
  const watcher = watch(root, { ignored: isIgnored, followSymlinks: false, ignorePermissionErrors: true });

  // The watcher begins with a walk of its own. What was there when the index was made and is not now has gone between.
  let unseen: Set<string> | undefined = new Set(index);
  const added = (path: string): void => {
    unseen?.delete(path);
    if (!index.add(path)) return;
    listener.fileChanged(path);
    listener.listChanged();
  };
  const removed = (path: string): void => {
    if (!index.delete(path)) return;
    listener.fileChanged(path);
    listener.listChanged();
  };

  const ready = new Promise<void>((resolve) => {
    watcher
      .on('add', (file) => added(pathOf(file)))
      .on('change', (file) => listener.fileChanged(pathOf(file)))
      .on('unlink', (file) => removed(pathOf(file)))
      .on('ready', () => {
        for (const path of unseen ?? []) removed(path);
        unseen = undefined;
        resolve();
      })
      .on('error', (error) => {
        if (!isLimit(error)) {
          listener.problem(`Watching the folder: ${String(error)}`);
          return;
        }
        listener.problem(
          `The system watches no more files for this process (${error.code}): changes in the folder are not noticed ` +
            'until the next start. On Linux, fs.inotify.max_user_watches is the limit.',
        );
        void watcher.close();
        // The error comes once for each file, and closing took this listener away: nobody would hear the others.
        watcher.on('error', () => {});
        resolve();
      });
  });
  return { ready, close: async () => watcher.close() };
}

function isLimit(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EMFILE');
}
