import type { ClientCapabilities } from './capabilities.ts';
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  UNSUPPORTED_PROTOCOL_VERSION,
} from './error-codes.ts';
import type { Logger } from './logger.ts';

/** What an {@link McpError} may carry beside its code and message. */
export interface McpErrorOptions {
  /** Sent to the peer as `error.data`. Any JSON value. */
  readonly data?: unknown;
  /** HTTP status of the answer. Default: by the code. Ignored by other bindings. */
  readonly status?: number;
  /** HTTP headers of the answer, such as `Retry-After`. Ignored by other bindings. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Kept for logs, never sent. */
  readonly cause?: unknown;
}

/**
 * An error to send: the only kind that leaves a handler as it is. Code, message and data reach the peer, so nothing
 * internal belongs into them. Codes of your own lie outside −32768 … −32000.
 *
 * @example throw new McpError(INVALID_PARAMS, 'There is no table "users2"', { data: { table: 'users2' } });
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
 */
export class McpError extends Error {
  override readonly name: string = 'McpError';
  readonly code: number;
  readonly data?: unknown;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;

  /** @throws TypeError, RangeError for a status or headers that HTTP cannot carry */
  constructor(code: number, message: string, options: McpErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    checkHttpOptions(options);
    this.code = code;
    if (options.data !== undefined) this.data = options.data;
    if (options.status !== undefined) this.status = options.status;
    if (options.headers !== undefined) this.headers = options.headers;
  }
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Checked where the error is made: when it is sent, nobody could be told any more. */
function checkHttpOptions({ status, headers }: McpErrorOptions): void {
  if (status !== undefined && !(Number.isInteger(status) && status >= 400 && status <= 599)) {
    throw new RangeError(`McpError: status must be an integer from 400 to 599, not ${String(status)}`);
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      throw new TypeError(`McpError: the header ${JSON.stringify(name)} has characters that HTTP cannot carry`);
    }
  }
}

/** −32020: a header is missing, malformed, or says something else than the body. */
export class HeaderMismatchError extends McpError {
  override readonly name = 'HeaderMismatchError';

  constructor(message: string) {
    super(HEADER_MISMATCH, message);
  }
}

/** −32021: the request cannot be served without capabilities that its client did not declare. */
export class MissingRequiredClientCapabilityError extends McpError {
  override readonly name = 'MissingRequiredClientCapabilityError';
  declare readonly data: { readonly requiredCapabilities: ClientCapabilities };

  /** @param requiredCapabilities only what is missing, in the shape in which a client declares it */
  constructor(requiredCapabilities: ClientCapabilities) {
    super(
      MISSING_REQUIRED_CLIENT_CAPABILITY,
      `This request needs client capabilities that it does not declare: ${Object.keys(requiredCapabilities).join(', ')}`,
      { data: { requiredCapabilities } },
    );
  }
}

/** −32022: the revision of the request is not served here. */
export class UnsupportedProtocolVersionError extends McpError {
  override readonly name = 'UnsupportedProtocolVersionError';
  declare readonly data: { readonly supported: readonly string[]; readonly requested: string };

  constructor(requested: string, supported: readonly string[]) {
    super(UNSUPPORTED_PROTOCOL_VERSION, `Unsupported protocol version: served here are ${supported.join(', ')}`, {
      data: { supported, requested },
    });
  }
}

/** −32602 with the URI in `data`: there is no such resource, or none that this caller may know of. */
export class ResourceNotFoundError extends McpError {
  override readonly name = 'ResourceNotFoundError';
  declare readonly data: { readonly uri: string };

  constructor(uri: string) {
    super(INVALID_PARAMS, 'Resource not found', { data: { uri } });
  }
}

/**
 * An error that a peer sent. Never sent on by itself: who relays it makes an {@link McpError} of it on purpose, because
 * its code speaks about another hop.
 */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly code: number;
  readonly data?: unknown;
  /** Of the HTTP answer that carried it. */
  readonly status?: number;
  /** Milliseconds that the server asks to wait before another attempt. */
  readonly retryAfterMs?: number;

  constructor(code: number, message: string, { data, status, retryAfterMs }: RemoteErrorFacts = {}) {
    super(message);
    this.code = code;
    if (data !== undefined) this.data = data;
    if (status !== undefined) this.status = status;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/** What a {@link RemoteError} may carry beside its code and message. */
export interface RemoteErrorFacts {
  readonly data?: unknown;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * The one way for whatever was thrown unexpectedly to become something that may be sent: the text goes to the log under
 * a reference id, the peer learns the id alone.
 */
export function reportUnexpected(thrown: unknown, where: string, logger: Logger): { readonly reference: string } {
  const reference = crypto.randomUUID();
  logger.error(`Unexpected error in ${where} (reference ${reference})`, { reference, where, error: thrown });
  return { reference };
}

/** `thrown` itself if it is an {@link McpError}; otherwise −32603 with the id under which it was logged. */
export function toMcpError(thrown: unknown, where: string, logger: Logger): McpError {
  if (thrown instanceof McpError) return thrown;
  const { reference } = reportUnexpected(thrown, where, logger);
  return new McpError(INTERNAL_ERROR, `Internal error (reference ${reference})`, { data: { reference } });
}
