import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fetchHandler } from '../../src/http/index.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/index.ts';
import type { WireMessage } from '../matrix.ts';
import {
  anyMessage,
  arbitraryServer,
  edited,
  expectProtocolError,
  idsIn,
  type Message,
  messages,
  replacedSomewhere,
} from './arbitrary-messages.ts';

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

async function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
  const { server, logger } = arbitraryServer();
  const { fetch } = fetchHandler(server, { logger });
  const response = await fetch(new Request('http://server.example/mcp', { method: 'POST', headers, body }));
  const text = await response.text();
  return { status: response.status, message: text === '' ? undefined : (JSON.parse(text) as WireMessage), logger };
}

describe('bodies that nobody foresaw', () => {
  it('JR-16: arbitrary bytes are answered with a protocol error and 400, and never logged as unexpected', async () => {
    const bytes = fc.uint8Array({ maxLength: 500 });
    await fc.assert(
      fc.asyncProperty(anyMessage, bytes, async (likely, body) => {
        const answer = await send(body, headersFor(likely));
        expect(answer.status).toBe(400);
        expectProtocolError(answer.message, []);
        expect(answer.logger.entries).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('JR-16: so is arbitrary JSON', async () => {
    await fc.assert(
      fc.asyncProperty(anyMessage, fc.json({ maxDepth: 6 }), async (likely, body) => {
        const answer = await send(body, headersFor(likely));
        expect(answer.status).toBe(400);
        expectProtocolError(answer.message, []);
        expect(answer.logger.entries).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('JR-07: flipped, cut and repeated bytes of a valid message never get another answer than a protocol one', async () => {
    await fc.assert(
      fc.asyncProperty(edited, async ({ valid, bytes }) => {
        await expectOrderly(bytes, valid);
      }),
      { numRuns: 500 },
    );
  });

  it('JR-07: nor do valid messages with another value in one place', async () => {
    await fc.assert(
      fc.asyncProperty(replacedSomewhere, async ({ valid, text }) => {
        await expectOrderly(text, valid);
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
async function expectOrderly(body: string | Uint8Array<ArrayBuffer>, valid: Message) {
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
