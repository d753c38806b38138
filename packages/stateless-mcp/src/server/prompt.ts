import type { Meta } from '../protocol/meta.ts';
import type { Prompt, PromptMessage } from '../protocol/prompts.ts';
import { type CompiledSchema, compileInputSchema } from '../schema/compiled-schema.ts';
import { describeArguments } from '../schema/prompt-arguments.ts';
import type { ArgumentsOf, SchemaSource } from '../schema/schema-source.ts';
import type { SchemaValidator } from '../schema/schema-validator.ts';
import type { Completer } from './completer.ts';
import { checkHandler, define, type Definition, type DefinitionConfig } from './definition.ts';
import type { RequestContext } from './request-context.ts';

/** How a prompt is declared. */
export interface PromptConfig<
  Args extends SchemaSource | undefined = SchemaSource | undefined,
> extends DefinitionConfig {
  /** Schema of the arguments, an object. Their values are strings when they arrive. Default: no arguments. */
  readonly argsSchema?: Args;
  /** Suggests values, by argument. */
  readonly complete?: Readonly<Record<string, Completer>>;
}

/** A whole prompt, for handlers that return more than one text of the user. */
export interface PromptResult {
  readonly messages: readonly PromptMessage[];
  readonly description?: string;
  readonly _meta?: Meta;
}

/** Writes a prompt. A string becomes one message of the user. */
export type PromptHandler<Args extends SchemaSource | undefined> = (
  input: Args extends SchemaSource ? ArgumentsOf<Args> : object,
  context: RequestContext,
) => string | PromptResult | Promise<string | PromptResult>;

export interface PromptDefinition extends Definition {
  readonly config: PromptConfig;
  readonly input: CompiledSchema | undefined;
  readonly argumentNames: readonly string[];
  readonly handler: (input: unknown, context: RequestContext) => unknown;
}

export function compilePrompt(
  name: string,
  config: PromptConfig,
  handler: PromptDefinition['handler'],
  validator: SchemaValidator | undefined,
): PromptDefinition {
  const label = `prompt "${name}"`;
  if (name === '') throw new TypeError(`${label} needs a name`);
  checkHandler(label, handler);
  const input = config.argsSchema && compileInputSchema(config.argsSchema, { where: `${label} argsSchema`, validator });
  const promptArguments = input === undefined ? [] : describeArguments(input.json);
  const argumentNames = promptArguments.map((argument) => argument.name);
  for (const argument of Object.keys(config.complete ?? {})) {
    if (!argumentNames.includes(argument)) {
      throw new TypeError(`${label} complete.${argument}: its argsSchema has no argument of that name`);
    }
  }
  const entry: Prompt = {
    name,
    ...(promptArguments.length > 0 && { arguments: promptArguments }),
  };
  return { ...define(name, label, entry, config), config, input, argumentNames, handler };
}
