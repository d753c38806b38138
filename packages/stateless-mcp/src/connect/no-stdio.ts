import type { McpPeer } from '../protocol/peer.ts';

/** What stands for `#stdio` where no process can be started. */
export function stdioPeer(): McpPeer {
  throw new TypeError('connect: a command can only be started on Node, Bun or Deno; give a URL here');
}
