import { invalidParams } from './invalid-params.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';

/** Where a page starts. */
export type Position =
  /** Behind the entry with this key, which may be gone by now. */
  | { readonly after: string }
  /** At a list provider, by the key of its template; with what the provider gave out, or at its beginning. */
  | { readonly provider: string; readonly cursor: string | undefined };

/** Room for whatever a list provider puts into its own cursors. */
const MAX_CURSOR_LENGTH = 1024 * 1024;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** A cursor names its list, so that it cannot be used for another, and a key, so that it outlives changes of the list. */
export function encodeCursor(list: string, position: Position): string {
  const parts = 'after' in position ? [list, position.after] : [list, position.provider, position.cursor ?? null];
  return encodeBase64(new TextEncoder().encode(JSON.stringify(parts)));
}

/** @throws McpError −32602 for a cursor of another list and for everything that is no cursor */
export function decodeCursor(list: string, cursor: unknown): Position | undefined {
  if (cursor === undefined) return undefined;
  const parts = typeof cursor === 'string' && cursor.length <= MAX_CURSOR_LENGTH ? readParts(cursor) : undefined;
  if (Array.isArray(parts) && parts[0] === list && typeof parts[1] === 'string') {
    if (parts.length === 2) return { after: parts[1] };
    if (parts.length === 3 && parts[2] === null) return { provider: parts[1], cursor: undefined };
    if (parts.length === 3 && typeof parts[2] === 'string') return { provider: parts[1], cursor: parts[2] };
  }
  throw invalidParams(`the cursor is not one that ${list} gave out`);
}

function readParts(cursor: string): unknown {
  const bytes = decodeBase64(cursor);
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}
