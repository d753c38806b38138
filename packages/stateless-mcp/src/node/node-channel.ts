import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AnswerChannel, ChannelEvents } from '../http/answer-channel.ts';

/** An answer written to a `node:http` response. */
export class NodeChannel implements AnswerChannel {
  readonly #response: ServerResponse;
  #events: ChannelEvents | undefined;
  #lastBuffered = 0;
  #lastQueued = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  attach(events: ChannelEvents): void {
    // The response closes when it is written and when its reader is gone; the request closes as soon as it is read.
    this.#response.on('close', () => events.closed());
    this.#events = events;
    if (this.#response.destroyed) events.closed();
  }

  get bufferedBytes(): number {
    return this.#response.writableLength;
  }

  hasMoved(): boolean {
    const { socket } = this.#response;
    // Without a socket it waits behind an earlier answer of a pipelining client, which is no fault of its reader.
    if (socket === null) return true;
    const buffered = this.bufferedBytes;
    const queued = queuedBytes(socket);
    const moved = buffered === 0 || buffered < this.#lastBuffered || queued < this.#lastQueued;
    this.#lastBuffered = buffered;
    this.#lastQueued = queued;
    return moved;
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body = ''): void {
    if (this.#response.headersSent || this.#response.destroyed) return;
    const bytes = Buffer.byteLength(body);
    const all: Record<string, string | number> = { ...headers };
    if (status !== 204) all['Content-Length'] = bytes;
    // HTTP/2 has no such header.
    if (this.#response.req.httpVersionMajor >= 2) delete all.Connection;
    this.#response.writeHead(status, all);
    this.#response.end(body);
  }

  open(headers: Readonly<Record<string, string>>): void {
    this.#response.on('drain', () => this.#events?.drained());
    this.#response.writeHead(200, headers);
  }

  write(text: string): void {
    this.#response.write(text);
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }
}

/**
 * Bytes of the write under way that the system has not taken. `writableLength` counts a large answer as a whole until
 * all of it is gone; the handle knows better, and Node's own socket timeout looks at the same number.
 */
function queuedBytes(socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }): number {
  return socket._handle?.writeQueueSize ?? 0;
}
