/** MCP over standard streams, and over any other stream of bytes: both ends. */
export { serveStdio, type ServeStdioOptions, type StdioServer } from './serve-stdio.ts';
export { serveStream, type StreamServer } from './serve-stream.ts';
export { type StdioCommand, stdioPeer, type StdioPeerOptions } from './stdio-peer.ts';
export type { DrainOptions } from '../protocol/drain-options.ts';
export type { StreamOptions } from './stream-options.ts';
export { streamPeer, type StreamPeerOptions } from './stream-peer.ts';
