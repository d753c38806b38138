/** Typed calls of a server over any peer, and the peer without a wire. */
export type { Listener, McpClientOptions, ParamsOf, ReadOptions, RequestOptions } from './client-options.ts';
export type { ClientReport } from './client-report.ts';
export type { ListResult, ListRow } from './gather-pages.ts';
export { loopback, type LoopbackOptions } from './loopback.ts';
export { McpClient } from './mcp-client.ts';
export type { CacheStatistics } from './response-cache.ts';
export type { ListenOptions, Subscription } from './subscription.ts';
export type { OutputCheck } from './tool-outputs.ts';
