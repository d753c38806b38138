import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fetchHandler } from '../../src/http/index.ts';
import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION, PROTOCOL_VERSION_META_KEY } from '../../src/protocol/index.ts';
import { McpServer, ResourceTemplate } from '../../src/server/index.ts';
import type { WireMessage } from '../matrix.ts';
import { recordingLogger } from '../recording-logger.ts';

const info = { name: 'arbitrary', version: '1.0.0' };
const PROTOCOL_CODES = [-32700, -32600, -32601, -32602, -32020, -32021, -32022];

function target() {
  const logger = recordingLogger();
  const server = new McpServer(info, { logger, capabilities: { tools: { listChanged: true } } });
  const inputSchema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array' } }, required: ['a'] };
  server.registerTool('x', { inputSchema }, ({ a }) => String(a));
  server.registerPrompt('x', { argsSchema: inputSchema, complete: { a: () => [] } }, ({ a }) => String(a));
  server.registerResource('x', 'x:///1', {}, () => 'x');
  server.registerResource('x', new ResourceTemplate('y:///{id}'), {}, (_uri, { id }) => String(id));
  const { fetch } = fetchHandler(server, { logger });
  return { logger, fetch };
}

const metadata = { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {} };
const messages = [
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

type Message = (typeof messages)[number];

function headersFor({ method, params }: Message): Record<string, string> {
  const { name, uri } = params as { name?: string; uri?: string };
  const mirrored = name ?? uri;
  return {
    'content-type': 'application/json',
    'mcp-protocol-version': PROTOCOL_VERSION,
    'mcp-method': method,
    ...(mirrored !== undefined && { 'mcp-name': mirrored }),
  };
}

async function send(body: BodyInit, headers: Record<string, string>) {
  const { fetch, logger } = target();
  const response = await fetch(new Request('http://server.example/mcp', { method: 'POST', headers, body }));
  const text = await response.text();
  return { status: response.status, message: text === '' ? undefined : (JSON.parse(text) as WireMessage), logger };
}

/** A protocol error in its exact form, with this id or none. */
function expectProtocolError(message: WireMessage | undefined, ids: readonly unknown[]): void {
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

describe('bodies that nobody foresaw', () => {
  it('JR-16: arbitrary bytes are answered with a protocol error and 400, and never logged as unexpected', async () => {
    const message = fc.constantFrom(...messages);
    const bytes = fc.uint8Array({ maxLength: 500 });
    await fc.assert(
      fc.asyncProperty(message, bytes, async (likely, body) => {
        const answer = await send(body, headersFor(likely));
        expect(answer.status).toBe(400);
        expectProtocolError(answer.message, []);
        expect(answer.logger.entries).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('JR-16: so is arbitrary JSON', async () => {
    const message = fc.constantFrom(...messages);
    await fc.assert(
      fc.asyncProperty(message, fc.json({ maxDepth: 6 }), async (likely, body) => {
        const answer = await send(body, headersFor(likely));
        expect(answer.status).toBe(400);
        expectProtocolError(answer.message, []);
        expect(answer.logger.entries).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('JR-07: flipped, cut and repeated bytes of a valid message never get another answer than a protocol one', async () => {
    const edit = fc.oneof(
      fc.record({ kind: fc.constant('flip' as const), at: fc.nat(1000), by: fc.integer({ min: 1, max: 255 }) }),
      fc.record({ kind: fc.constant('cut' as const), at: fc.nat(1000), by: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(1000), by: fc.integer({ min: 1, max: 30 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...messages),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        async (valid, edits) => {
          let bytes = [...new TextEncoder().encode(JSON.stringify(valid))];
          for (const { kind, at, by } of edits) {
            const start = bytes.length === 0 ? 0 : at % bytes.length;
            if (kind === 'flip') bytes = bytes.map((byte, index) => (index === start ? byte ^ by : byte));
            else if (kind === 'cut') bytes.splice(start, by);
            else bytes.splice(start, 0, ...bytes.slice(start, start + by));
          }
          await expectOrderly(new Uint8Array(bytes), valid);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('JR-07: nor do valid messages with another value in one place', async () => {
    const replacement = fc.oneof(
      fc.constantFrom(null, undefined, true, 0, -1, 1.5, 1e300, '', 'x', [], {}, [[]], { name: {} }, '__proto__'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...messages), fc.nat(), replacement, async (valid, at, value) => {
        const all = places(valid);
        const place = all[at % all.length] ?? [];
        await expectOrderly(JSON.stringify(replaced(valid, place, value)) ?? '', valid);
      }),
      { numRuns: 500 },
    );
  });

  it('JR-16: depth and width have limits', async () => {
    const [valid] = messages as [Message];
    for (const depth of [127, 128, 129, 10_000, 1_000_000]) {
      const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      const body = JSON.stringify(valid).replace('"text"', deep);
      const { message } = await expectOrderly(body, valid);
      if (depth > 128) expect(message?.error?.code).toBe(-32700);
    }
    const wide = {
      ...valid,
      params: { ...valid.params, arguments: { a: 'x', b: Array.from({ length: 200_000 }, () => 0) } },
    };
    await expectOrderly(JSON.stringify(wide), valid);
  });
});

/** A protocol error or a regular answer to what could still be read; never an accident of the server. */
async function expectOrderly(body: BodyInit, valid: Message) {
  const answer = await send(body, headersFor(valid));
  expect(answer.logger.entries).toEqual([]);
  expect([200, 202, 400, 404]).toContain(answer.status);
  if (answer.message?.error !== undefined) expectProtocolError(answer.message, idsIn(body));
  else if (answer.status === 202) expect(answer.message).toBeUndefined();
  else {
    expect(answer.status).toBe(200);
    expect(idsIn(body)).toContain(answer.message?.id);
    expect(answer.message?.result?.resultType).toBe('complete');
  }
  return answer;
}

/** The id that a reader of the body sees, if it sees any. */
function idsIn(body: BodyInit): readonly unknown[] {
  try {
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body as Uint8Array);
    return [(JSON.parse(text) as { id?: unknown } | null)?.id];
  } catch {
    return [];
  }
}
