import { HeaderMismatchError, McpError, reportUnexpected } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import type { Logger } from '../protocol/logger.ts';
import { checkParameterHeaders } from '../protocol/parameter-headers.ts';
import type { CallToolResult } from '../protocol/tools.ts';
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
): Promise<CallToolResult> {
  const name = stringParameter(request.params, 'name');
  const toolArguments = objectParameter(request.params, 'arguments');
  const tool = tools.find(name);
  if (tool === undefined || !(await isVisible(tool, exchange))) throw invalidParams(`unknown tool "${excerpt(name)}"`);
  checkHeaders(tool, toolArguments, exchange);
  checkAccess(tool, request, exchange);

  try {
    const validated = tool.input.validate(toolArguments);
    const input = validated instanceof Promise ? await validated : validated;
    if ('issues' in input) {
      return failure(`Invalid arguments for ${tool.label}: ${formatIssues(input.issues, tool.input.json)}`);
    }
    const outcome = await runHandler(tool, request, exchange, (context) => tool.handler(input.value, context));
    return await toCallToolResult(tool, outcome);
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

/** Makes a whole result of what a handler returned. Throws for what cannot be one: that is the author's mistake. */
async function toCallToolResult(tool: ToolDefinition, outcome: unknown): Promise<CallToolResult> {
  if (tool.output === undefined) {
    if (typeof outcome === 'string') return textResult(outcome);
    if (isToolResult(outcome)) return { resultType: 'complete', ...outcome };
    throw new TypeError(
      `${tool.label} returned ${describe(outcome)}; return a string, a result with "content", or declare an outputSchema`,
    );
  }
  // Structured output may have a member "content" of its own; a whole result also says what it is.
  if (isToolResult(outcome) && (outcome.isError === true || 'structuredContent' in outcome)) {
    if (outcome.isError === true) return { resultType: 'complete', ...outcome };
    return { resultType: 'complete', ...outcome, structuredContent: await checked(tool, outcome.structuredContent) };
  }
  const structuredContent = await checked(tool, outcome);
  return { ...textResult(JSON.stringify(structuredContent)), structuredContent };
}

async function checked(tool: ToolDefinition, value: unknown): Promise<unknown> {
  const validated = await tool.output?.validate(value);
  if (validated !== undefined && 'value' in validated) return validated.value;
  throw new TypeError(
    `${tool.label} returned something else than its outputSchema says: ${formatIssues(validated?.issues ?? [])}`,
  );
}

function failureOf(error: unknown, tool: ToolDefinition, exchange: Exchange, logger: Logger): CallToolResult {
  if (error instanceof ToolError || error instanceof HandlerTimeoutError) return failure(error.message);
  if (error instanceof McpError) throw error;
  // Nobody reads the answer, and an aborted handler throws as it should.
  if (exchange.signal.aborted) return failure('The call was cancelled');
  const { reference } = reportUnexpected(error, tool.label, logger);
  return failure(`The tool failed unexpectedly (reference ${reference})`);
}

function textResult(text: string): CallToolResult {
  return { resultType: 'complete', content: [{ type: 'text', text }] };
}

function failure(text: string): CallToolResult {
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
