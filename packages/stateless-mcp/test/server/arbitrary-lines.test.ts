import { duplexPair } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serveStream } from '../../src/stdio/index.ts';
import type { McpServer } from '../../src/server/index.ts';
import type { WireMessage } from '../matrix.ts';
import type { RecordingLogger } from '../recording-logger.ts';
import {
  arbitraryServer,
  edited,
  expectProtocolError,
  idsIn,
  messages,
  replacedSomewhere,
} from './arbitrary-messages.ts';

const NEWLINE = 0x0a;

/** Sends a line and a request behind it on a connection of its own, and collects what comes for the line. */
async function send(line: string | Uint8Array, server: McpServer, logger: RecordingLogger) {
  const [ours, theirs] = duplexPair();
  const { closed } = serveStream(server, theirs, { logger });
  const probe = { ...messages[1], id: 'probe' };
  ours.write(line);
  ours.end(`\n${JSON.stringify(probe)}\n`);
  // To its end: whatever was asked is answered before.
  const text = (await ours.setEncoding('utf8').toArray()).join('');
  await closed;
  const answers = text
    .split('\n')
    .slice(0, -1)
    .map((each) => JSON.parse(each) as WireMessage);
  expect(answers.filter(({ id }) => id === 'probe')).toMatchObject([{ result: { resultType: 'complete' } }]);
  return answers.filter(({ id }) => id !== 'probe');
}

/** Protocol errors and regular answers to what could still be read; never an accident of the server. */
function expectOrderly(answers: readonly WireMessage[], line: string | Uint8Array, logger: RecordingLogger): void {
  for (const answer of answers) {
    if (answer.error !== undefined) expectProtocolError(answer, idsIn(line));
    else {
      expect(idsIn(line)).toContain(answer.id);
      expect(answer.result?.resultType).toBe('complete');
    }
  }
  // Answers of a client are told; nothing that a client writes is an error here.
  expect(logger.entries.filter(({ level }) => level === 'error')).toEqual([]);
}

/** An edit may have cut a line in two, each of which is one of its own. */
function isOneLine(bytes: Uint8Array): boolean {
  return !bytes.includes(NEWLINE);
}

describe('lines that nobody foresaw', () => {
  it('JR-16: arbitrary bytes are answered with protocol errors, and the next line is read', async () => {
    const { server, logger } = arbitraryServer();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        const answers = await send(bytes, server, logger);
        for (const answer of answers) expectProtocolError(answer, []);
        expect(logger.entries).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('JR-16: so is arbitrary JSON', async () => {
    const { server, logger } = arbitraryServer();
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (line) => {
        expectOrderly(await send(line, server, logger), line, logger);
      }),
      { numRuns: 200 },
    );
  });

  it('JR-07: flipped, cut and repeated bytes of a valid message never get another answer than a protocol one', async () => {
    const { server, logger } = arbitraryServer();
    await fc.assert(
      fc.asyncProperty(
        edited.filter(({ bytes }) => isOneLine(bytes)),
        async ({ bytes }) => {
          expectOrderly(await send(bytes, server, logger), bytes, logger);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('JR-07: nor do valid messages with another value in one place', async () => {
    const { server, logger } = arbitraryServer();
    await fc.assert(
      fc.asyncProperty(replacedSomewhere, async ({ text }) => {
        expectOrderly(await send(text, server, logger), text, logger);
      }),
      { numRuns: 300 },
    );
  });
});
