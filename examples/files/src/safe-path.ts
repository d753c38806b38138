import { join } from 'node:path';

/**
 * Where a relative path leads, or undefined for one that is not served: it would leave the folder, or is hidden.
 * Whatever comes from a client goes through here before it meets the file system.
 *
 * @param root absolute path of the folder
 * @param relativePath names with `/` between them, as they are on disk: nothing is decoded
 */
export function resolveInside(root: string, relativePath: string): string | undefined {
  const names = relativePath.split('/');
  return names.every(isServedName) ? join(root, ...names) : undefined;
}

/** Whether a file or folder of this name, and what is in it, may be seen. */
export function isServedName(name: string): boolean {
  // An empty name begins an absolute path. Hidden names take `.` and `..` with them.
  return name !== '' && !name.startsWith('.') && name !== 'node_modules' && !UNUSABLE.test(name);
}

/**
 * A backslash separates names on Windows. The others never find their file again: NUL ends a name, and U+FFFD and lone
 * surrogates stand for bytes that are not Unicode.
 */
const UNUSABLE = /[\\\0\uFFFD\p{Surrogate}]/u;
