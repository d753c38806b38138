/**
 * Reading what a server sends. Everything here is untrusted: shapes are checked, what belongs to the connection is taken
 * off, and what an older or careless server left out is filled in.
 */
import { MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION, INVALID_PARAMS } from './error-codes.ts';
import { RemoteError } from './errors.ts';
import { excerpt } from './excerpt.ts';
import { isObject } from './json.ts';
import type { RequestId } from './json-rpc-types.ts';
import { LocalError, phaseOf } from './local-error.ts';
import { type ProgressToken, SUBSCRIPTION_ID_META_KEY } from './meta.ts';
import { type MethodRow, READ_RESOURCE } from './methods.ts';
import type { ExtensionNotification, McpNotification } from './notifications.ts';
import type { McpResult } from './result.ts';
import { isModernVersion } from './versions.ts';

/** A message of a server, read. */
export type Inbound =
  | { readonly kind: 'result'; readonly id: RequestId; readonly result: unknown }
  /** `id` is absent where the server could not read that of the request. */
  | { readonly kind: 'error'; readonly id: RequestId | undefined; readonly error: unknown }
  | {
      readonly kind: 'notification';
      /** Without tags. */
      readonly notification: McpNotification | ExtensionNotification;
      readonly progressToken: ProgressToken | undefined;
      readonly subscriptionId: RequestId | undefined;
    }
  /** Servers of this revision end a listen stream so. */
  | { readonly kind: 'cancelled'; readonly requestId: RequestId }
  | { readonly kind: 'invalid'; readonly reason: string };

export function readInbound(message: unknown): Inbound {
  if (!isObject(message)) return invalid('a message is an object');
  const { id, method, params } = message;
  if (typeof method === 'string') {
    if (id !== undefined) return invalid(`servers do not send requests in this revision, such as ${excerpt(method)}`);
    return readNotification(method, params);
  }
  if (Object.hasOwn(message, 'error')) {
    return isRequestId(id) || id === undefined || id === null
      ? { kind: 'error', id: id ?? undefined, error: message.error }
      : invalid('the "id" of an error must be a string or a number');
  }
  if (!Object.hasOwn(message, 'result')) return invalid('it has neither "method" nor "result" nor "error"');
  return isRequestId(id) ? { kind: 'result', id, result: message.result } : invalid('a result has no usable "id"');
}

function readNotification(method: string, params: unknown): Inbound {
  if (!method.startsWith('notifications/')) return invalid(`${excerpt(method)} is no notification`);
  if (params !== undefined && !isObject(params)) return invalid(`the params of ${excerpt(method)} are no object`);
  if (method === 'notifications/cancelled') {
    const requestId = params?.requestId;
    return isRequestId(requestId) ? { kind: 'cancelled', requestId } : invalid('what is cancelled is not said');
  }
  const problem = problemOf(method, params);
  if (problem !== undefined) return invalid(`${method}: ${problem}`);
  const meta = isObject(params?._meta) ? params._meta : undefined;
  const subscriptionId = meta?.[SUBSCRIPTION_ID_META_KEY];
  const progressToken = method === 'notifications/progress' ? params?.progressToken : undefined;
  return {
    kind: 'notification',
    // The shapes that the rest of the library relies on were checked above.
    notification: untagged(method, params) as ExtensionNotification,
    progressToken: isRequestId(progressToken) ? progressToken : undefined,
    subscriptionId: isRequestId(subscriptionId) ? subscriptionId : undefined,
  };
}

/** What code that handles these notifications may take for granted. */
function problemOf(method: string, params: Readonly<Record<string, unknown>> | undefined): string | undefined {
  switch (method) {
    case 'notifications/progress':
      return typeof params?.progress === 'number' ? undefined : '"progress" is no number';
    case 'notifications/message':
      return typeof params?.level === 'string' ? undefined : '"level" is no string';
    case 'notifications/resources/updated':
      return typeof params?.uri === 'string' ? undefined : '"uri" is no string';
    case 'notifications/subscriptions/acknowledged':
      return isObject(params?.notifications) ? undefined : '"notifications" is no object';
    default:
      return undefined;
  }
}

function untagged(method: string, params: Readonly<Record<string, unknown>> | undefined): object {
  if (params === undefined) return { method };
  const { progressToken, _meta, ...rest } = params;
  // Only progress is tagged by it: a member of that name in another notification is data.
  const kept = method === 'notifications/progress' || progressToken === undefined ? rest : { ...rest, progressToken };
  if (!isObject(_meta)) return { method, params: kept };
  const { [SUBSCRIPTION_ID_META_KEY]: _, ...meta } = _meta;
  return { method, params: Object.keys(meta).length === 0 ? kept : { ...kept, _meta: meta } };
}

