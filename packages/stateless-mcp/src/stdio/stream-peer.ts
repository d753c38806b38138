import type { Duplex, Readable, Writable } from 'node:stream';
import { isObject } from '../protocol/json.ts';
import { type FailurePhase, LocalError, phaseOf } from '../protocol/local-error.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import { METHODS, type MethodTable } from '../protocol/methods.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';
import { type McpPeer, PeerListeners, peerOf } from '../protocol/peer.ts';
import { redactSecrets } from '../protocol/redact.ts';
import { IgnoredLines } from './ignored-lines.ts';
import { PeerRequests } from './peer-requests.ts';
import { settlesWithin } from './settles-within.ts';
import { type LostRequest, StreamConnection } from './stream-connection.ts';

export interface StreamPeerOptions {
  /** Bytes of a message from the server. What is longer is skipped, and its request fails. Default: 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** What is at the other end, for messages and reports, such as the path of a socket. Default: `stream`. */
  readonly endpoint?: string | undefined;
  /** Methods that are known, those of extensions included. Default: those of the revision. */
  readonly methods?: MethodTable | undefined;
  /** Where warnings go. Default: the console's error stream. */
  readonly logger?: Logger | undefined;
}

/** For what was written to leave, when a peer is closed. */
const LAST_BYTES_MS = 500;
/** For answers that are on their way, when nothing more can be written. */
const LAST_ANSWERS_MS = 1000;

/**
 * A server at the other end of a byte stream of any kind, such as a Unix domain socket or a TCP connection: one JSON-RPC
 * message per line, all requests at the same time. Closing the peer ends the stream. A stream that is over stays so: for a
 * new one, make a new peer.
 *
 * Rejects with `RemoteError` for an error of the server and `LocalError` for what went wrong on the way.
 *
 * @example
 * const peer = streamPeer(createConnection('/run/weather.sock'), { endpoint: '/run/weather.sock' });
 * @throws TypeError, RangeError for a stream or options that cannot be used
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function streamPeer(
  stream: Duplex | { readonly readable: Readable; readonly writable: Writable },
  options: StreamPeerOptions = {},
): McpPeer {
  const { maxMessageBytes = 16 * 1024 * 1024, endpoint = 'stream', methods = METHODS } = options;
  checkPositiveInteger('streamPeer', 'maxMessageBytes', maxMessageBytes);
  const { readable, writable } = isDuplex(stream) ? { readable: stream, writable: stream } : stream;
  checkStreams(readable, writable);
  const logger = guarded(options.logger ?? consoleLogger);
  const listeners = new PeerListeners();
  const hint = 'Something else than the protocol is written into the stream.';
  const ignored = new IgnoredLines(endpoint, logger, hint, redactSecrets);

  const lost = async (cause: Error | undefined): Promise<void> => {
    await settlesWithin(connection.finished, LAST_ANSWERS_MS);
    connection.fail((request) => lostError(endpoint, request, cause));
  };
  const connection: StreamConnection = new StreamConnection(
    readable,
    writable,
    { endpoint, maxMessageBytes, logger, listeners, ignored },
    { lost: (cause) => void lost(cause) },
  );
  const requests = new PeerRequests(methods, () => connection);
  return peerOf(requests.handler, {
    endpoint,
    async close() {
      connection.fail(({ method, row, isWritten }) => {
        const facts = { phase: phaseOf(row), maybeExecuted: isWritten };
        return new LocalError('closed', `The connection to ${endpoint} was closed at this end: ${method}`, facts);
      });
      await settlesWithin(connection.end(), LAST_BYTES_MS);
      writable.destroy();
      readable.destroy();
    },
    explain: () => ({ endpoint, transport: 'stream', ...requests.report(), ignoredLines: ignored.count }),
    on: listeners.on,
  });
}

/** Not by its class: there are streams that are not made of Node's own. */
function isDuplex(stream: Parameters<typeof streamPeer>[0]): stream is Duplex {
  return isObject(stream) && typeof stream.readable === 'boolean';
}

function checkStreams(readable: unknown, writable: unknown): void {
  const areStreams =
    isObject(readable) &&
    typeof readable.on === 'function' &&
    isObject(writable) &&
    typeof writable.write === 'function';
  if (!areStreams) throw new TypeError('streamPeer: a Duplex is needed, or { readable, writable } of two streams');
  if (readable.readableObjectMode === true || writable.writableObjectMode === true) {
    throw new TypeError('streamPeer: a stream of bytes is needed, not one of objects');
  }
}

function lostError(endpoint: string, { method, row, isWritten }: LostRequest, cause: Error | undefined): LocalError {
  const phase = unreachedPhase(cause);
  const detail = cause === undefined ? '' : ` (${cause.message})`;
  return phase === undefined
    ? new LocalError(
        'closed',
        `The connection to ${endpoint} ended before ${method} was answered${detail}`,
        { phase: phaseOf(row), maybeExecuted: isWritten },
        { cause },
      )
    : new LocalError('unreachable', `Cannot reach ${endpoint}${detail}`, { phase }, { cause });
}

/** A socket takes what is written before it is connected. */
function unreachedPhase(cause: unknown): FailurePhase | undefined {
  const error: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(error instanceof Error) || !('syscall' in error)) return undefined;
  if (error.syscall === 'getaddrinfo') return 'dns';
  return error.syscall === 'connect' ? 'connect' : undefined;
}
