/** What stands for `#http` where there is no node:http: the platform's own `fetch` is used. */
export { httpPeer as openHttpPeer } from '../http/http-peer.ts';
