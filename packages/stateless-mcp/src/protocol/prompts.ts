import type { ContentBlock, Role } from './content.ts';
import type { Icon } from './implementation.ts';
import type { InputResponseParams } from './input-required.ts';
import type { Meta } from './meta.ts';
import type { CacheableResult, McpResult, PaginatedResult } from './result.ts';

/** A blank to fill in before a prompt is used. */
export interface PromptArgument {
  readonly name: string;
  /** Display name. Absent: `name`. */
  readonly title?: string;
  readonly description?: string;
  /** Default `false`. */
  readonly required?: boolean;
}

/** A prompt as a list shows it. */
export interface Prompt {
  readonly name: string;
  /** Display name. Absent: `name`. */
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

export interface PromptMessage {
  readonly role: Role;
  readonly content: ContentBlock;
}

/** Result of `prompts/list`. */
export interface ListPromptsResult extends PaginatedResult, CacheableResult {
  readonly resultType: 'complete';
  readonly prompts: readonly Prompt[];
}

/** Parameters of `prompts/get`. */
export interface GetPromptParams extends InputResponseParams {
  readonly name: string;
  readonly arguments?: { readonly [name: string]: string };
}

/** Result of `prompts/get`. */
export interface GetPromptResult extends McpResult {
  readonly resultType: 'complete';
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}
