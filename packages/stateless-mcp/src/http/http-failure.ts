/** What went wrong on the way to a server, told so that people can do something about it. */
import { type FailurePhase, LocalError, type LocalErrorFacts } from '../protocol/local-error.ts';
import { isObject } from '../protocol/json.ts';
import { HttpFetchError } from './http-fetch.ts';

/** Error codes of the platforms for servers that were not reached. */
const UNREACHED: readonly (readonly [RegExp, FailurePhase])[] = [
  [/^(?:ENOTFOUND|EAI_\w+)$/, 'dns'],
  [/^(?:ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT)$/, 'connect'],
  [/^(?:CERT_\w+|ERR_TLS_CERT\w*|SELF_SIGNED\w*|DEPTH_ZERO\w*|UNABLE_TO_\w+)$/, 'tls'],
];

/** A connection may have these later too: they count together with what failed. */
const UNREACHED_AT_CONNECT = /^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN|ETIMEDOUT)$/;
const TLS_AT_ANY_TIME = /^(?:ERR_SSL\w*|ERR_TLS(?!_CERT)\w*|EPROTO)$/;

/** The request that failed. */
export interface FailedRequest {
  readonly endpoint: string;
  readonly method: string;
  /** How far it was if it had reached its server. */
  readonly phase: FailurePhase;
  /** The head of an answer has come: whatever fails after that, the server was reached. */
  readonly hasAnswer: boolean;
}

const REMEDY: Readonly<Partial<Record<FailurePhase, string>>> = {
  dns: 'its name cannot be looked up',
  connect: 'nothing accepts connections there',
  tls: 'no secure connection can be made',
};

export function fetchFailure(thrown: unknown, { endpoint, method, phase, hasAnswer }: FailedRequest): LocalError {
  const { code, syscall } = codeOf(thrown);
  const reached = hasAnswer ? 'http' : reachedPhase(thrown, code, syscall);
  const detail = code === undefined ? '' : ` (${code})`;
  if (reached === 'http') {
    const maybeExecuted = thrown instanceof HttpFetchError ? thrown.bodySent : true;
    const outcome = maybeExecuted ? 'it may have been carried out' : 'it was not sent';
    return new LocalError(
      'closed',
      `The connection to ${endpoint} ended before ${method} was answered${detail}: ${outcome}`,
      { phase, maybeExecuted },
      { cause: thrown },
    );
  }
  // A secured connection may break at any time, and the platform's code does not tell when.
  const maybeExecuted = !(thrown instanceof HttpFetchError) && code !== undefined && TLS_AT_ANY_TIME.test(code);
  const facts: LocalErrorFacts = { phase: reached, maybeExecuted };
  return new LocalError('unreachable', `Cannot reach ${endpoint}: ${REMEDY[reached] ?? ''}${detail}`, facts, {
    cause: thrown,
  });
}

function reachedPhase(thrown: unknown, code = '', syscall?: unknown): FailurePhase {
  if (thrown instanceof HttpFetchError) return thrown.phase;
  if (UNREACHED_AT_CONNECT.test(code)) return syscall === 'connect' ? 'connect' : 'http';
  return UNREACHED.find(([pattern]) => pattern.test(code))?.[1] ?? (TLS_AT_ANY_TIME.test(code) ? 'tls' : 'http');
}

/** The first code in the chain of causes; a failure on several addresses counts by its first. */
function codeOf(thrown: unknown): { readonly code?: string; readonly syscall?: unknown } {
  let error = thrown;
  for (let depth = 0; depth < 5 && isObject(error); depth++) {
    const { code, syscall } = error;
    if (typeof code === 'string' && code !== 'ERR_INVALID_STATE') return { code, syscall };
    error = Array.isArray(error.errors) ? error.errors[0] : error.cause;
  }
  return {};
}
