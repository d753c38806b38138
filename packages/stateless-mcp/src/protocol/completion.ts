import type { McpResult, RequestParams } from './result.ts';

/** Completes an argument of this prompt. */
export interface PromptReference {
  readonly type: 'ref/prompt';
  readonly name: string;
  /** Display name. Absent: `name`. */
  readonly title?: string;
}

/** Completes a variable of this resource template. */
export interface ResourceTemplateReference {
  readonly type: 'ref/resource';
  /** The template as it was listed, or a plain URI. */
  readonly uri: string;
}

/** The argument being typed, and what has been typed of it so far. */
export interface CompletionArgument {
  readonly name: string;
  readonly value: string;
}

/** What has been filled in already. */
export interface CompletionContext {
  readonly arguments?: { readonly [name: string]: string };
}

/** Parameters of `completion/complete`. */
export interface CompleteParams extends RequestParams {
  readonly ref: PromptReference | ResourceTemplateReference;
  readonly argument: CompletionArgument;
  readonly context?: CompletionContext;
}

/** Suggestions for one argument. */
export interface Completion {
  /** Best first, at most 100. */
  readonly values: readonly string[];
  /** How many there are altogether, if known. */
  readonly total?: number;
  /** There are more than these. Default `false`. */
  readonly hasMore?: boolean;
}

/** Result of `completion/complete`. */
export interface CompleteResult extends McpResult {
  readonly resultType: 'complete';
  readonly completion: Completion;
}
