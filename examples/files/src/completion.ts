import type { CompletionValues } from 'stateless-mcp/server';
import type { FileIndex } from './file-index.ts';

/** As many as the protocol carries. */
const MAX_SUGGESTIONS = 100;

/** Paths that begin with what was typed. */
export function suggestPaths(index: FileIndex, typed: string): CompletionValues {
  const { paths, total, hasMore } = index.find({ prefix: typed, limit: MAX_SUGGESTIONS });
  return { values: paths, total, hasMore };
}
