import { constants } from 'node:os';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { protectStdout } from './protect-stdout.ts';
import { serveStream, type StreamServer } from './serve-stream.ts';
import { EOF_GRACE_MS } from './stream-binding.ts';
import type { DrainOptions } from '../protocol/drain-options.ts';
import type { StreamOptions } from './stream-options.ts';

/** Nobody is verified on standard streams: whoever started the process may do what it may. */
export type ServeStdioOptions = Omit<StreamOptions, 'auth'>;

/** The client that started this process, served. */
export type StdioServer = StreamServer;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** For whatever else keeps the process alive to come to its end. */
const LAST_WORK_MS = 1000;

let isServing = false;

/**
 * Serves an endpoint to the client that started this process, on standard input and output. Whatever else is written to
 * `process.stdout` goes to standard error; for what modules print while they are loaded, import
 * `stateless-mcp/stdio/guard` first.
 *
 * When the client closes standard input or is gone, and at SIGTERM, SIGINT and SIGHUP, listen streams complete, running
 * calls get two seconds, and the process ends once everything is written. A second signal ends it at once.
 *
 * @example
 * const { closed } = serveStdio(server);
 * await closed;
 * database.close(); // within a second: then the process is ended
 * @throws TypeError, RangeError for options that are not valid; Error if the standard streams are served already
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function serveStdio(endpoint: McpEndpoint | McpHandler, options: ServeStdioOptions = {}): StdioServer {
  if (isServing) throw new Error('serveStdio: this process serves its standard streams already');
  const writable = protectStdout();
  const server = serveStream(endpoint, { readable: process.stdin, writable }, options);
  isServing = true;

  let isEndedHere = false;
  let signals = 0;
  const onSignal = (signal: (typeof SIGNALS)[number]): void => {
    signals += 1;
    if (signals > 1) process.exit(128 + constants.signals[signal]);
    // A client that has closed standard input and sends a signal as well has lost its patience.
    void server.drain({ graceMs: process.stdin.readableEnded ? 0 : EOF_GRACE_MS });
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const endProcess = async (): Promise<void> => {
    await server.closed;
    // Who has ended it from within decides what becomes of the process.
    if (isEndedHere) for (const signal of SIGNALS) process.off(signal, onSignal);
    else setTimeout(() => process.exit(), LAST_WORK_MS).unref();
  };
  void endProcess();

  const drain = async (drainOptions?: DrainOptions): Promise<void> => {
    isEndedHere = true;
    await server.drain(drainOptions);
  };
  const close = async (): Promise<void> => drain({ graceMs: 0 });
  return { closed: server.closed, drain, close, [Symbol.asyncDispose]: close };
}