/**
 * A result that code may rely on: it has a known `resultType`, and cache hints where its method has them.
 *
 * @param row of the method; absent: one that this client does not know
 * @throws LocalError `invalid_answer`
 */
export function completeResult(result: unknown, method: string, row: MethodRow | undefined): McpResult {
  if (!isObject(result)) throw invalidAnswer(method, 'its result is no object', row);
  const { resultType = 'complete' } = result;
  const isComplete = resultType === 'complete';
  if (!isComplete && !(resultType === 'input_required' && row?.mayAsk === true)) {
    throw invalidAnswer(
      method,
      `its resultType ${excerpt(JSON.stringify(resultType) ?? '')} is not one that it may have`,
      row,
    );
  }
  if (isComplete && row !== undefined) checkMembers(result, method, row);
  if (row?.stream === true) return { ...untaggedResult(result), resultType: 'complete' };
  if (!isComplete || row?.cacheable !== true) {
    return result.resultType === undefined ? { ...result, resultType: 'complete' } : (result as McpResult);
  }
  const { ttlMs, cacheScope } = result;
  const hints = {
    ttlMs: typeof ttlMs === 'number' && ttlMs > 0 && Number.isFinite(ttlMs) ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
  };
  const isEnd = row.pages !== undefined && result.nextCursor === null;
  if (result.resultType !== undefined && hints.ttlMs === ttlMs && hints.cacheScope === cacheScope && !isEnd) {
    return result as McpResult;
  }
  const completed: Record<string, unknown> = { ...result, resultType: 'complete', ...hints };
  // Only a value that is not null is a cursor.
  if (isEnd) delete completed.nextCursor;
  return completed as McpResult;
}

/** The id of a stream belongs to this hop. */
function untaggedResult(result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!isObject(result._meta)) return result;
  const { [SUBSCRIPTION_ID_META_KEY]: _, ..._meta } = result._meta;
  return { ...result, _meta };
}

function checkMembers(result: Readonly<Record<string, unknown>>, method: string, row: MethodRow): void {
  const { members = {}, pages } = row;
  for (const [member, shape] of Object.entries(members)) {
    const value = result[member];
    if (shape === 'array' ? !Array.isArray(value) : !isObject(value)) {
      throw invalidAnswer(method, `"${member}" is no ${shape}`, row);
    }
  }
  const { nextCursor = null } = result;
  if (pages !== undefined && nextCursor !== null && typeof nextCursor !== 'string') {
    throw invalidAnswer(method, '"nextCursor" is no string', row);
  }
}

/**
 * The error that a server sent. Codes of drafts are read as their successors, but only where their data proves it:
 * other software uses the same codes for other things.
 *
 * @throws LocalError `invalid_answer` if it has not the shape of an error
 */
export function remoteError(
  error: unknown,
  method: string,
  http: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
): RemoteError {
  if (!isObject(error) || typeof error.code !== 'number')
    throw invalidAnswer(method, 'its error has no numeric "code"');
  const { code, message, data } = error;
  const text = typeof message === 'string' ? message : '';
  const { retryAfterMs } = http;
  const wait = retryAfterMs === undefined ? '' : ` (it asks to wait ${Math.ceil(retryAfterMs / 1000)} s)`;
  return new RemoteError(successorOf(code, data, method), `${text}${wait}`, { ...http, data });
}

function successorOf(code: number, data: unknown, method: string): number {
  // Handshake-era servers say so that there is no such resource; elsewhere the code means nothing.
  if (code === -32002 && method === READ_RESOURCE.name) return INVALID_PARAMS;
  if ((code === INVALID_PARAMS || code === -32004) && supportedVersions(data).some(isModernVersion)) {
    return UNSUPPORTED_PROTOCOL_VERSION;
  }
  const isCapabilityGap = code === -32003 && isObject(data) && isObject(data.requiredCapabilities);
  return isCapabilityGap ? MISSING_REQUIRED_CLIENT_CAPABILITY : code;
}

/** The revisions that the data of a −32022 names. */
export function supportedVersions(data: unknown): readonly string[] {
  if (!isObject(data) || !Array.isArray(data.supported)) return [];
  return data.supported.every((version) => typeof version === 'string') ? data.supported : [];
}

export function invalidAnswer(method: string, problem: string, row?: MethodRow): LocalError {
  const facts = { phase: phaseOf(row ?? { name: method }), maybeExecuted: true };
  return new LocalError('invalid_answer', `The answer to ${method} is not valid: ${problem}`, facts);
}

function invalid(reason: string): Inbound {
  return { kind: 'invalid', reason };
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number';
}
