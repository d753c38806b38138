import { RemoteError } from '../protocol/errors.ts';
import { LocalError } from '../protocol/local-error.ts';

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

/**
 * Milliseconds after which a failed request may be made once more; `undefined`: it may not. What was refused before it was
 * carried out may, when the server says how long to wait; what may have been carried out only if that does no harm.
 */
export function repeatAfterMs(error: unknown, mayRepeat: boolean): number | undefined {
  if (error instanceof RemoteError) {
    const isRefused =
      error.status === TOO_MANY_REQUESTS ||
      error.code === TOO_MANY_REQUESTS ||
      error.code === UNAVAILABLE ||
      (error.status === UNAVAILABLE && mayRepeat);
    return isRefused ? error.retryAfterMs : undefined;
  }
  if (!(error instanceof LocalError)) return undefined;
  if (error.code === 'http_status') {
    const isRefused = error.status === TOO_MANY_REQUESTS || (error.status === UNAVAILABLE && mayRepeat);
    return isRefused ? error.retryAfterMs : undefined;
  }
  return error.code === 'closed' && (mayRepeat || !error.maybeExecuted) ? 0 : undefined;
}

/** The error of the second attempt. It does not hide that the first one may have been carried out. */
export function afterRepeat(first: unknown, second: unknown): unknown {
  const isHidden = first instanceof LocalError && first.maybeExecuted;
  if (!isHidden || !(second instanceof LocalError) || second.maybeExecuted) return second;
  const facts = Object.assign({}, second, { maybeExecuted: true });
  return new LocalError(second.code, second.message, facts, { cause: second.cause });
}
