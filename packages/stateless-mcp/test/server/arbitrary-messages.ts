import * as fc from 'fast-check';
import { expect } from 'vitest';
import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION, PROTOCOL_VERSION_META_KEY } from '../../src/protocol/index.ts';
import { McpServer, ResourceTemplate } from '../../src/server/index.ts';
import type { WireMessage } from '../matrix.ts';
import { type RecordingLogger, recordingLogger } from '../recording-logger.ts';

const PROTOCOL_CODES = [-32700, -32600, -32601, -32602, -32020, -32021, -32022];

/** A server with something of every kind. */
export function arbitraryServer(): { readonly server: McpServer; readonly logger: RecordingLogger } {
  const logger = recordingLogger();
  const server = new McpServer(
    { name: 'arbitrary', version: '1.0.0' },
    { logger, capabilities: { tools: { listChanged: true } } },
  );
  const inputSchema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array' } }, required: ['a'] };
  server.registerTool('x', { inputSchema }, ({ a }) => String(a));
  server.registerPrompt('x', { argsSchema: inputSchema, complete: { a: () => [] } }, ({ a }) => String(a));
  server.registerResource('x', 'x:///1', {}, () => 'x');
  server.registerResource('x', new ResourceTemplate('y:///{id}'), {}, (_uri, { id }) => String(id));
  return { server, logger };
}

const metadata = { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {} };
/** One of every kind. */
export const messages = [
  { method: 'tools/call', params: { name: 'x', arguments: { a: 'text', b: [1, { c: null }] } } },
  { method: 'tools/list', params: {} },
  { method: 'prompts/get', params: { name: 'x', arguments: { a: 'text' } } },
  { method: 'resources/read', params: { uri: 'y:///1' } },
  {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: '' } },
  },
  { method: 'server/discover', params: {} },
].map(({ method, params }) => ({ jsonrpc: '2.0', id: 'the-id', method, params: { ...params, _meta: metadata } }));

export type Message = (typeof messages)[number];

export const anyMessage = fc.constantFrom(...messages);

const edits = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('flip' as const), at: fc.nat(1000), by: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ kind: fc.constant('cut' as const), at: fc.nat(1000), by: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(1000), by: fc.integer({ min: 1, max: 30 }) }),
  ),
  { minLength: 1, maxLength: 3 },
);

/** A valid message, and its bytes after some were flipped, cut out or repeated. */
export const edited = fc.tuple(anyMessage, edits).map(([valid, all]) => {
  let bytes = [...new TextEncoder().encode(JSON.stringify(valid))];
  for (const { kind, at, by } of all) {
    const start = bytes.length === 0 ? 0 : at % bytes.length;
    if (kind === 'flip') bytes = bytes.map((byte, index) => (index === start ? byte ^ by : byte));
    else if (kind === 'cut') bytes.splice(start, by);
    else bytes.splice(start, 0, ...bytes.slice(start, start + by));
  }
  return { valid, bytes: new Uint8Array(bytes) };
});

const replacement = fc.oneof(
  fc.constantFrom(null, undefined, true, 0, -1, 1.5, 1e300, '', 'x', [], {}, [[]], { name: {} }, '__proto__'),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A valid message, and its text with another value in one place. */
export const replacedSomewhere = fc.tuple(anyMessage, fc.nat(), replacement).map(([valid, at, value]) => {
  const all = places(valid);
  const text = JSON.stringify(replaced(valid, all[at % all.length] ?? [], value)) ?? '';
  return { valid, text };
});

/** A protocol error in its exact form, with this id or none. */
export function expectProtocolError(message: WireMessage | undefined, ids: readonly unknown[]): void {
  const { jsonrpc, id, error, ...rest } = message ?? ({} as WireMessage);
  expect(jsonrpc).toBe('2.0');
  expect(rest).toEqual({});
  expect(PROTOCOL_CODES).toContain(error?.code);
  expect(typeof error?.message).toBe('string');
  if (id !== undefined) expect(ids).toContain(id);
}

/** Every place in a value, as the keys that lead there. */
function places(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => places(member, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, replacement);
  return copy;
}

/** The id that a reader of a message sees, if it sees any. */
export function idsIn(body: string | Uint8Array): readonly unknown[] {
  try {
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
    return [(JSON.parse(text) as { id?: unknown } | null)?.id];
  } catch {
    return [];
  }
}
