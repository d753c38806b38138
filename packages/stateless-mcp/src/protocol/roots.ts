import type { Meta } from './meta.ts';

/** A directory or file that the server may work in. */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string;
  /** Display name. */
  readonly name?: string;
  readonly _meta?: Meta;
}

/**
 * Asks the client where to work, embedded in an input-required result.
 * @deprecated by revision 2026-07-28, still served.
 */
export interface ListRootsRequest {
  readonly method: 'roots/list';
  readonly params?: { readonly _meta?: Meta };
}

/** The places the client named. */
export interface ListRootsResult {
  readonly roots: readonly Root[];
}
