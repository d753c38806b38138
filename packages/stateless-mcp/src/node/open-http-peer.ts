import { httpPeer, type HttpPeerOptions } from '../http/http-peer.ts';
import { type McpPeer, peerOf } from '../protocol/peer.ts';
import { nodeFetch } from './node-fetch.ts';

/** `httpPeer` with the HTTP client of this platform: on Node one of its own, whose connections are closed with the peer. */
export function openHttpPeer(url: string | URL, options: HttpPeerOptions): McpPeer {
  if (options.fetch !== undefined) return httpPeer(url, options);
  const fetch = nodeFetch();
  const peer = httpPeer(url, { ...options, fetch });
  return peerOf(peer, {
    ...peer,
    close: async () => {
      await peer.close();
      fetch.close();
    },
  });
}
