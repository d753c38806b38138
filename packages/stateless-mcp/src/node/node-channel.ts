import type { ServerResponse } from 'node:http';
import type { AnswerChannel, ChannelEvents } from '../http/answer-channel.ts';

/** An answer written to a `node:http` response. */
export class NodeChannel implements AnswerChannel {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  attach(events: ChannelEvents): void {
    // The response closes when it is written and when its reader is gone; the request closes as soon as it is read.
    this.#response.on('close', () => events.closed());
    this.#response.on('drain', () => events.drained());
    if (this.#response.destroyed) events.closed();
  }

  get bufferedBytes(): number {
    return this.#response.writableLength;
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body = ''): void {
    if (this.#response.headersSent || this.#response.destroyed) return;
    const bytes = Buffer.byteLength(body);
    this.#response.writeHead(status, status === 204 ? headers : { ...headers, 'Content-Length': bytes });
    this.#response.end(body);
  }

  open(headers: Readonly<Record<string, string>>): void {
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
