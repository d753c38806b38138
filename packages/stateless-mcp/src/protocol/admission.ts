/**
 * Whether a parsed message may go to a handler: its shape, the required metadata, headers against the body, and the
 * revision. One pure function for every binding; bindings without headers pass none. What needs definitions
 * (parameters of a method, `Mcp-Param-*`, scopes, capabilities) is for the handler to check.
 *
 * The order of the checks is part of the contract: which error a client sees decides what it does next.
 * Specification: basic/index, basic/versioning, basic/transports/streamable-http "Server Validation".
 */
import { INVALID_PARAMS, INVALID_REQUEST } from './error-codes.ts';
import { HeaderMismatchError, McpError, UnsupportedProtocolVersionError } from './errors.ts';
import { excerpt } from './excerpt.ts';
import type { HeaderReader, McpRequest } from './handler.ts';
import { decodeHeaderValue } from './header-value.ts';
import { isObject } from './json.ts';
import type { RequestId } from './json-rpc-types.ts';
import { CLIENT_CAPABILITIES_META_KEY, type ProgressToken, PROTOCOL_VERSION_META_KEY } from './meta.ts';
import type { MethodRow } from './methods.ts';
import type { RequestParams } from './result.ts';

/** What admission measures a message by. */
export interface AdmissionRules {
  /** The revisions that are served, the newest first. */
  readonly versions: readonly string[];
  readonly methods: ReadonlyMap<string, MethodRow>;
}

export type Admission =
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly request: McpRequest;
      /** Absent for a method that the endpoint does not know. */
      readonly row: MethodRow | undefined;
      readonly progressToken: ProgressToken | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | {
      readonly kind: 'refused';
      /** Absent if it could not be read; then the error carries none. */
      readonly id: RequestId | undefined;
      readonly method: string | undefined;
      readonly error: McpError;
    };

export function admit(message: unknown, rules: AdmissionRules, headers?: HeaderReader): Admission {
  if (!isObject(message) || isResponse(message)) {
    return refused(undefined, undefined, invalidRequest(whatIsWrong(message)));
  }
  const { id, method } = message;
  if (typeof method !== 'string') {
    return refused(isRequestId(id) ? id : undefined, undefined, invalidRequest(whatIsWrong(message)));
  }
  const hasId = Object.hasOwn(message, 'id');
  if (hasId && !isRequestId(id)) {
    return refused(undefined, method, invalidRequest('"id" must be a string or an integer'));
  }
  const requestId = hasId ? (id as RequestId) : undefined;
  if (message.jsonrpc !== '2.0') return refused(requestId, method, invalidRequest('"jsonrpc" must be "2.0"'));
  if (requestId === undefined) return { kind: 'notification', method, params: message.params };

  const error = checkRequest(method, message.params, rules, headers);
  if (error !== undefined) return refused(requestId, method, error);
  return admitted(requestId, method, message.params as RequestParams, rules);
}

function checkRequest(
  method: string,
  params: unknown,
  rules: AdmissionRules,
  headers: HeaderReader | undefined,
): McpError | undefined {
  const versionHeader = headers?.get('mcp-protocol-version');
  if (versionHeader === null) {
    return new HeaderMismatchError(`The header MCP-Protocol-Version is missing; ${servedVersions(rules)}`);
  }

  const meta = isObject(params) ? params._meta : undefined;
  if (!isObject(meta))
    return malformed(`params._meta must be an object with the metadata of the request; ${servedVersions(rules)}`);
  const version = meta[PROTOCOL_VERSION_META_KEY];
  if (typeof version !== 'string')
    return malformed(`params._meta["${PROTOCOL_VERSION_META_KEY}"] must be a string; ${servedVersions(rules)}`);
  if (!isObject(meta[CLIENT_CAPABILITIES_META_KEY])) {
    return malformed(`params._meta["${CLIENT_CAPABILITIES_META_KEY}"] must be an object, at least {}`);
  }
  if (meta.progressToken !== undefined && !isRequestId(meta.progressToken)) {
    return malformed('params._meta.progressToken must be a string or an integer');
  }

  if (versionHeader !== undefined && versionHeader !== version) {
    return mismatch('MCP-Protocol-Version', versionHeader, version);
  }
  if (!rules.versions.includes(version)) return new UnsupportedProtocolVersionError(version, rules.versions);
  return headers === undefined ? undefined : checkRoutingHeaders(method, params as RequestParams, rules, headers);
}

/** Handshake-era clients run into these errors first, so they say what is spoken here. */
function servedVersions({ versions }: AdmissionRules): string {
  return `served here are ${versions.join(', ')}`;
}

function checkRoutingHeaders(
  method: string,
  params: RequestParams,
  rules: AdmissionRules,
  headers: HeaderReader,
): McpError | undefined {
  // Unlike names, methods are never encoded.
  const methodHeader = headers.get('mcp-method');
  if (methodHeader === null) return new HeaderMismatchError('The header Mcp-Method is missing');
  if (methodHeader !== method) return mismatch('Mcp-Method', methodHeader, method);

  const target = rules.methods.get(method)?.target;
  if (target === undefined) return undefined;
  const name = params[target];
  // A body without a name is a matter of its parameters, whatever the header says.
  if (typeof name !== 'string') return undefined;
  const nameHeader = headers.get('mcp-name');
  if (nameHeader === null) return new HeaderMismatchError('The header Mcp-Name is missing');
  return decodeHeaderValue(nameHeader) === name ? undefined : mismatch('Mcp-Name', nameHeader, name);
}

function admitted(id: RequestId, method: string, params: RequestParams, rules: AdmissionRules): Admission {
  const { progressToken } = params._meta;
  return {
    kind: 'request',
    id,
    // The token belongs to the hop: who handles the request learns only that somebody wants progress.
    request: { method, params: progressToken === undefined ? params : withoutProgressToken(params) },
    row: rules.methods.get(method),
    progressToken,
  };
}

function withoutProgressToken(params: RequestParams): RequestParams {
  const { progressToken: _, ...meta } = params._meta;
  return { ...params, _meta: meta };
}

function refused(id: RequestId | undefined, method: string | undefined, error: McpError): Admission {
  return { kind: 'refused', id, method, error };
}

function invalidRequest(reason: string): McpError {
  return new McpError(INVALID_REQUEST, `Invalid request: ${reason}`, { status: 400 });
}

function malformed(reason: string): McpError {
  return new McpError(INVALID_PARAMS, `Invalid params: ${reason}`, { status: 400 });
}

function mismatch(header: string, got: string, expected: string): McpError {
  return new HeaderMismatchError(`The header ${header} is "${excerpt(got)}", but the body says "${excerpt(expected)}"`);
}

function whatIsWrong(message: unknown): string {
  if (Array.isArray(message)) return 'one message at a time, batches are not part of this revision';
  if (!isObject(message)) return 'a message is an object';
  if (isResponse(message)) return 'clients do not send responses in this revision';
  return '"method" must be a string';
}

/** Clients of this revision send none. */
export function isResponse(message: Readonly<Record<string, unknown>>): boolean {
  return message.method === undefined && (Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error'));
}

function isRequestId(value: unknown): value is RequestId {
  // Beyond the safe range, parsing has altered the number already.
  return typeof value === 'string' || Number.isSafeInteger(value);
}
