import type { RequestContext } from './request-context.ts';

/** Suggestions for a value that is being typed. */
export interface CompletionValues {
  /** The best first. The protocol carries 100; more are cut off. */
  readonly values: readonly string[];
  /** How many there are in all, if known. */
  readonly total?: number;
  readonly hasMore?: boolean;
}

/**
 * Suggests values for one argument or variable.
 *
 * @param value what has been typed so far
 * @param chosen values of the other arguments, as far as the client knows them
 */
export type Completer = (
  value: string,
  chosen: Readonly<Record<string, string>>,
  context: RequestContext,
) => readonly string[] | CompletionValues | Promise<readonly string[] | CompletionValues>;
