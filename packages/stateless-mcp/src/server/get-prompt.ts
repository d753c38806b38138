import { excerpt } from '../protocol/excerpt.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import { formatIssues } from '../schema/schema-issue.ts';
import { checkAccess, isVisible } from './access.ts';
import { invalidParams, objectParameter, stringParameter } from './invalid-params.ts';
import { isObject } from '../protocol/json.ts';
import type { PromptDefinition, PromptResult } from './prompt.ts';
import type { Registry } from './registry.ts';
import { runHandler } from './run-handler.ts';

/** `prompts/get`. */
export async function getPrompt(
  prompts: Registry<PromptDefinition>,
  request: McpRequest,
  exchange: Exchange,
): Promise<PromptResult> {
  const name = stringParameter(request.params, 'name');
  const promptArguments = objectParameter(request.params, 'arguments');
  for (const [argument, value] of Object.entries(promptArguments)) {
    if (typeof value !== 'string') throw invalidParams(`params.arguments.${excerpt(argument)} must be a string`);
  }
  const prompt = prompts.find(name);
  if (prompt === undefined || !(await isVisible(prompt, exchange)))
    throw invalidParams(`unknown prompt "${excerpt(name)}"`);
  checkAccess(prompt, request, exchange);
  const validated = await prompt.input?.validate(promptArguments);
  if (validated !== undefined && 'issues' in validated) {
    throw invalidParams(`arguments of ${prompt.label}: ${formatIssues(validated.issues, prompt.input?.json)}`);
  }
  const outcome = await runHandler(prompt, request, exchange, (context) =>
    prompt.handler(validated?.value ?? {}, context),
  );
  return toPromptResult(prompt, outcome);
}

function toPromptResult({ label, config }: PromptDefinition, outcome: unknown): PromptResult {
  const description = config.description === undefined ? undefined : { description: config.description };
  if (typeof outcome === 'string') {
    const messages = [{ role: 'user', content: { type: 'text', text: outcome } }] as const;
    return { ...description, messages };
  }
  if (isPromptResult(outcome)) return { ...description, ...outcome };
  throw new TypeError(`${label} returned neither a string nor a result with "messages"`);
}

function isPromptResult(value: unknown): value is PromptResult {
  return isObject(value) && Array.isArray(value.messages) && value.messages.every(isObject);
}
