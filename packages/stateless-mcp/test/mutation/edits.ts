import type { JsonObject, JsonValue } from '../../src/protocol/json.ts';
import { at } from '../wire/messages.ts';
import { isEvent, type SseEvent, type SseFrame } from '../wire/sse-frames.ts';
import {
  isJsonObject,
  parseJson,
  readHeader,
  type WireMutation,
  type WireReply,
  type WireRequest,
  withHeader,
  withMessage,
  withRequestHeader,
} from './wire-model.ts';

export function methodOf(request: WireRequest): unknown {
  return at(request.message, 'method');
}

/** `value` with what `change` makes of the member at a path; `undefined` takes it away. Unchanged if nothing is there. */
export function edit(
  value: JsonObject,
  path: readonly string[],
  change: (member: JsonValue) => JsonValue | undefined,
): JsonObject {
  const [key = '', ...rest] = path;
  const member = Object.hasOwn(value, key) ? value[key] : undefined;
  if (member === undefined) return value;
  const next = rest.length === 0 ? change(member) : isJsonObject(member) ? edit(member, rest, change) : member;
  if (next === member) return value;
  const { [key]: _, ...others } = value;
  return next === undefined ? others : { ...others, [key]: next };
}

/** A change of the results of a method. */
export function onResult(method: string, change: (result: JsonObject, request: WireRequest) => JsonObject): OnMessage {
  return (message, request) =>
    methodOf(request) === method
      ? edit(message, ['result'], (result) => (isJsonObject(result) ? change(result, request) : result))
      : message;
}

/** A change of the notifications of a method. */
export function onNotification(method: string, change: (message: JsonObject) => JsonObject): OnMessage {
  return (message) => (message.method === method ? change(message) : message);
}

/** A change of the errors with a code. */
export function onError(code: number, change: (error: JsonObject) => JsonObject): OnMessage {
  return (message) =>
    edit(message, ['error'], (error) => (isJsonObject(error) && error.code === code ? change(error) : error));
}

type OnMessage = NonNullable<WireMutation['message']>;

/** A change of a request's message before the server sees it. */
export function onRequest(
  change: (message: JsonObject, request: WireRequest) => JsonObject,
): NonNullable<WireMutation['request']> {
  return (request) => {
    if (!isJsonObject(request.message)) return request;
    const message = change(request.message, request);
    return message === request.message ? request : withMessage(request, message);
  };
}

/** The metadata of a request, changed. */
export function onMeta(change: (meta: JsonObject) => JsonObject): NonNullable<WireMutation['request']> {
  return onRequest((message) =>
    edit(message, ['params', '_meta'], (meta) => (isJsonObject(meta) ? change(meta) : meta)),
  );
}

/** The server behaves as if a header had the value that the body gives it. */
export function pretendHeader(
  name: string,
  valueOf: (request: WireRequest) => unknown,
): NonNullable<WireMutation['request']> {
  return (request) => {
    const value = valueOf(request);
    if (typeof value !== 'string' || readHeader(request.headers, name) === value) return request;
    return withRequestHeader(request, name, value);
  };
}

/** Requests of a method get a result that a server of old would give. */
export function served(...methods: readonly string[]): NonNullable<WireMutation['reply']> {
  return (reply, request) => {
    const method = methodOf(request);
    if (typeof method !== 'string' || !methods.includes(method)) return reply;
    const id = at(request.message, 'id');
    return { ...reply, status: 200, text: JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete' } }) };
  };
}

/** An error instead of what the server said. */
export function errorReply(reply: WireReply, request: WireRequest, status: number, code: number): WireReply {
  const id = at(request.message, 'id');
  const text = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'Refused' } });
  const headers = withHeader(reply.headers, 'Content-Type', 'application/json');
  return { status, headers, text };
}

/** JSON-RPC errors with a code get another status. */
export function statusOfError(code: number, status: number): NonNullable<WireMutation['reply']> {
  return (reply) => (at(parseJson(reply.text), 'error', 'code') === code ? { ...reply, status } : reply);
}

export function eventOf(message: JsonObject): SseEvent {
  return { data: JSON.stringify(message) };
}

export function messageIn(frame: SseFrame): unknown {
  return isEvent(frame) ? parseJson(frame.data) : undefined;
}

/** A notification of a listen stream that nobody caused. */
export function unsolicited(method: string, request: WireRequest): SseEvent {
  const subscriptionId = at(request.message, 'id');
  const _meta = { 'io.modelcontextprotocol/subscriptionId': subscriptionId };
  return { data: JSON.stringify({ jsonrpc: '2.0', method, params: { _meta } }) };
}

export const everyCapability: JsonObject = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
