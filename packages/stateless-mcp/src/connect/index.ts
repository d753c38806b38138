/** The everyday entry on Node: a server and a way to serve it. */
export { type HttpServer, serveHttp, type ServeHttpOptions } from '../node/index.ts';
export { McpError, ResourceNotFoundError } from '../protocol/errors.ts';
export { McpServer, type McpServerOptions, type RequestContext, ResourceTemplate, ToolError } from '../server/index.ts';
