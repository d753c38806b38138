import type { ContentBlock } from './content.ts';
import type { Icon } from './implementation.ts';
import type { InputResponseParams } from './input-required.ts';
import type { Meta } from './meta.ts';
import type { CacheableResult, McpResult, PaginatedResult } from './result.ts';

/** Claims of a server about its tool. Hints only: never rely on them when the server is not trusted. */
export interface ToolAnnotations {
  /** Display name, second choice after the title of the tool. */
  readonly title?: string;
  /** Changes nothing. Default `false`. */
  readonly readOnlyHint?: boolean;
  /** May change or remove what exists, instead of only adding. Default `true`; without meaning on read-only tools. */
  readonly destructiveHint?: boolean;
  /** Calling it again with the same arguments changes nothing more. Default `false`. */
  readonly idempotentHint?: boolean;
  /** Reaches out to things beyond the server's own world. Default `true`. */
  readonly openWorldHint?: boolean;
}

/** JSON Schema (2020-12 unless `$schema` says otherwise) of an arguments object. */
export interface ToolInputSchema {
  readonly $schema?: string;
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** JSON Schema (2020-12 unless `$schema` says otherwise) of a structured result of any type. */
export interface ToolOutputSchema {
  readonly $schema?: string;
  readonly [keyword: string]: unknown;
}

/** A tool as a list shows it. */
export interface Tool {
  readonly name: string;
  /** Display name. Absent: `annotations.title`, then `name`. */
  readonly title?: string;
  /** Tells a model what the tool does and when to use it. */
  readonly description?: string;
  readonly inputSchema: ToolInputSchema;
  /** Absent: nothing is promised about `structuredContent`. */
  readonly outputSchema?: ToolOutputSchema;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** Result of `tools/list`. */
export interface ListToolsResult extends PaginatedResult, CacheableResult {
  readonly resultType: 'complete';
  readonly tools: readonly Tool[];
}

/** Parameters of `tools/call`. */
export interface CallToolParams extends InputResponseParams {
  readonly name: string;
  /** Absent means the same as `{}`. */
  readonly arguments?: { readonly [name: string]: unknown };
}

/** Result of `tools/call`. */
export interface CallToolResult extends McpResult {
  readonly resultType: 'complete';
  readonly content: readonly ContentBlock[];
  /** Any JSON value; fits the `outputSchema` of the tool if there is one. */
  readonly structuredContent?: unknown;
  /** The tool ran and failed, and `content` tells the model why. Default `false`. */
  readonly isError?: boolean;
}
