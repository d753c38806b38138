import { openHttpPeer } from '#http';
import { loopback } from '../client/loopback.ts';
import type { HttpPeerOptions } from '../http/http-peer.ts';
import type { McpEndpoint } from '../protocol/handler.ts';
import type { McpPeer } from '../protocol/peer.ts';
import type { StdioCommand, StdioPeerOptions } from '../stdio/stdio-peer.ts';

/** A server over HTTP, with what requests to it need. */
export interface HttpTarget extends HttpPeerOptions {
  readonly url: string | URL;
}

/** A server that is started as a process of this one. */
export interface CommandTarget extends StdioCommand, StdioPeerOptions {}

/** Where a server is: its URL, the command that starts it, the server itself, or a peer that somebody has opened. */
export type ConnectTarget = string | URL | HttpTarget | CommandTarget | McpEndpoint | McpPeer;

/**
 * Opens the peer that fits the target. Nothing is sent yet.
 *
 * @throws TypeError, RangeError for a target or options that cannot be used
 */
export async function openPeer(target: ConnectTarget): Promise<McpPeer> {
  if (typeof target === 'string' || target instanceof URL) return openHttpPeer(target, {});
  if (isPeer(target)) return target;
  if (typeof target === 'object' && target !== null) {
    if ('url' in target) return openHttpPeer(target.url, target);
    if ('command' in target) {
      // Loaded only by those who start processes.
      const { stdioPeer } = await import('#stdio');
      return stdioPeer(target, target);
    }
    if ('handler' in target) return loopback(target);
  }
  throw new TypeError('connect: the target must be a URL, { url }, { command }, a server, or a peer');
}

/** A bare handler is no peer: nobody could close it. */
function isPeer(target: unknown): target is McpPeer {
  return typeof target === 'function' && 'close' in target && 'explain' in target;
}
