import type { McpClientOptions } from '../client/client-options.ts';
import { McpClient } from '../client/mcp-client.ts';
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import { RemoteError } from '../protocol/errors.ts';
import { LocalError } from '../protocol/local-error.ts';
import { PROTOCOL_VERSION } from '../protocol/versions.ts';
import { type ConnectTarget, openPeer } from './open-peer.ts';

export interface ConnectOptions extends McpClientOptions {
  /** Gives the attempt up. Requests have signals of their own. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reaches a server and asks what it is. The client must be closed by whoever asked for it; if the attempt fails, nothing is
 * left behind.
 *
 * @example
 * await using client = await connect('http://127.0.0.1:3000/mcp');
 * const { tools } = await client.listTools();
 *
 * @example
 * await using client = await connect({ command: 'npx', args: ['-y', 'some-server'] });
 *
 * @example
 * await using client = await connect({ url: 'https://mcp.example.com/mcp', headers: { Authorization: `Bearer ${token}` } });
 *
 * @throws LocalError, RemoteError when the server is not reached or does not speak this revision; TypeError, RangeError for a
 * target or options that cannot be used
 */
export async function connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<McpClient> {
  const { signal, ...clientOptions } = options;
  signal?.throwIfAborted();
  const client = new McpClient(await openPeer(target), clientOptions);
  try {
    await client.discover({ signal });
    return client;
  } catch (error) {
    await client.close();
    throw asNegotiation(error, client.explain().endpoint);
  }
}

/**
 * A server that has an error of its own for the one method that every server of this revision has is one of an earlier
 * revision. What a server of this revision refuses it says with a code of the specification.
 */
function asNegotiation(error: unknown, endpoint: string): unknown {
  const isLegacy = error instanceof RemoteError && (error.code === METHOD_NOT_FOUND || isOfImplementation(error.code));
  if (!isLegacy) return error;
  return new LocalError(
    'invalid_answer',
    `${endpoint} does not know server/discover (${error.message}): if this is the right address, it does not speak revision ${PROTOCOL_VERSION}, but probably an earlier one`,
    { phase: 'negotiate', status: error.status },
    { cause: error },
  );
}

/** Codes that mean nothing across implementations. Servers with sessions answer so before a handshake. */
function isOfImplementation(code: number): boolean {
  return code <= -32000 && code > -32020;
}
