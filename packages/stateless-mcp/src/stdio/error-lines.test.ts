import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ErrorLines } from './error-lines.ts';

describe('ErrorLines', () => {
  it('tells every line once, however the stream is cut', () => {
    const text = 'Grüße 🎉\r\n\nlast without end';
    fc.assert(
      fc.property(fc.array(fc.nat(Buffer.byteLength(text)), { maxLength: 8 }), (cuts) => {
        const lines: string[] = [];
        const errorLines = new ErrorLines((line) => lines.push(line));
        let start = 0;
        for (const end of [...cuts.sort((a, b) => a - b), undefined]) {
          errorLines.push(Buffer.from(text).subarray(start, end));
          start = end ?? start;
        }
        expect(errorLines.last).toEqual(['Grüße 🎉', 'last without end']);
        errorLines.end();
        expect(lines).toEqual(['Grüße 🎉', '', 'last without end']);
        expect(errorLines.last).toEqual(['Grüße 🎉', 'last without end']);
      }),
    );
  });

  it('keeps the last twenty, the beginning of each', () => {
    const errorLines = new ErrorLines();
    for (let index = 0; index < 50; index++) errorLines.push(Buffer.from(`${index} ${'x'.repeat(1000)}\n`));
    expect(errorLines.last).toHaveLength(20);
    expect(errorLines.last[0]).toBe(`30 ${'x'.repeat(1000)}`);
    errorLines.push(Buffer.from(`${'y'.repeat(10_000)}\n`));
    expect(errorLines.last.at(-1)).toBe('y'.repeat(8192));
  });

  it('holds a bounded part of a line that does not end', () => {
    const lengths: number[] = [];
    const errorLines = new ErrorLines((line) => lengths.push(line.length));
    for (let index = 0; index < 100; index++) errorLines.push(Buffer.alloc(10_000, 'x'));
    expect(Math.max(...lengths)).toBeLessThan(100_000);
    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(900_000);
  });
});
