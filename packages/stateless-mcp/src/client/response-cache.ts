import type { Clock } from '../protocol/clock.ts';
import { givenUp, phaseOf } from '../protocol/local-error.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { CacheHints, McpResult } from '../protocol/result.ts';
import { deepFreeze } from '../protocol/shared-json.ts';

const MAX_ENTRIES = 1000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** What a cached result is about, and therefore which changes end it. */
export interface CacheSubject {
  readonly kind: 'server' | 'tools' | 'prompts' | 'resources' | 'resource';
  /** Of a `resource`. */
  readonly uri?: string | undefined;
}

/** One look-up. */
export interface CachedRead<Result> {
  readonly row: MethodRow;
  /** With the method, everything that decides what the result is. */
  readonly subject: CacheSubject;
  /** `reload`: asks the server in any case, and keeps its answer. */
  readonly mode: 'default' | 'reload';
  /** Others may wait for the same answer. */
  readonly isShared: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly fetch: (signal: AbortSignal) => Promise<Result>;
}

interface Entry {
  readonly subject: CacheSubject;
  readonly result: McpResult;
  readonly expires: number;
  readonly characters: number;
}

/** A request that is under way, and those who wait for it. */
interface Flight {
  readonly key: string;
  readonly row: MethodRow;
  readonly subject: CacheSubject;
  readonly answer: Promise<McpResult>;
  readonly leaving: AbortController;
  waiting: number;
  /** What it asks for has changed since: its answer is given to those who wait, and not kept. */
  isStale: boolean;
}

export interface CacheStatistics {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
}

/**
 * The results of one client that servers allow to keep, for as long as they allow. One request at a time for the same thing:
 * who comes later waits for it too. Private to its client, so that `cacheScope` makes no difference here.
 *
 * Specification: server/utilities/caching.
 */
export class ResponseCache {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #flights = new Set<Flight>();
  readonly #shared = new Map<string, Flight>();
  #characters = 0;
  #hits = 0;
  #misses = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get statistics(): CacheStatistics {
    return { entries: this.#entries.size, hits: this.#hits, misses: this.#misses };
  }

  async read<Result extends McpResult>(read: CachedRead<Result>): Promise<Result> {
    const { row, mode, isShared, signal } = read;
    const key = keyOf(read);
    if (signal?.aborted === true) throw givenUp(signal.reason, row.name, {});
    if (mode === 'default') {
      const entry = this.#fresh(key);
      // The key names the method, and with it the type.
      if (entry !== undefined) return entry.result as Result;
    }
    const underWay = isShared && mode === 'default' ? this.#shared.get(key) : undefined;
    return this.#wait(underWay ?? this.#start(read), signal) as Promise<Result>;
  }

  /** The thing has changed: what is kept of it, or is being asked for, is not kept any longer. */
  invalidate(changed: CacheSubject): void {
    for (const [key, { subject }] of this.#entries) if (isAbout(subject, changed)) this.#remove(key);
    for (const flight of this.#flights) if (isAbout(flight.subject, changed)) this.#outdate(flight);
  }

  clear(): void {
    this.#entries.clear();
    this.#characters = 0;
    for (const flight of this.#flights) this.#outdate(flight);
  }

  #fresh(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.expires > this.#clock.now()) {
      this.#hits += 1;
      return entry;
    }
    this.#misses += 1;
    if (entry !== undefined) this.#remove(key);
    return undefined;
  }

  #start(read: CachedRead<McpResult>): Flight {
    const { row, subject, isShared, fetch } = read;
    const key = keyOf(read);
    const leaving = new AbortController();
    const flight: Flight = { key, row, subject, answer: fetch(leaving.signal), leaving, waiting: 0, isStale: false };
    this.#flights.add(flight);
    if (isShared) this.#shared.set(key, flight);
    flight.answer.then(
      (result) => this.#arrived(flight, result),
      // Those who wait hear of it.
      () => this.#outdate(flight),
    );
    return flight;
  }

  /** Nobody may join it any more, and its answer is not kept. */
  #outdate(flight: Flight): void {
    flight.isStale = true;
    this.#flights.delete(flight);
    if (this.#shared.get(flight.key) === flight) this.#shared.delete(flight.key);
  }

  async #wait(flight: Flight, signal: AbortSignal | undefined): Promise<McpResult> {
    flight.waiting += 1;
    if (signal === undefined) return flight.answer;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const { row } = flight;
        const error = givenUp(signal.reason, row.name, { phase: phaseOf(row), maybeExecuted: true });
        reject(error);
        flight.waiting -= 1;
        if (flight.waiting > 0) return;
        this.#outdate(flight);
        flight.leaving.abort(error);
      };
      signal.addEventListener('abort', leave, { once: true });
      flight.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #arrived(flight: Flight, result: McpResult): void {
    // Several callers have it now.
    if (flight.waiting > 1) deepFreeze(result);
    if (!flight.isStale) this.#keep(flight, result);
  }

  #keep(flight: Flight, result: McpResult): void {
    const { key, subject } = flight;
    this.#remove(key);
    // What was asked for earlier is no newer, whenever it comes.
    for (const earlier of this.#flights) {
      if (earlier.key === key) this.#outdate(earlier);
      if (earlier === flight) break;
    }
    const { ttlMs } = result as Partial<CacheHints>;
    // An answer to a retried request, or a question, is nobody's to keep.
    if (result.resultType !== 'complete' || ttlMs === undefined || ttlMs <= 0) return;
    const characters = charactersOf(result, MAX_CHARACTERS / 4);
    if (characters === undefined) return;
    this.#entries.set(key, { subject, result: deepFreeze(result), expires: this.#clock.now() + ttlMs, characters });
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#characters <= MAX_CHARACTERS) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#characters -= this.#entries.get(key)?.characters ?? 0;
    this.#entries.delete(key);
  }
}

/** About as many as its JSON has; `undefined` beyond the limit, which also bounds the time. */
function charactersOf(value: unknown, limit: number): number | undefined {
  let characters = 0;
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    characters += typeof next === 'string' ? next.length + 2 : 8;
    if (characters > limit) return undefined;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, member] of Object.entries(next)) {
      characters += name.length;
      rest.push(member);
    }
  }
  return characters;
}

function keyOf({ row, subject }: CachedRead<McpResult>): string {
  return `${row.name} ${subject.uri ?? ''}`;
}

/** A change of a resource may lie below the one that was read. */
function isAbout(subject: CacheSubject, changed: CacheSubject): boolean {
  if (subject.kind !== changed.kind) return false;
  return subject.kind !== 'resource' || changed.uri?.startsWith(subject.uri ?? '') === true;
}
