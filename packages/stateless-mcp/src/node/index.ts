/** Serving on Node without a detour over Fetch objects. */
export { type NodeListener, nodeListener, type NodeListenerOptions } from './node-listener.ts';
export { type HttpServer, serveHttp, type ServeHttpOptions } from './serve-http.ts';
export { type NodeFetch, nodeFetch, type NodeFetchOptions } from './node-fetch.ts';
