import { type Clock, systemClock } from '../protocol/clock.ts';
import { RemoteError } from '../protocol/errors.ts';
import type { Exchange, McpHandler, McpRequest } from '../protocol/handler.ts';
import { isObject } from '../protocol/json.ts';
import type { Listener } from './client-options.ts';
import { givenUp, LocalError, phaseOf } from '../protocol/local-error.ts';
import type { Logger } from '../protocol/logger.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { ExtensionNotification, LogParams, McpNotification, ProgressParams } from '../protocol/notifications.ts';
import type { McpResult } from '../protocol/result.ts';
import { MODERN_VERSIONS } from '../protocol/versions.ts';

/** A client never drains the peers it calls. */
const NEVER = new AbortController().signal;

/** What the caller of one request wants to hear, and how long it waits. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** When the total begins: this request may be one of several that share it. */
  readonly started: number;
  readonly onProgress?: Listener<ProgressParams> | undefined;
  readonly onLog?: Listener<LogParams> | undefined;
  /** Of a listen stream: everything that arrives on it, the acknowledgement first. */
  readonly onNotification?: Listener<McpNotification | ExtensionNotification> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * One request and its limits of time. Silence is measured from the last sign of life: progress, a log message, a comment on
 * an event stream. Whoever gives up gets the error at once, whatever the peer does about it.
 */
export class Call implements Exchange {
  readonly closing: AbortSignal = NEVER;
  readonly wantsProgress = true;
  readonly versions: readonly string[] = MODERN_VERSIONS;
  readonly #row: MethodRow;
  readonly #options: CallOptions;
  readonly #leaving = new AbortController();
  #lastSign: number;
  #lastProgress: ProgressParams | undefined;
  #cancelTimer: (() => void) | undefined;
  /** Listeners that hold back what comes next. */
  #holding = 0;
  #settled = false;

  constructor(row: MethodRow, options: CallOptions) {
    this.#row = row;
    this.#options = options;
    this.#lastSign = options.clock.now();
  }

  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  async run(peer: McpHandler, request: McpRequest): Promise<McpResult> {
    const { signal } = this.#options;
    if (signal?.aborted === true) throw givenUp(signal.reason, request.method, {});
    return new Promise<McpResult>((resolve, reject) => {
      const leave = (): void => this.#giveUp(signal?.reason, settle);
      const settle = (error: unknown, result?: McpResult): void => {
        this.#settled = true;
        this.#cancelTimer?.();
        signal?.removeEventListener('abort', leave);
        if (result === undefined) reject(error);
        else resolve(result);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#startTimer(settle);
      try {
        peer(request, this).then(
          (result) => settle(undefined, result),
          (error: unknown) => settle(this.#explained(error)),
        );
      } catch (error) {
        // A peer may be any function.
        settle(error);
      }
    });
  }

  notify(notification: McpNotification | ExtensionNotification): void | Promise<void> {
    if (this.#settled || this.signal.aborted) return undefined;
    this.alive();
    const { onProgress, onLog, onNotification } = this.#options;
    switch (notification.method) {
      case 'notifications/progress':
        this.#lastProgress = notification.params as ProgressParams;
        return this.#tell(onProgress, notification.params as ProgressParams);
      case 'notifications/message':
        return this.#tell(onLog, notification.params as LogParams);
      case 'notifications/subscriptions/acknowledged':
        // Open from here on, for as long as both ends like.
        if (this.#row.stream === true) this.#cancelTimer?.();
        return this.#tell(onNotification, notification);
      default:
        return this.#tell(onNotification, notification);
    }
  }

  alive(): void {
    this.#lastSign = this.#options.clock.now();
  }

  /** Code of the caller: its failures are its own, and reading goes on. */
  #tell<Value>(listener: Listener<Value> | undefined, value: Value): void | Promise<void> {
    const failed = (error: unknown): void => {
      this.#options.logger.error(`A listener of ${this.#row.name} failed`, { error });
    };
    try {
      const held: unknown = listener?.(value);
      if (!isPromise(held)) return undefined;
      this.#holding += 1;
      return Promise.resolve(held)
        .catch(failed)
        .finally(() => {
          this.#holding -= 1;
          this.alive();
        });
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  /** One timer for both limits; signs of life only move the moment it asks about. */
  #startTimer(settle: (error: LocalError) => void): void {
    const { clock, started, idleTimeoutMs, totalTimeoutMs } = this.#options;
    const idleEnd = this.#lastSign + idleTimeoutMs;
    const totalEnd = started + totalTimeoutMs;
    const delay = Math.max(1, Math.ceil(Math.min(idleEnd, totalEnd) - clock.now()));
    this.#cancelTimer = clock.after(delay, () => {
      const now = clock.now();
      // While nobody reads, silence says nothing.
      if (this.#holding > 0) this.alive();
      if (now >= totalEnd) this.#giveUp(this.#timeout('total'), settle);
      else if (now >= this.#lastSign + idleTimeoutMs) this.#giveUp(this.#timeout('idle'), settle);
      else this.#startTimer(settle);
    });
  }

  #timeout(timer: 'idle' | 'total'): LocalError {
    const { idleTimeoutMs, totalTimeoutMs } = this.#options;
    const limit = timer === 'idle' ? idleTimeoutMs : totalTimeoutMs;
    const text =
      timer === 'idle'
        ? `no sign of life for ${limit} ms (idleTimeoutMs)`
        : `it was not done after ${limit} ms (totalTimeoutMs)`;
    const progress = this.#lastProgress;
    const heard = progress === undefined ? 'no progress was heard of' : `the last progress was ${describe(progress)}`;
    return new LocalError('timeout', `${this.#row.name} timed out: ${text}; ${heard}`, {
      timer,
      lastProgress: progress,
      phase: phaseOf(this.#row),
      maybeExecuted: true,
    });
  }

  /** A peer knows whether anything was sent, and says so at once; one that says nothing is not waited for. */
  #giveUp(reason: unknown, settle: (error: LocalError) => void): void {
    this.#cancelTimer?.();
    // Not a matter of time, but of one turn of the event loop.
    this.#cancelTimer = systemClock.after(0, () => {
      settle(givenUp(reason, this.#row.name, { phase: phaseOf(this.#row), maybeExecuted: true }));
    });
    this.#leaving.abort(reason);
  }

  /** Who gave up hears that, in whatever words the peer says it. */
  #explained(error: unknown): unknown {
    if (!this.signal.aborted || error instanceof RemoteError) return error;
    const isLocal = error instanceof LocalError;
    if (isLocal && (error.code === 'aborted' || error.code === 'timeout')) return error;
    const maybeExecuted = isLocal ? error.maybeExecuted : true;
    return givenUp(this.signal.reason, this.#row.name, { phase: phaseOf(this.#row), maybeExecuted });
  }
}

/** Of what a server wrote there, only `progress` has been looked at. */
function describe({ progress, total, message }: ProgressParams): string {
  const amount = typeof total === 'number' ? `${progress} of ${total}` : String(progress);
  return typeof message === 'string' ? `${amount} ("${message.slice(0, 100)}")` : amount;
}

/** A listener may return anything. */
function isPromise(value: unknown): value is PromiseLike<void> {
  return isObject(value) && typeof value.then === 'function';
}
