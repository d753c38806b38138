import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import { McpError } from '../protocol/errors.ts';
import { serialiseError } from '../protocol/json-rpc.ts';
import type { DrainOptions } from '../http/http-binding.ts';
import type { HttpOptions } from '../http/http-options.ts';
import { LOOPBACK_HOSTS } from '../http/origin-guard.ts';
import { nodeListener } from './node-listener.ts';

export interface ServeHttpOptions extends HttpOptions {
  /** Default: 3000. 0: any that is free. */
  readonly port?: number;
  /** Address to bind to. Default: 127.0.0.1, this machine alone. Any other needs `allowedHosts`. */
  readonly host?: string;
  /** Path of the endpoint. Default: /mcp. */
  readonly path?: string;
}

/** A running server. */
export interface HttpServer extends AsyncDisposable {
  /** Of the endpoint, as clients on this machine reach it. */
  readonly url: string;
  readonly port: number;
  /** Stops in good order: listen streams complete, calls finish or are aborted after `graceMs`, then it closes. */
  drain(options?: DrainOptions): Promise<void>;
  /** Stops now: what still runs is aborted. */
  close(): Promise<void>;
}

/**
 * Serves an endpoint over Streamable HTTP. On a loopback address, hosts and origins of this machine are allowed and
 * nothing else.
 *
 * @example const { url } = await serveHttp(server, { port: 3000 });
 * @throws TypeError, RangeError for options that are not valid; the system's error if the port cannot be had
 */
export async function serveHttp(
  endpoint: McpEndpoint | McpHandler,
  options: ServeHttpOptions = {},
): Promise<HttpServer> {
  const { port = 3000, host = '127.0.0.1', path = '/mcp', ...httpOptions } = options;
  if (!path.startsWith('/')) throw new TypeError(`serveHttp: path must start with "/", not "${path}"`);
  const isLoopback = LOOPBACK_HOSTS.includes(host) || host === '::1' || host.startsWith('127.');
  const allowedHosts = options.allowedHosts ?? (isLoopback ? LOOPBACK_HOSTS : undefined);
  if (allowedHosts === undefined) {
    throw new TypeError(
      `serveHttp: with host "${host}", allowedHosts must name the hosts under which clients reach this server, or be 'any' if a proxy checks them`,
    );
  }
  const listener = nodeListener(endpoint, { ...httpOptions, allowedHosts });
  const server = createServer((request, response) => {
    if (request.url === path || request.url?.split('?', 1)[0] === path) {
      listener(request, response);
      return;
    }
    const error = new McpError(METHOD_NOT_FOUND, `Not found: the MCP endpoint of this server is ${path}`);
    const body = serialiseError(undefined, error);
    response.writeHead(404, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: boundPort } = server.address() as AddressInfo;
  const drain = async (drainOptions?: DrainOptions): Promise<void> => {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    await listener.drain(drainOptions);
    server.closeAllConnections();
    await closed;
  };
  const close = async (): Promise<void> => drain({ graceMs: 0 });
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${boundPort}${path}`, port: boundPort, drain, close, [Symbol.asyncDispose]: close };
}
