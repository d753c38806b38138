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
    // A target that is a whole URL overrules the header (RFC 9112, 3.2.2).
    if (key === 'host' && !this.url.startsWith('/') && URL.canParse(this.url)) return new URL(this.url).host;
    const value = Object.hasOwn(headers, key) ? headers[key] : key === 'host' ? headers[':authority'] : undefined;
    if (value === undefined) return null;
    return typeof value === 'string' ? value : value.join(', ');
  }
}
