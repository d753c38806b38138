import type { ProgressParams } from './notifications.ts';
import type { McpResult } from './result.ts';

/**
 * What an error that never was on a wire is about.
 *
 * - `aborted`: the caller gave up
 * - `timeout`: a limit of time ran out; `timer` says which
 * - `refused`: this end refused to do it, or to go on with it after a redirect
 * - `unreachable`: nobody answered; `phase` says how far it came
 * - `closed`: the connection, the process at its other end, or this end was closed before the answer was complete
 * - `unauthorized`: the server wants credentials (401) or others than these (403)
 * - `http_status`: an HTTP answer without a message in it; `status` and `body` show it
 * - `too_large`: more than a limit of this end allows
 * - `invalid_answer`: what came back is no answer that the protocol allows
 * - `input_required`: the server asks for something that this client does not answer; `result` has the questions
 * - `invalid_output`: a structured result that does not fit the schema its tool promised; `result` has it
 */
export type LocalErrorCode =
  | 'aborted'
  | 'timeout'
  | 'refused'
  | 'unreachable'
  | 'closed'
  | 'unauthorized'
  | 'http_status'
  | 'too_large'
  | 'invalid_answer'
  | 'input_required'
  | 'invalid_output';

/** How far a request had come when it failed: to its server (`spawn` … `auth`), or into the work itself. */
export type FailurePhase = 'spawn' | 'dns' | 'connect' | 'tls' | 'http' | 'auth' | 'negotiate' | 'list' | 'call';

/** What is known about a {@link LocalError}. Absent: does not apply. */
export interface LocalErrorFacts {
  readonly phase?: FailurePhase | undefined;
  /** The server may have done what was asked: asking again may do it twice. Default `false`. */
  readonly maybeExecuted?: boolean | undefined;
  /** Of `timeout`: the limit of silence (`idle`) or that of the whole request (`total`). */
  readonly timer?: 'idle' | 'total' | undefined;
  /** The last progress that was heard of. */
  readonly lastProgress?: ProgressParams | undefined;
  /** Of the HTTP answer. */
  readonly status?: number | undefined;
  /** The beginning of the HTTP answer, at most 2 KiB, without secrets. */
  readonly body?: string | undefined;
  /** `WWW-Authenticate` of a 401 or 403. */
  readonly challenge?: string | undefined;
  /** Milliseconds that the server asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Of a process that ended; `null` if a signal ended it. */
  readonly exitCode?: number | null | undefined;
  readonly exitSignal?: string | undefined;
  /** The last lines a process wrote to its error stream, without secrets. */
  readonly stderr?: readonly string[] | undefined;
  /** The result that was not acceptable. */
  readonly result?: McpResult | undefined;
}

/**
 * An error that arose at this end and never was on a wire. Match on `code`; `phase` says how far the request had come,
 * `maybeExecuted` whether it may have been carried out.
 */
export class LocalError extends Error implements LocalErrorFacts {
  override readonly name = 'LocalError';
  readonly code: LocalErrorCode;
  readonly maybeExecuted: boolean;
  declare readonly phase?: FailurePhase;
  declare readonly timer?: 'idle' | 'total';
  declare readonly lastProgress?: ProgressParams;
  declare readonly status?: number;
  declare readonly body?: string;
  declare readonly challenge?: string;
  declare readonly retryAfterMs?: number;
  declare readonly exitCode?: number | null;
  declare readonly exitSignal?: string;
  declare readonly stderr?: readonly string[];
  declare readonly result?: McpResult;

  constructor(
    code: LocalErrorCode,
    message: string,
    facts: LocalErrorFacts = {},
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
    this.maybeExecuted = facts.maybeExecuted === true;
    for (const [name, value] of Object.entries(facts)) {
      if (name !== 'maybeExecuted' && value !== undefined)
        Object.defineProperty(this, name, { value, enumerable: true });
    }
  }
}

/**
 * The error of a request whose caller gave it up: by a limit of time that it tells as the signal's reason, or for reasons of
 * its own.
 */
export function givenUp(reason: unknown, what: string, facts: LocalErrorFacts): LocalError {
  if (!(reason instanceof LocalError)) {
    return new LocalError('aborted', `${what} was given up by its caller`, facts, { cause: reason });
  }
  const { code, message, timer, lastProgress, cause } = reason;
  return new LocalError(code, message, { timer, lastProgress, ...facts }, { cause });
}

/** How far a request is when its server has it. */
export function phaseOf(row: { readonly name: string; readonly pages?: string } | undefined): FailurePhase {
  if (row?.pages !== undefined) return 'list';
  return row?.name === 'server/discover' ? 'negotiate' : 'call';
}
