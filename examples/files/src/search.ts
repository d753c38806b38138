import type { Folder } from './folder.ts';
import { FileUnavailableError, readTextFile } from './text-file.ts';

export interface SearchOptions {
  /** Text to find in a line; upper and lower case are the same. */
  readonly query: string;
  /** What the paths of the files begin with. */
  readonly prefix: string;
  readonly maxMatches: number;
  readonly signal: AbortSignal;
  /** Is told every now and then; the search waits for it. */
  readonly onProgress: (filesSearched: number, files: number) => void | Promise<void>;
}

export interface Match {
  path: string;
  /** Counted from 1. */
  line: number;
  /** The line, or the part of it around the match. */
  text: string;
}

export interface SearchResult {
  matches: Match[];
  filesSearched: number;
  /** There are more matches than these. */
  truncated: boolean;
}

/** Files that are read at the same time, and so are in memory together. */
const FILES_AT_ONCE = 16;
const FILES_BETWEEN_PROGRESS = 512;

/**
 * Searches files in the order of their paths.
 *
 * @throws the reason of `signal` when it aborts
 */
export async function searchFiles({ root, index }: Folder, options: SearchOptions): Promise<SearchResult> {
  const { query, prefix, maxMatches, signal, onProgress } = options;
  const needle = query.toLowerCase();
  const matches: Match[] = [];
  let filesSearched = 0;
  let after: string | undefined;
  while (matches.length <= maxMatches) {
    signal.throwIfAborted();
    // The index may change meanwhile. Whoever goes on behind the last path does not mind.
    const { paths, hasMore, total } = index.find({ prefix, after, limit: FILES_AT_ONCE });
    const texts = await Promise.all(paths.map(async (path) => readIfPossible(root, path)));
    for (const [position, path] of paths.entries()) matches.push(...matchesIn(path, texts[position] ?? '', needle));
    filesSearched += paths.length;
    if (filesSearched % FILES_BETWEEN_PROGRESS === 0) await onProgress(filesSearched, total);
    if (!hasMore) break;
    after = paths.at(-1);
  }
  return { matches: matches.slice(0, maxMatches), filesSearched, truncated: matches.length > maxMatches };
}

/** A file that went away, is too large or turns out to be binary is no reason to give up the others. */
async function readIfPossible(root: string, path: string): Promise<string | undefined> {
  try {
    return await readTextFile(root, path);
  } catch (error) {
    if (error instanceof FileUnavailableError) return undefined;
    throw error;
  }
}

function* matchesIn(path: string, text: string, needle: string): Generator<Match> {
  // Most files have no match: one look at the whole is cheaper than many at its lines.
  if (!text.toLowerCase().includes(needle)) return;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const position = line.toLowerCase().indexOf(needle);
    if (position >= 0) yield { path, line: index + 1, text: excerpt(line, position) };
  }
}

const MAX_EXCERPT_LENGTH = 240;

function excerpt(line: string, position: number): string {
  if (line.length <= MAX_EXCERPT_LENGTH) return line.trim();
  const start = Math.max(0, position - MAX_EXCERPT_LENGTH / 4);
  const end = start + MAX_EXCERPT_LENGTH;
  return `${start > 0 ? '…' : ''}${line.slice(start, end).trim()}${end < line.length ? '…' : ''}`;
}
