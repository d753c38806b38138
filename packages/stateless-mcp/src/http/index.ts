/** Streamable HTTP for every runtime that speaks Fetch, and what other HTTP bindings have in common with it. */
export { type FetchHandler, fetchHandler, type FetchRequestInfo } from './fetch-handler.ts';
export type { DrainOptions } from '../protocol/drain-options.ts';
export type { Authenticate, HttpHead } from './http-head.ts';
export {
  type HttpFetch,
  HttpFetchError,
  type HttpFetchFailure,
  type HttpFetchPhase,
  type HttpFetchRequest,
  type HttpFetchResponse,
} from './http-fetch.ts';
export type { HttpOptions, Refusal } from './http-options.ts';
export { httpPeer, type HttpPeerOptions } from './http-peer.ts';
export type { HeaderFields, HeaderSource } from './user-headers.ts';
