import { excerpt } from '../protocol/excerpt.ts';
import type { Logger } from '../protocol/logger.ts';

/** Why something that came in was skipped. */
export type IgnoredKind = 'noise' | 'invalid' | 'unexpected' | 'oversized' | 'error';

const EXCERPT_BYTES = 400;

/**
 * Counts what a server writes and nobody can use. It never is fatal, and only the first of its kind is shown: a server
 * that prints usually prints a lot.
 */
export class IgnoredLines {
  readonly #endpoint: string;
  readonly #logger: Logger;
  readonly #hint: string;
  readonly #redact: (text: string) => string;
  readonly #shown = new Set<IgnoredKind>();
  #count = 0;

  /** @param hint what to do about lines that are no messages */
  constructor(endpoint: string, logger: Logger, hint: string, redact: (text: string) => string) {
    this.#endpoint = endpoint;
    this.#logger = logger;
    this.#hint = hint;
    this.#redact = redact;
  }

  get count(): number {
    return this.#count;
  }

  add(kind: IgnoredKind, reason: string, line?: Uint8Array): void {
    this.#count += 1;
    if (this.#shown.has(kind)) return;
    this.#shown.add(kind);
    const hint = kind === 'noise' || kind === 'invalid' ? ` ${this.#hint}` : '';
    this.#logger.warn(
      `${this.#endpoint}: ${reason}, and was skipped.${hint} Further ones are counted and not shown.`,
      line === undefined ? {} : { line: this.#shownLine(line) },
    );
  }

  /** As a JSON string, so that control characters do nothing to a terminal. */
  #shownLine(line: Uint8Array): string {
    const text = new TextDecoder().decode(line.subarray(0, EXCERPT_BYTES));
    return JSON.stringify(excerpt(this.#redact(text)));
  }
}
