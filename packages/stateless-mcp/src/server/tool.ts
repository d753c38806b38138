import type { ContentBlock } from '../protocol/content.ts';
import type { Meta } from '../protocol/meta.ts';
import { compileParameterHeaders, type ParameterHeader } from '../protocol/parameter-headers.ts';
import type { Tool, ToolAnnotations } from '../protocol/tools.ts';
import { type CompiledSchema, compileInputSchema, compileOutputSchema } from '../schema/compiled-schema.ts';
import type { SchemaValidator } from '../schema/schema-validator.ts';
import type { ArgumentsOf, ResultOf, SchemaSource } from '../schema/schema-source.ts';
import { checkHandler, define, type Definition, type DefinitionConfig } from './definition.ts';
import type { RequestContext } from './request-context.ts';

/** How a tool is declared. */
export interface ToolConfig<
  Input extends SchemaSource | undefined = SchemaSource | undefined,
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> extends DefinitionConfig {
  /** Schema of the arguments: a Standard Schema that can tell its JSON Schema, or a JSON Schema. Default: no arguments. */
  readonly inputSchema?: Input;
  /** Schema of `structuredContent`. What a handler returns is checked against it before it is sent. */
  readonly outputSchema?: Output;
  /** Hints for clients; they are not enforced. */
  readonly annotations?: ToolAnnotations;
}

/** A whole tool result, for handlers that return more than a text. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  /** Checked against the tool's `outputSchema`, if it has one. */
  readonly structuredContent?: unknown;
  /** The call failed, and the content tells the model why. */
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

/**
 * Does the work of a tool. Without an `outputSchema`, a string becomes a text and a {@link ToolResult} is sent as it is.
 * With one, what is returned becomes `structuredContent` and its JSON the text, unless it is a whole result that says so
 * by `structuredContent` or `isError`.
 */
export type ToolHandler<Input extends SchemaSource | undefined, Output extends SchemaSource | undefined> = (
  input: Input extends SchemaSource ? ArgumentsOf<Input> : object,
  context: RequestContext,
) => ToolReturn<Output> | Promise<ToolReturn<Output>>;

/** What the handler of a tool may return. */
export type ToolReturn<Output extends SchemaSource | undefined> =
  | ToolResult
  | (Output extends SchemaSource ? ResultOf<Output> : string);

export interface ToolDefinition extends Definition {
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly parameterHeaders: readonly ParameterHeader[];
  readonly handler: (input: unknown, context: RequestContext) => unknown;
}

/** Truthful for a tool without arguments, and what is checked. */
const NO_ARGUMENTS = Object.freeze({ type: 'object', additionalProperties: false });

const MAX_NAME_LENGTH = 128;

export function compileTool(
  name: string,
  config: ToolConfig,
  handler: ToolDefinition['handler'],
  validator: SchemaValidator | undefined,
): ToolDefinition {
  const label = `tool "${name}"`;
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) {
    throw new RangeError(`${label}: a name has 1 to ${MAX_NAME_LENGTH} characters`);
  }
  checkHandler(label, handler);
  const input = compileInputSchema(config.inputSchema ?? NO_ARGUMENTS, { where: `${label} inputSchema`, validator });
  const output =
    config.outputSchema && compileOutputSchema(config.outputSchema, { where: `${label} outputSchema`, validator });
  const compiled = compileParameterHeaders(input.json);
  if ('problem' in compiled) throw new TypeError(`${label} inputSchema: ${compiled.problem}`);
  const entry: Tool = {
    name,
    inputSchema: input.json,
    ...(output && { outputSchema: output.json }),
    ...(config.annotations && { annotations: config.annotations }),
  };
  return {
    ...define(name, label, entry, config),
    config,
    input,
    output,
    parameterHeaders: compiled.headers,
    handler,
  };
}
