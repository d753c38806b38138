import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import { LineSplitter } from './line-splitter.ts';

type Event = { readonly line: string } | { readonly oversized: number; readonly id?: RequestId };

const NEWLINE = 0x0a;

function split(chunks: readonly Uint8Array[], maxLineBytes: number): readonly Event[] {
  const events: Event[] = [];
  const splitter = new LineSplitter(maxLineBytes, {
    line: (bytes) => void events.push({ line: latin1(bytes) }),
    oversized: (bytes, id) => void events.push({ oversized: bytes, ...(id !== undefined && { id }) }),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return events;
}

/** What splitting means, with everything at hand. */
function naiveSplit(bytes: Uint8Array, maxLineBytes: number): readonly Event[] {
  return latin1(bytes)
    .split('\n')
    .flatMap((piece): readonly Event[] => {
      if (piece.length > maxLineBytes) return [{ oversized: piece.length }];
      const line = piece.endsWith('\r') ? piece.slice(0, -1) : piece;
      return line === '' ? [] : [{ line }];
    });
}

/** One character a byte, so that broken characters can be compared too. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function cut(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [...new Set([0, ...cuts.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
    (left, right) => left - right,
  );
  return places.slice(1).map((end, index) => bytes.slice(places[index], end));
}

function textsOf(chunks: readonly (string | Uint8Array)[], maxLineBytes = 100): readonly unknown[] {
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  return split(bytes, maxLineBytes).map((event) =>
    'line' in event ? Buffer.from(event.line, 'latin1').toString() : event,
  );
}

const piece = fc.oneof(
  fc.constantFrom('\n', '\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '{"a":1}', '漢', '🏔', 'é', ' ', '\u2028', '\0'),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.integer({ min: 0, max: 80 }).map((length) => 'x'.repeat(length)),
);
const stream = fc.array(piece, { maxLength: 40 }).map((pieces) => new Uint8Array(Buffer.from(pieces.join(''))));

describe('LineSplitter', () => {
  it('STDIO-02: equals a naive splitter however the stream is cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat()), fc.integer({ min: 1, max: 60 }), (bytes, cuts, maxLineBytes) => {
        expect(split(cut(bytes, cuts), maxLineBytes)).toEqual(naiveSplit(bytes, maxLineBytes));
      }),
      { numRuns: 2000 },
    );
  });

  it('STDIO-02: gives the same lines byte by byte', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 60 }), (bytes, maxLineBytes) => {
        const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
        expect(split(single, maxLineBytes)).toEqual(naiveSplit(bytes, maxLineBytes));
      }),
    );
  });

  it('STDIO-02: finds the ends of lines in bytes, not in what looks like them in text', () => {
    expect(textsOf(['"a\u2028b\u2029c\u0085d\u000be"\n'])).toEqual(['"a\u2028b\u2029c\u0085d\u000be"']);
  });

  it('keeps a character whole that lies across chunks', () => {
    const [first, ...rest] = Array.from(Buffer.from('🏔'), (byte) => Uint8Array.of(byte));
    expect(textsOf(['"', first ?? '', ...rest, '"\n'])).toEqual(['"🏔"']);
  });

  it('strips one carriage return and skips blank lines', () => {
    expect(textsOf(['a\r\n', '\n', '\r\n', 'b\r\r\n', '\r', '\n'])).toEqual(['a', 'b\r']);
  });

  it('takes what comes last for a line, whether its end came or not', () => {
    expect(textsOf(['a\nb'])).toEqual(['a', 'b']);
    expect(textsOf(['a\nb\r'])).toEqual(['a', 'b']);
    expect(textsOf(['a\n'])).toEqual(['a']);
    expect(textsOf([])).toEqual([]);
  });

  it('takes a line of exactly the limit, and goes on behind one that is longer', () => {
    expect(textsOf(['1234\n', '12345\n', '12', '34', '56\n', 'a\n'], 4)).toEqual([
      '1234',
      { oversized: 5 },
      { oversized: 6 },
      'a',
    ]);
  });

  it('tells of a line that is too long even if it has no end', () => {
    expect(textsOf(['a\n12345'], 4)).toEqual(['a', { oversized: 5 }]);
  });

  describe('names the id of a message that is too long', () => {
    const filling = 'x'.repeat(2000);
    const cases: readonly (readonly [string, string, RequestId | undefined])[] = [
      ['at the start', `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"${filling}"}}`, 7],
      ['at the start, spaced', `{ "jsonrpc" : "2.0" , "id" : "a-1" , "x":"${filling}"}`, 'a-1'],
      ['behind the method', `{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"a":"${filling}"}}`, 7],
      ['at the end', `{"method":"m","params":{"a":"${filling}"},"jsonrpc":"2.0","id":"b"}`, 'b'],
      ['at the end, spaced', `{"method":"m","params":{"a":"${filling}"}, "id" : 12 }\r`, 12],
      ['not where none is', `{"method":"m","params":{"a":"${filling}"}}`, undefined],
      ['not one within its parameters', `{"method":"m","params":{"a":"${filling}","id":5}}`, undefined],
      ['not one within a string', `{"method":"m","params":"${filling},\\"id\\":5}"}`, undefined],
      ['not one that is escaped', `{"jsonrpc":"2.0","id":"a\\n","method":"${filling}"}`, undefined],
      ['not one that is no integer', `{"jsonrpc":"2.0","id":1.5,"method":"${filling}"}`, undefined],
      ['not one beyond what a number can say', `{"jsonrpc":"2.0","id":${'9'.repeat(20)},"m":"${filling}"}`, undefined],
    ];
    it.each(cases)('%s', (_, line, id) => {
      const found = fc.sample(fc.array(fc.nat()), 20).map((cuts) => split(cut(Buffer.from(`${line}\n`), cuts), 1000));
      for (const events of found) {
        expect(events).toEqual([{ oversized: Buffer.byteLength(line), ...(id !== undefined && { id }) }]);
      }
    });
  });

  it('does not keep what it skips', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const events: number[] = [];
    const splitter = new LineSplitter(1000, { line: () => {}, oversized: (bytes) => void events.push(bytes) });
    const pushed = Array.from({ length: 100 }, () => {
      const chunk = new Uint8Array(5000).fill(0x78);
      splitter.push(chunk);
      return new WeakRef(chunk.buffer);
    });
    // Until the end of a turn, what a reference was made to stays.
    await new Promise(setImmediate);
    collectGarbage();
    expect(pushed.filter((reference) => reference.deref() !== undefined).length).toBeLessThan(5);
    splitter.push(Uint8Array.of(NEWLINE));
    expect(events).toEqual([100 * 5000]);
  });
});
