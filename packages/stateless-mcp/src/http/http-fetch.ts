import type { HeaderReader } from '../protocol/handler.ts';

/** What a client binding needs of an HTTP client. The `fetch` of every platform fits. */
export type HttpFetch = (url: string, request: HttpFetchRequest) => Promise<HttpFetchResponse>;

/** A request of {@link HttpFetch}. */
export interface HttpFetchRequest {
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
  /** Bun: switches off its own idle timer. Elsewhere ignored. */
  readonly timeout: false;
}

/** An answer of {@link HttpFetch}, as soon as its headers are here. */
export interface HttpFetchResponse {
  readonly status: number;
  readonly headers: HeaderReader;
  /** `opaqueredirect` in browsers, for a redirect that they do not show. */
  readonly type?: string;
  readonly body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null;
}

/** How far an HTTP client had come: looking up the name, connecting, securing the connection, or HTTP itself. */
export type HttpFetchPhase = 'dns' | 'connect' | 'tls' | 'http';

/** Where and when an {@link HttpFetchError} arose. */
export interface HttpFetchFailure {
  /** What went wrong, with the `code` of the platform. */
  readonly cause: unknown;
  readonly phase: HttpFetchPhase;
  /** Some byte of the request body may have reached the server. */
  readonly bodySent: boolean;
}

/**
 * No answer, or not the whole of it. Thrown by HTTP clients that know more about a failure than the `fetch` of a
 * platform tells; `cause` is the platform's own error.
 */
export class HttpFetchError extends Error {
  override readonly name = 'HttpFetchError';
  readonly phase: HttpFetchPhase;
  readonly bodySent: boolean;

  constructor(message: string, failure: HttpFetchFailure) {
    super(message, { cause: failure.cause });
    this.phase = failure.phase;
    this.bodySent = failure.bodySent;
  }
}
