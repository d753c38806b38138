import type { AudioContent, ContentBlock, ImageContent, Role, TextContent } from './content.ts';
import type { JsonObject } from './json.ts';
import type { Meta } from './meta.ts';
import type { Tool } from './tools.ts';

/** The model wants to call a tool. */
export interface ToolUseContent {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: { readonly [name: string]: unknown };
  /** Sent back with later messages, so that providers can cache. */
  readonly _meta?: Meta;
}

/** What the tool returned to the model. */
export interface ToolResultContent {
  readonly type: 'tool_result';
  /** The `id` of the tool use that it answers. */
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  /** Default `false`. */
  readonly isError?: boolean;
  /** Sent back with later messages, so that providers can cache. */
  readonly _meta?: Meta;
}

export type SamplingContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

export interface SamplingMessage {
  readonly role: Role;
  readonly content: SamplingContentBlock | readonly SamplingContentBlock[];
  readonly _meta?: Meta;
}

/** A wish for a model. */
export interface ModelHint {
  /** Part of a model name; the client may map it to a comparable model. */
  readonly name?: string;
}

/** Wishes about the model. The client decides. */
export interface ModelPreferences {
  /** The first that matches wins, before the priorities. */
  readonly hints?: readonly ModelHint[];
  /** 0 (does not matter) to 1 (matters most). */
  readonly costPriority?: number;
  /** 0 (does not matter) to 1 (matters most). */
  readonly speedPriority?: number;
  /** 0 (does not matter) to 1 (matters most). */
  readonly intelligencePriority?: number;
}

export interface ToolChoice {
  /** The model may, must, or must not use tools. Default `auto`. */
  readonly mode?: 'auto' | 'required' | 'none';
}

/** Parameters of {@link CreateMessageRequest}. */
export interface CreateMessageParams {
  readonly messages: readonly SamplingMessage[];
  /** Upper bound of what the model writes, in tokens. */
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly modelPreferences?: ModelPreferences;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** Needs the client capability `sampling.tools`. */
  readonly tools?: readonly Tool[];
  /** Needs the client capability `sampling.tools`. */
  readonly toolChoice?: ToolChoice;
  /** Default `none`; the other two are deprecated and need the client capability `sampling.context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  /** For the model provider, in its own format. */
  readonly metadata?: JsonObject;
}

/**
 * Asks the client to run a model, embedded in an input-required result.
 * @deprecated by revision 2026-07-28, still served.
 */
export interface CreateMessageRequest {
  readonly method: 'sampling/createMessage';
  readonly params: CreateMessageParams;
}

/** What the model wrote. */
export interface CreateMessageResult {
  readonly role: Role;
  readonly content: SamplingContentBlock | readonly SamplingContentBlock[];
  /** The model that was used. */
  readonly model: string;
  /** Why it stopped, if known; providers have reasons of their own. */
  readonly stopReason?: 'endTurn' | 'stopSequence' | 'maxTokens' | 'toolUse' | (string & {});
  readonly _meta?: Meta;
}
