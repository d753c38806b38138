import type { JsonObject } from '../../src/protocol/json.ts';
import type { SseFrame } from '../wire/sse-frames.ts';

/** Names and values, in the order and spelling in which they travel. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: HeaderPairs;
  readonly body: Uint8Array;
  /** The body as JSON, if it is that. */
  readonly message: unknown;
}

export interface WireHead {
  readonly status: number;
  readonly headers: HeaderPairs;
}

/** A response that is no stream. */
export interface WireReply extends WireHead {
  readonly text: string;
}

/**
 * One way to violate one rule, told as changes to what passes between a client and a conforming server. A change that does not
 * apply returns what it was given.
 */
export interface WireMutation {
  /** The requirement that is violated. */
  readonly id: string;
  readonly name: string;
  /** What reaches the server instead: it then accepts what it ought to refuse, or does what nobody asked. */
  readonly request?: (request: WireRequest) => WireRequest;
  /** Status and headers of any response. */
  readonly head?: (head: WireHead, request: WireRequest) => WireHead;
  /** Each JSON-RPC message of a response, be it an event or the JSON body. */
  readonly message?: (message: JsonObject, request: WireRequest) => JsonObject;
  /** A whole response that is no stream. */
  readonly reply?: (reply: WireReply, request: WireRequest) => WireReply;
  /** What takes the place of one frame; `index` counts the events before it. */
  readonly frames?: (frame: SseFrame, index: number, request: WireRequest) => readonly SseFrame[];
  /** The server does not notice that the client left. */
  readonly ignoresLeaving?: true;
  /** A stream stays open after its last event. */
  readonly neverEnds?: true;
  /** All that a check can see of it is that something does not come. Otherwise running out of time proves nothing. */
  readonly seenByWaiting?: true;
}

export function readHeader(headers: HeaderPairs, name: string): string | undefined {
  return headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1];
}

/** The headers with one line of that name, or with none if `value` is `undefined`. */
export function withHeader(headers: HeaderPairs, name: string, value: string | undefined): HeaderPairs {
  const others = headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
  return value === undefined ? others : [...others, [name, value]];
}

export function withRequestHeader(request: WireRequest, name: string, value: string | undefined): WireRequest {
  return { ...request, headers: withHeader(request.headers, name, value) };
}

export function withMessage(request: WireRequest, message: JsonObject): WireRequest {
  return { ...request, message, body: Buffer.from(JSON.stringify(message)) };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
