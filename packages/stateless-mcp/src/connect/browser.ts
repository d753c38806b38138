/** The everyday entry where there is no Node: a way to reach servers. Serve with `stateless-mcp/http`. */
export { McpClient, type McpClientOptions } from '../client/index.ts';
export { RemoteError } from '../protocol/errors.ts';
export { LocalError } from '../protocol/local-error.ts';
export { connect, type ConnectOptions } from './connect.ts';
export type { CommandTarget, ConnectTarget, HttpTarget } from './open-peer.ts';
