/** Streamable HTTP for every runtime that speaks Fetch, and what other HTTP bindings have in common with it. */
export { type FetchHandler, fetchHandler, type FetchRequestInfo } from './fetch-handler.ts';
export type { DrainOptions } from './http-binding.ts';
export type { Authenticate, HttpHead } from './http-head.ts';
export type { HttpOptions, Refusal } from './http-options.ts';
