import type { RequestMeta, ResultMeta } from './meta.ts';

/** Tells how to read a result: finished, a question to the client, or a kind that an extension defines. */
export type ResultType = 'complete' | 'input_required' | (string & {});

/** Any result. Members this library does not know are kept as they are. */
export interface McpResult {
  readonly _meta?: ResultMeta;
  readonly resultType: ResultType;
  readonly [key: string]: unknown;
}

/** Success without data. */
export interface EmptyResult extends McpResult {
  readonly resultType: 'complete';
}

/** Who may be served from a cache: everybody, or only callers with the same authorization. */
export type CacheScope = 'public' | 'private';

/** How long and for whom a result may be kept. */
export interface CacheHints {
  /** Milliseconds since it was received during which the result counts as fresh. 0: already stale. */
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

/** A result that a client may keep. */
export interface CacheableResult extends McpResult, CacheHints {
  readonly resultType: 'complete';
}

/** One page of a list. */
export interface PaginatedResult extends McpResult {
  readonly resultType: 'complete';
  /** Opaque; asks for the next page. Absent: this was the last one. */
  readonly nextCursor?: string;
}

/** Parameters that every request has. Members this library does not know are kept as they are. */
export interface RequestParams {
  readonly _meta: RequestMeta;
  readonly [key: string]: unknown;
}

/** Parameters of the four list methods. */
export interface PaginatedParams extends RequestParams {
  /** The `nextCursor` of the page before. Absent: the first page. */
  readonly cursor?: string;
}
