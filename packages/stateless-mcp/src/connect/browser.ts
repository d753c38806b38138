/** The everyday entry where there is no Node: a way to reach servers. Serve with `stateless-mcp/http`. */
export { connect, type ConnectOptions } from './connect.ts';
export type { CommandTarget, ConnectTarget, HttpTarget } from './open-peer.ts';
