import { openHttpPeer } from '#http';
import { loopback } from '../client/loopback.ts';
import type { HttpPeerOptions } from '../http/http-peer.ts';
import type { McpEndpoint } from '../protocol/handler.ts';
import { isObject } from '../protocol/json.ts';
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
  if (typeof target === 'function') return target;
  if (typeof target === 'string' || target instanceof URL) return openHttpPeer(target, {});
  if ('url' in target) {
    const { url, ...options } = target;
    return openHttpPeer(url, options);
  }
  if ('command' in target) {
    // Loaded only by those who start processes.
    const { stdioPeer } = await import('#stdio');
    return stdioPeer(target, target);
  }
  if (isObject(target) && 'handler' in target) return loopback(target);
  throw new TypeError('connect: the target must be a URL, { url }, { command }, a server, or a peer');
}
