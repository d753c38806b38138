import { type Duplex, duplexPair } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveStream } from '../../src/stdio/index.ts';
import type { WireMessage } from '../matrix.ts';
import type { RecordingLogger } from '../recording-logger.ts';
import {
  anyMessage,
  arbitraryServer,
  edited,
  expectProtocolError,
  idsIn,
  messages,
  replacedSomewhere,
} from './arbitrary-messages.ts';

const NEWLINE = 0x0a;

/** One connection for a whole property: whatever came before, the next line is read from its start. */
function connected(): { readonly client: LineProbe; readonly logger: RecordingLogger } {
  const { server, logger } = arbitraryServer();
  const [ours, theirs] = duplexPair();
  const served = serveStream(server, theirs, { logger });
  onTestFinished(async () => {
    ours.end();
    await served.close();
  });
  return { client: new LineProbe(ours), logger };
}

/** Sends what it is given and a request behind it, and collects what comes until that is answered. */
class LineProbe {
  readonly #stream: Duplex;
  #text = '';
  #arrived: () => void = () => {};
  #probes = 0;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      this.#text += text;
      this.#arrived();
    });
  }

  async send(bytes: string | Uint8Array): Promise<readonly WireMessage[]> {
    const probe = { ...messages[1], id: `probe-${++this.#probes}` };
    this.#stream.write(bytes);
    this.#stream.write(`\n${JSON.stringify(probe)}\n`);
    const answered = `"id":"${probe.id}"`;
    while (!this.#text.includes(answered) || !this.#text.endsWith('\n')) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    const lines = this.#text.split('\n').slice(0, -1);
    this.#text = '';
    return lines.map((line) => JSON.parse(line) as WireMessage).filter(({ id }) => id !== probe.id);
  }
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
    const { client, logger } = connected();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        const answers = await client.send(bytes);
        for (const answer of answers) expectProtocolError(answer, []);
        expect(logger.entries).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('JR-16: so is arbitrary JSON', async () => {
    const { client, logger } = connected();
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (line) => {
        expectOrderly(await client.send(line), line, logger);
      }),
      { numRuns: 300 },
    );
  });

  it('JR-07: flipped, cut and repeated bytes of a valid message never get another answer than a protocol one', async () => {
    const { client, logger } = connected();
    await fc.assert(
      fc.asyncProperty(
        edited.filter(({ bytes }) => isOneLine(bytes)),
        async ({ bytes }) => {
          expectOrderly(await client.send(bytes), bytes, logger);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('JR-07: nor do valid messages with another value in one place', async () => {
    const { client, logger } = connected();
    await fc.assert(
      fc.asyncProperty(replacedSomewhere, async ({ text }) => {
        expectOrderly(await client.send(text), text, logger);
      }),
      { numRuns: 500 },
    );
  });

  it('every request has one answer, however the bytes arrive', async () => {
    const { client } = connected();
    await fc.assert(
      fc.asyncProperty(anyMessage, async (message) => {
        expect(await client.send(JSON.stringify(message))).toMatchObject([
          { id: 'the-id', result: { resultType: 'complete' } },
        ]);
      }),
      { numRuns: 20 },
    );
  });
});
