import type { Completion } from '../protocol/completion.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import { checkAccess, isVisible } from './access.ts';
import type { Completer, CompletionValues } from './completer.ts';
import type { Definition } from './definition.ts';
import { invalidParams } from './invalid-params.ts';
import { isObject } from '../protocol/json.ts';
import type { PromptDefinition } from './prompt.ts';
import type { Registry } from './registry.ts';
import type { TemplateDefinition } from './resource-template.ts';
import { runHandler } from './run-handler.ts';

/** More than this the protocol does not carry. */
const MAX_VALUES = 100;

interface Completable {
  readonly definition: Definition;
  readonly names: readonly string[];
  readonly completers: Readonly<Record<string, Completer>>;
}

/** `completion/complete`, for arguments of prompts and variables of resource templates. */
export async function complete(
  prompts: Registry<PromptDefinition>,
  templates: Registry<TemplateDefinition>,
  request: McpRequest,
  exchange: Exchange,
): Promise<{ readonly completion: Completion }> {
  const { ref, argument, context: completionContext } = request.params;
  if (!isObject(argument) || typeof argument.name !== 'string' || typeof argument.value !== 'string') {
    throw invalidParams('params.argument must have a "name" and a "value", both strings');
  }
  const { name, value } = argument;
  const chosen = chosenValues(completionContext);
  const { definition, names, completers } = await findCompletable(prompts, templates, ref, exchange);
  checkAccess(definition, request, exchange);
  if (!names.includes(name)) throw invalidParams(`${definition.label} has no argument "${excerpt(name)}"`);
  const completer = Object.hasOwn(completers, name) ? completers[name] : undefined;
  if (completer === undefined) return { completion: { values: [] } };
  const suggested: unknown = await runHandler(
    definition,
    request,
    exchange,
    (context) => completer(value, chosen, context),
    { isAside: true },
  );
  return { completion: toCompletion(suggested, definition.label) };
}

async function findCompletable(
  prompts: Registry<PromptDefinition>,
  templates: Registry<TemplateDefinition>,
  ref: unknown,
  exchange: Exchange,
): Promise<Completable> {
  if (isObject(ref) && ref.type === 'ref/prompt' && typeof ref.name === 'string') {
    const definition = prompts.find(ref.name);
    if (definition === undefined || !(await isVisible(definition, exchange))) {
      throw invalidParams(`unknown prompt "${excerpt(ref.name)}"`);
    }
    return { definition, names: definition.argumentNames, completers: definition.config.complete ?? {} };
  }
  if (isObject(ref) && ref.type === 'ref/resource' && typeof ref.uri === 'string') {
    const definition = templates.find(ref.uri);
    if (definition === undefined || !(await isVisible(definition, exchange))) {
      throw invalidParams(`unknown resource template "${excerpt(ref.uri)}"`);
    }
    const { uriTemplate, options } = definition.template;
    return { definition, names: uriTemplate.variableNames, completers: options.complete ?? {} };
  }
  throw invalidParams('params.ref must be a "ref/prompt" with a name or a "ref/resource" with a uri');
}

/** Without a prototype: the names come from a client. */
function chosenValues(context: unknown): Readonly<Record<string, string>> {
  const chosen: Record<string, string> = Object.create(null) as Record<string, string>;
  const given = isObject(context) ? context.arguments : undefined;
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
    if (typeof value === 'string') chosen[name] = value;
  }
  return chosen;
}

function toCompletion(suggested: unknown, label: string): Completion {
  const all = Array.isArray(suggested) ? { values: suggested, total: suggested.length } : suggested;
  if (!isCompletion(all)) {
    throw new TypeError(`A completer of ${label} must return strings, or { values, total?, hasMore? }`);
  }
  if (all.values.length <= MAX_VALUES) return all;
  return { ...all, values: all.values.slice(0, MAX_VALUES), hasMore: true };
}

function isCompletion(value: unknown): value is CompletionValues {
  return isObject(value) && Array.isArray(value.values) && value.values.every((item) => typeof item === 'string');
}
