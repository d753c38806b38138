import { deferred } from '../protocol/deferred.ts';
import { INTERNAL_ERROR } from '../protocol/error-codes.ts';
import { McpError } from '../protocol/errors.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import type { Definition } from './definition.ts';
import { HandlerContext, type RequestContext } from './request-context.ts';

/** A handler took longer than its definition allows. */
export class HandlerTimeoutError extends McpError {
  constructor({ label, config }: Definition) {
    super(INTERNAL_ERROR, `${label} did not finish within its limit of ${config.timeoutMs} ms (timeoutMs)`);
  }
}

/** How a handler is run, where it is not the definition's main one for private results. */
export interface RunOptions {
  /** The result is declared to be the same for everybody, so that nothing may depend on the caller. */
  readonly isPublic?: boolean;
  /** Completion and listing do not take a place of those that `maxConcurrency` counts. */
  readonly isAside?: boolean;
}

/**
 * Runs a handler within the limits of its definition. However it settles, its context is closed afterwards: what the
 * handler left running can no longer send anything.
 *
 * @throws McpError 503 if too many run already; HandlerTimeoutError; whatever the handler throws
 */
export async function runHandler<Outcome>(
  definition: Definition,
  request: McpRequest,
  exchange: Exchange,
  handler: (context: RequestContext) => Outcome | Promise<Outcome>,
  { isPublic = false, isAside = false }: RunOptions = {},
): Promise<Outcome> {
  const { timeoutMs } = definition.config;
  const maxConcurrency = isAside ? undefined : definition.config.maxConcurrency;
  if (timeoutMs === undefined && maxConcurrency === undefined) {
    const context = new HandlerContext(request, exchange, undefined, isPublic);
    try {
      return await handler(context);
    } finally {
      context.end();
    }
  }
  const leave = maxConcurrency === undefined ? undefined : enter(definition, maxConcurrency);
  const deadline = timeoutMs === undefined ? undefined : new Deadline(definition, timeoutMs, exchange.signal);
  const context = new HandlerContext(request, exchange, deadline?.signal, isPublic);
  // A handler that goes on after its deadline still holds its place.
  const work = (async () => handler(context))().finally(leave);
  try {
    return await (deadline === undefined ? work : Promise.race([work, deadline.expired]));
  } finally {
    context.end();
    deadline?.clear();
  }
}

/** Counts a handler in; what is returned counts it out. */
function enter({ label, load }: Definition, maxConcurrency: number): () => void {
  if (load.running >= maxConcurrency) {
    throw new McpError(503, `${label} is busy: its limit is ${maxConcurrency} at once (maxConcurrency)`, {
      headers: { 'Retry-After': '1' },
    });
  }
  load.running += 1;
  return () => {
    load.running -= 1;
  };
}

class Deadline {
  readonly signal: AbortSignal;
  /** Rejects when time is up. */
  readonly expired: Promise<never>;
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(definition: Definition, timeoutMs: number, signal: AbortSignal) {
    const controller = new AbortController();
    this.signal = AbortSignal.any([signal, controller.signal]);
    const { promise, reject } = deferred<never>();
    this.expired = promise;
    this.#timer = setTimeout(() => {
      const error = new HandlerTimeoutError(definition);
      controller.abort(error);
      reject(error);
    }, timeoutMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
