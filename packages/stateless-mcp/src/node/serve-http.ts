import { createServer, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import type { DrainOptions } from '../protocol/drain-options.ts';
import { HttpBinding } from '../http/http-binding.ts';
import type { HttpOptions } from '../http/http-options.ts';
import { LOOPBACK_HOSTS } from '../http/origin-guard.ts';
import { listenerOf } from './node-listener.ts';

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
  /** Of the endpoint, at the address it is bound to. */
  readonly url: string;
  readonly port: number;
  /** Stops in good order: listen streams complete, calls finish or are aborted after `graceMs`, then it closes. */
  drain(options?: DrainOptions): Promise<void>;
  /** Stops now: what still runs is aborted. */
  close(): Promise<void>;
}

/** For answers that are written but not yet on their way, when nothing else is left. */
const LAST_BYTES_MS = 500;

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
  const { port = 3000, host = '127.0.0.1', path = '/mcp' } = options;
  if (!path.startsWith('/')) throw new TypeError(`serveHttp: path must start with "/", not "${path}"`);
  const name = host.includes(':') ? `[${host}]` : host;
  const allowedHosts = options.allowedHosts ?? loopbackHosts(name);
  if (allowedHosts === undefined) {
    throw new TypeError(
      `serveHttp: with host "${host}", allowedHosts must name the hosts under which clients reach this server, or be 'any' if a proxy checks them`,
    );
  }
  const listener = listenerOf(new HttpBinding(endpoint, { ...options, allowedHosts }, path));
  const server = createServer((request, response) => listener(request, response));
  await listen(server, port, host);
  const { port: boundPort } = server.address() as AddressInfo;

  let ended: Promise<void> | undefined;
  const drain = async (drainOptions?: DrainOptions): Promise<void> => {
    ended ??= new Promise((resolve) => {
      // The port closes, but connections stay open: http.Server.close would cut off answers that are under way.
      NetServer.prototype.close.call(server, () => resolve());
    });
    await listener.drain(drainOptions);
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), LAST_BYTES_MS);
    await ended;
    clearTimeout(timer);
  };
  const close = async (): Promise<void> => drain({ graceMs: 0 });
  return { url: `http://${name}:${boundPort}${path}`, port: boundPort, drain, close, [Symbol.asyncDispose]: close };
}

function loopbackHosts(name: string): readonly string[] | undefined {
  const isLoopback = LOOPBACK_HOSTS.includes(name) || /^127(?:\.\d{1,3}){3}$/.test(name);
  return isLoopback ? [...LOOPBACK_HOSTS, name] : undefined;
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
