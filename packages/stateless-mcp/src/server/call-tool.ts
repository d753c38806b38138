import { HeaderMismatchError, McpError, reportUnexpected } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import type { Logger } from '../protocol/logger.ts';
import { checkParameterHeaders } from '../protocol/parameter-headers.ts';
import type { CompiledSchema } from '../schema/compiled-schema.ts';
import { formatIssues } from '../schema/schema-issue.ts';
import { checkAccess, isVisible } from './access.ts';
import { invalidParams, objectParameter, stringParameter } from './invalid-params.ts';
import { isObject } from '../protocol/json.ts';
import type { Registry } from './registry.ts';
import { HandlerTimeoutError, runHandler } from './run-handler.ts';
import type { ToolDefinition, ToolResult } from './tool.ts';
import { ToolError } from './tool-error.ts';

/** `tools/call`. What the model can mend comes back as a result with `isError`, the rest as an error. */
export async function callTool(
  tools: Registry<ToolDefinition>,
  logger: Logger,
  request: McpRequest,
  exchange: Exchange,
): Promise<ToolResult> {
  const name = stringParameter(request.params, 'name');
  const toolArguments = objectParameter(request.params, 'arguments');
  const tool = tools.find(name);
  // Awaited only where there is something to ask: most tools are visible to everybody.
  if (tool === undefined || (tool.config.visible !== undefined && !(await isVisible(tool, exchange)))) {
    throw invalidParams(`unknown tool "${excerpt(name)}"`);
  }
  checkHeaders(tool, toolArguments, exchange);
  checkAccess(tool, request, exchange);

  try {
    const validated = tool.input.validate(toolArguments);
    const input = validated instanceof Promise ? await validated : validated;
    if ('issues' in input) {
      return failure(`Invalid arguments for ${tool.label}: ${formatIssues(input.issues, tool.input.json)}`);
    }
    const outcome = await runHandler(tool, request, exchange, (context) => tool.handler(input.value, context));
    return tool.output === undefined ? unstructured(tool, outcome) : await structured(tool, tool.output, outcome);
  } catch (error) {
    return failureOf(error, tool, exchange, logger);
  }
}

function checkHeaders(
  { parameterHeaders }: ToolDefinition,
  toolArguments: Readonly<Record<string, unknown>>,
  { http }: Exchange,
): void {
  if (parameterHeaders.length === 0 || http === undefined) return;
  const problem = checkParameterHeaders(parameterHeaders, toolArguments, (header) => http.headers.get(header));
  if (problem !== undefined) throw new HeaderMismatchError(problem);
}

// What cannot be a result is the author's mistake, and thrown like any other error of a handler.

function unstructured({ label }: ToolDefinition, outcome: unknown): ToolResult {
  if (typeof outcome === 'string') return textResult(outcome);
  if (isToolResult(outcome)) return outcome;
  throw new TypeError(
    `${label} returned ${describe(outcome)}; return a string, a result with "content", or declare an outputSchema`,
  );
}

async function structured({ label }: ToolDefinition, output: CompiledSchema, outcome: unknown): Promise<ToolResult> {
  // Structured output may have a member "content" of its own; a whole result also says what it is.
  const whole =
    isToolResult(outcome) && (outcome.isError === true || 'structuredContent' in outcome) ? outcome : undefined;
  if (whole?.isError === true) return whole;
  const validated = await output.validate(whole === undefined ? outcome : whole.structuredContent);
  if ('issues' in validated) {
    throw new TypeError(
      `${label} returned something else than its outputSchema says: ${formatIssues(validated.issues)}`,
    );
  }
  const structuredContent = validated.value;
  return { ...(whole ?? textResult(JSON.stringify(structuredContent))), structuredContent };
}

function failureOf(error: unknown, tool: ToolDefinition, exchange: Exchange, logger: Logger): ToolResult {
  if (error instanceof ToolError || error instanceof HandlerTimeoutError) return failure(error.message);
  if (error instanceof McpError) throw error;
  // Nobody reads the answer, and an aborted handler throws as it should.
  if (exchange.signal.aborted) return failure('The call was cancelled');
  const { reference } = reportUnexpected(error, tool.label, logger);
  return failure(`The tool failed unexpectedly (reference ${reference})`);
}

function textResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

function failure(text: string): ToolResult {
  return { ...textResult(text), isError: true };
}

function isToolResult(value: unknown): value is ToolResult {
  return (
    isObject(value) &&
    Array.isArray(value.content) &&
    value.content.every((block) => isObject(block) && typeof block.type === 'string')
  );
}

function describe(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
