import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { resolveInside } from './safe-path.ts';

/** Files larger than this are not read. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** A file that cannot be had. The message is for whoever asked for it. */
export class FileUnavailableError extends Error {
  override readonly name = 'FileUnavailableError';
  readonly reason: 'missing' | 'too large' | 'not text';

  constructor(path: string, reason: FileUnavailableError['reason'], explanation: string) {
    super(`"${path}" ${explanation}`);
    this.reason = reason;
  }
}

/**
 * The text of a file in the folder.
 *
 * @throws FileUnavailableError if it does not exist, lies elsewhere, is too large, or is not text
 */
export async function readTextFile(root: string, path: string): Promise<string> {
  await using file = await openInside(root, path);
  const { size } = await file.stat();
  if (size > MAX_FILE_BYTES) {
    throw new FileUnavailableError(path, 'too large', `has ${size} bytes; at most ${MAX_FILE_BYTES} can be read`);
  }
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
  const bytes = buffer.subarray(0, bytesRead);
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) {
    throw new FileUnavailableError(path, 'not text', 'is not a text file');
  }
  return new TextDecoder().decode(bytes);
}

/** A NUL byte this near to the beginning tells binary files from text. */
const SNIFFED_BYTES = 8192;

/** Opens a regular file that lies in the folder itself, with no symbolic link on the way to it. */
async function openInside(root: string, path: string): Promise<FileHandle> {
  const absolute = resolveInside(root, path);
  const file = absolute === undefined ? undefined : await openPlainly(absolute);
  if (absolute === undefined || file === undefined) throw missing(path);
  if (await isWhatLiesAt(absolute, file)) return file;
  await file.close();
  throw missing(path);
}

/** Undefined if there is nothing that could be opened. */
async function openPlainly(absolute: string): Promise<FileHandle | undefined> {
  try {
    // Not through a link; and without waiting, which a pipe would make us do until somebody writes into it.
    return await open(absolute, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isSystemError(error) && NOTHING_THERE.has(error.code)) return undefined;
    throw error;
  }
}

/**
 * Whether the open file is a regular one that the path leads to without links. Asked after opening, so that a folder
 * which was replaced by a link since it was listed is noticed.
 */
async function isWhatLiesAt(absolute: string, file: FileHandle): Promise<boolean> {
  const [opened, real, found] = await Promise.all([
    file.stat({ bigint: true }),
    realpath(absolute).catch(() => undefined),
    lstat(absolute, { bigint: true }).catch(() => undefined),
  ]);
  return opened.isFile() && real === absolute && found?.ino === opened.ino && found.dev === opened.dev;
}

const NOTHING_THERE: ReadonlySet<string> = new Set([
  'EACCES',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'ENXIO',
  'EPERM',
]);

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

function missing(path: string): FileUnavailableError {
  return new FileUnavailableError(path, 'missing', 'does not exist');
}
