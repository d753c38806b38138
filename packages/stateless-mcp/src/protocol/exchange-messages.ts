/** How a server binding writes what belongs to one request: the tags of this hop on it, whatever carries it. */
import { INTERNAL_ERROR } from './error-codes.ts';
import { McpError, toMcpError } from './errors.ts';
import type { Exchange, McpHandler, McpRequest } from './handler.ts';
import { type NotificationTags, serialiseError, serialiseResult } from './json-rpc.ts';
import type { Logger } from './logger.ts';
import { isObject } from './json.ts';
import type { RequestId } from './json-rpc-types.ts';
import { type ProgressToken, SUBSCRIPTION_ID_META_KEY } from './meta.ts';
import type { MethodRow } from './methods.ts';
import type { HeldKind } from './held-messages.ts';
import type { ExtensionNotification, McpNotification } from './notifications.ts';
import type { McpResult } from './result.ts';

/** What of a request belongs to the hop that it came by. */
export interface RequestIdentity {
  readonly id: RequestId;
  readonly row: MethodRow | undefined;
  readonly progressToken: ProgressToken | undefined;
}

/** What it is about, for logs. */
export function labelOf({ row }: RequestIdentity): string {
  return row?.name ?? 'a request';
}

export function kindOf({ method }: McpNotification | ExtensionNotification): HeldKind {
  if (method === 'notifications/progress') return 'progress';
  return method === 'notifications/message' ? 'log' : 'other';
}

export function tagsFor({ row, id, progressToken }: RequestIdentity, kind: HeldKind): NotificationTags {
  if (row?.stream === true) return { subscriptionId: id };
  return kind === 'progress' && progressToken !== undefined ? { progressToken } : {};
}

/**
 * The response that carries `result`, as one line of JSON.
 *
 * @throws TypeError for what is no result (a handler may be any function) or what JSON cannot carry
 */
export function serialiseResponse({ row, id }: RequestIdentity, result: McpResult): string {
  checkResult(result);
  return serialiseResult(
    id,
    row?.stream === true ? { ...result, _meta: { ...result._meta, [SUBSCRIPTION_ID_META_KEY]: id } } : result,
  );
}

function checkResult(result: unknown): asserts result is McpResult {
  if (isObject(result) && typeof result.resultType === 'string') return;
  throw new TypeError('A handler must resolve with a result: an object with a resultType');
}

/**
 * The same, of a bounded size.
 *
 * @throws also McpError −32603 beyond `maxResponseBytes`, which is logged: its author has to know
 */
export function serialiseBoundedResponse(
  identity: RequestIdentity,
  result: McpResult,
  maxResponseBytes: number,
  logger: Logger,
): string {
  const text = serialiseResponse(identity, result);
  if (!exceedsBytes(text, maxResponseBytes)) return text;
  logger.error(`A result of ${labelOf(identity)} is over its limit`, { maxResponseBytes, length: text.length });
  throw new McpError(INTERNAL_ERROR, `The result is larger than ${maxResponseBytes} bytes (maxResponseBytes)`);
}

/** Runs a handler, which may be any function: one that throws instead of rejecting is answered like all others. */
export function answerBy(
  handler: McpHandler,
  request: McpRequest,
  exchange: Exchange & { finish(result: McpResult): void; fail(error: unknown): void },
): void {
  try {
    handler(request, exchange).then(
      (result) => exchange.finish(result),
      (error: unknown) => exchange.fail(error),
    );
  } catch (error) {
    exchange.fail(error);
  }
}

/** An error as one line of JSON. One whose data JSON cannot carry is an unexpected error itself, and the one that is sent. */
export function serialiseFailure(
  error: McpError,
  id: RequestId | undefined,
  logger: Logger,
): { readonly sent: McpError; readonly text: string } {
  try {
    return { sent: error, text: serialiseError(id, error) };
  } catch (unsendable) {
    const sent = toMcpError(unsendable, `the data of error ${error.code}`, logger);
    return { sent, text: serialiseError(id, sent) };
  }
}

/** A controller that has aborted already if there is a reason. */
export function controllerOf(reason: unknown): AbortController {
  const controller = new AbortController();
  if (reason !== undefined) controller.abort(reason);
  return controller;
}

/** Whether a text is longer than that in UTF-8. A UTF-16 unit has at most three bytes, so that only large texts are measured. */
function exceedsBytes(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && new TextEncoder().encode(text).length > limit);
}
