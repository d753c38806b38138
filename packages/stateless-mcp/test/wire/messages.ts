import type { JsonObject, JsonValue } from '../../src/protocol/json.ts';
import type { HeaderLines } from './exchange.ts';

export const VERSION = '2026-07-28';
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId';

let lastId = 0;

export interface RequestOptions {
  readonly id?: JsonValue;
  /** Added to the required metadata, or in the place of it; `undefined` takes a member away. */
  readonly meta?: Readonly<Record<string, JsonValue | undefined>>;
}

/** A request as a conforming client sends it. */
export function request(method: string, params: JsonObject = {}, options: RequestOptions = {}): JsonObject {
  const { id = ++lastId, meta = {} } = options;
  const _meta = withoutUndefined({ [VERSION_KEY]: VERSION, [CAPABILITIES_KEY]: {}, ...meta });
  return { jsonrpc: '2.0', id, method, params: { _meta, ...params } };
}

export function callTool(name: string, toolArguments: JsonObject = {}, options?: RequestOptions): JsonObject {
  return request('tools/call', { name, arguments: toolArguments }, options);
}

export function listen(notifications: JsonObject, options?: RequestOptions): JsonObject {
  return request('subscriptions/listen', { notifications }, options);
}

export function notification(method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', method, params };
}

/** The value below `value` at a path of keys, or `undefined`. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (current, key) =>
      typeof current === 'object' && current !== null
        ? Object.getOwnPropertyDescriptor(current, key)?.value
        : undefined,
    value,
  );
}

/** The headers that a conforming client sends with a message. */
export function mirroredHeaders(message: unknown): HeaderLines {
  const method = at(message, 'method');
  const name = at(message, 'params', method === 'resources/read' ? 'uri' : 'name');
  const isNamed = method === 'tools/call' || method === 'prompts/get' || method === 'resources/read';
  const version = at(message, 'params', '_meta', VERSION_KEY);
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': typeof version === 'string' ? version : VERSION,
    'Mcp-Method': typeof method === 'string' ? method : null,
    'Mcp-Name': isNamed && typeof name === 'string' ? encodeName(name) : null,
  };
}

/** A name as a header carries it. */
export function encodeName(name: string): string {
  return /^[!-~]([ -~]*[!-~])?$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

function withoutUndefined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept;
}
