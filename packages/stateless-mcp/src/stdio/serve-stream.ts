import type { Duplex, Readable, Writable } from 'node:stream';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { StreamBinding } from './stream-binding.ts';
import type { DrainOptions } from '../protocol/drain-options.ts';
import type { StreamOptions } from './stream-options.ts';

/** A connection that is served. */
export interface StreamServer extends AsyncDisposable {
  /** Resolves when the connection is over, whoever ended it. Never rejects. */
  readonly closed: Promise<void>;
  /** Stops in good order: listen streams complete, calls finish or are aborted after `graceMs`, then it closes. */
  drain(options?: DrainOptions): Promise<void>;
  /** Stops now: what still runs is aborted. */
  close(): Promise<void>;
}

/**
 * Serves an endpoint to one client on a byte stream of any kind, such as a Unix domain socket or a TCP connection: one
 * JSON-RPC message per line. When the client ends its side, listen streams complete, running calls get two seconds, and
 * the stream is ended behind their answers.
 *
 * @example
 * createServer((socket) => void serveStream(server, socket)).listen('/run/weather.sock');
 * @throws TypeError, RangeError for options that are not valid, and for streams of objects
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function serveStream(
  endpoint: McpEndpoint | McpHandler,
  stream: Duplex | { readonly readable: Readable; readonly writable: Writable },
  options: StreamOptions = {},
): StreamServer {
  const { readable, writable } = isDuplex(stream) ? { readable: stream, writable: stream } : stream;
  const binding = new StreamBinding(endpoint, readable, writable, options);
  // A client that says no more may still wait for answers; the binding ends the other side.
  if (isDuplex(stream)) stream.allowHalfOpen = true;
  const drain = async (drainOptions?: DrainOptions): Promise<void> => binding.drain(drainOptions);
  const close = async (): Promise<void> => binding.drain({ graceMs: 0 });
  return { closed: binding.closed, drain, close, [Symbol.asyncDispose]: close };
}

/** Not by its class: there are streams that are not made of Node's own. */
function isDuplex(stream: Parameters<typeof serveStream>[1]): stream is Duplex {
  return typeof stream.readable === 'boolean';
}
