import type { AuthInfo } from '../protocol/auth-info.ts';
import type { Logger } from '../protocol/logger.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';

/** What all servers on byte streams have in common. */
export interface StreamOptions {
  /** Bytes of a message from the client. A longer one is answered with an error. Default: 4 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Bytes of a result. Default: 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Where unexpected errors go. Default: warnings and errors to the console's error stream. */
  readonly logger?: Logger | undefined;
  /** Who is at the other end, where whoever accepted the connection knows. Default: nobody is verified. */
  readonly auth?: AuthInfo | undefined;
}

export interface StreamLimits {
  readonly maxMessageBytes: number;
  readonly maxResponseBytes: number;
}

/** @throws RangeError for a limit that is not a positive integer */
export function streamLimitsOf({
  maxMessageBytes = 4 * 1024 * 1024,
  maxResponseBytes = 16 * 1024 * 1024,
}: StreamOptions): StreamLimits {
  checkPositiveInteger('StreamOptions', 'maxMessageBytes', maxMessageBytes);
  checkPositiveInteger('StreamOptions', 'maxResponseBytes', maxResponseBytes);
  return { maxMessageBytes, maxResponseBytes };
}
