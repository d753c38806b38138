import type { AuthInfo, Logger, McpEndpoint, McpHandler } from '../../src/protocol/index.ts';
import type { WireMessage } from '../message-stream.ts';

/** A request as it is written. */
export interface WireRequest {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly method: string;
  readonly params: { readonly [key: string]: unknown; readonly _meta: Readonly<Record<string, unknown>> };
}

/** What goes along with a request. */
export interface SendOptions {
  readonly auth: AuthInfo | undefined;
  readonly signal: AbortSignal | undefined;
  readonly http: HttpRequestOptions | undefined;
}

/** How a request is sent where there is HTTP. */
export interface HttpRequestOptions {
  /** Default: takes both forms of answers. */
  readonly accept?: string;
  /** Added to the headers that mirror the message, or in their place. `undefined` takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** What HTTP says about an answer, beside the messages in it. */
export interface HttpDetails {
  readonly status: number;
  readonly headers: Headers;
  /** The answer is a stream of events. */
  readonly isStream: boolean;
}

/** One request whose answer is read piece by piece. */
export interface OpenAnswer extends AsyncDisposable {
  /** Absent where there is no HTTP. */
  readonly http: HttpDetails | undefined;
  /** The next message, the response included; `undefined` after the last one. */
  next(): Promise<WireMessage | undefined>;
  /** Leaves without reading the rest, and tells the server. */
  close(): Promise<void>;
}

/** A served endpoint as its client sees it. */
export interface Wire {
  /** Rejects, as does reading the answer, when `signal` is aborted. */
  open(request: WireRequest, options: SendOptions): Promise<OpenAnswer>;
  /** Stops the serving end in good order. */
  drain(): Promise<void>;
  /** Stops it at once. Rejects if it did on this wire what it must not do. */
  close(): Promise<void>;
}

export interface WireOptions {
  readonly logger?: Logger;
}

export type ServeWire = (endpoint: McpEndpoint | McpHandler, options: WireOptions) => Promise<Wire>;
