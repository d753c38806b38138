/** The everyday entry on Node: servers, ways to serve them, and a way to reach them. */
export { McpClient, type McpClientOptions } from '../client/index.ts';
export { type HttpServer, serveHttp, type ServeHttpOptions } from '../node/index.ts';
export { McpError, RemoteError, ResourceNotFoundError } from '../protocol/errors.ts';
export { LocalError } from '../protocol/local-error.ts';
export { McpServer, type McpServerOptions, type RequestContext, ResourceTemplate, ToolError } from '../server/index.ts';
export { serveStdio, type ServeStdioOptions, type StdioServer } from '../stdio/serve-stdio.ts';
export { connect, type ConnectOptions } from './connect.ts';
export { type CommandTarget, type ConnectTarget, type HttpTarget } from './open-peer.ts';
