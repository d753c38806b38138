/** What went wrong on the way to a server, told so that people can do something about it. */
import { type FailurePhase, LocalError, type LocalErrorFacts } from '../protocol/local-error.ts';
import { isObject } from '../protocol/json.ts';
import { HttpFetchError } from './http-fetch.ts';

/** Error codes of the platforms for servers that were not reached. */
const UNREACHED: readonly (readonly [RegExp, FailurePhase])[] = [
  [/^(?:ENOTFOUND|EAI_\w+)$/, 'dns'],
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN|UND_ERR_CONNECT_TIMEOUT)$/, 'connect'],
  [/^(?:CERT_\w+|ERR_TLS\w*|ERR_SSL\w*|EPROTO|SELF_SIGNED\w*|DEPTH_ZERO\w*|UNABLE_TO_\w+)$/, 'tls'],
];

const REMEDY: Readonly<Partial<Record<FailurePhase, string>>> = {
  dns: 'its name cannot be looked up',
  connect: 'nothing accepts connections there',
  tls: 'no secure connection can be made',
};

/** @param phase how far the request was if it had reached its server */
export function fetchFailure(thrown: unknown, endpoint: string, method: string, phase: FailurePhase): LocalError {
  const code = codeOf(thrown);
  const reached = reachedPhase(thrown, code);
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
  const facts: LocalErrorFacts = { phase: reached };
  return new LocalError('unreachable', `Cannot reach ${endpoint}: ${REMEDY[reached] ?? ''}${detail}`, facts, {
    cause: thrown,
  });
}

function reachedPhase(thrown: unknown, code: string | undefined): FailurePhase {
  if (thrown instanceof HttpFetchError) return thrown.phase;
  return UNREACHED.find(([pattern]) => code !== undefined && pattern.test(code))?.[1] ?? 'http';
}

/** The first code in the chain of causes; a failure on several addresses counts by its first. */
function codeOf(thrown: unknown): string | undefined {
  let error = thrown;
  for (let depth = 0; depth < 5 && isObject(error); depth++) {
    if (typeof error.code === 'string' && error.code !== 'ERR_INVALID_STATE') return error.code;
    error = Array.isArray(error.errors) ? error.errors[0] : error.cause;
  }
  return undefined;
}
