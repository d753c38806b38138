import type { IncomingMessage } from 'node:http';
import type { HeaderReader } from '../protocol/handler.ts';
import type { HttpHead } from '../http/http-head.ts';

/** The head of a `node:http` request, read when asked for. */
export class NodeHead implements HttpHead, HeaderReader {
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method ?? '';
  }

  get url(): string {
    return this.#request.url ?? '';
  }

  get address(): string {
    return this.#request.socket.remoteAddress ?? '';
  }

  get headers(): HeaderReader {
    return this;
  }

  get(name: string): string | null {
    const { headers } = this.#request;
    const key = name.toLowerCase();
    const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
    if (value === undefined) return null;
    return typeof value === 'string' ? value : value.join(', ');
  }
}
