import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts';

describe('encodeHeaderValue', () => {
  it.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ])('HDR-08: encodes the example of the specification %j', (value, encoded) => {
    expect(encodeHeaderValue(value)).toBe(encoded);
    expect(decodeHeaderValue(encoded)).toBe(value);
  });

  it.each([
    ['my-tool_name', 'my-tool_name'],
    ['us west 1', 'us west 1'],
    ['tab\tinside', 'tab\tinside'],
    ['file:///path/to/file%20name.txt', 'file:///path/to/file%20name.txt'],
    ['https://example.com/resource?id=123', 'https://example.com/resource?id=123'],
    ['', ''],
    [' us-west1', '=?base64?IHVzLXdlc3Qx?='],
    ['us-west1 ', '=?base64?dXMtd2VzdDEg?='],
    [' us-west1 ', '=?base64?IHVzLXdlc3QxIA==?='],
    ['\tindented', '=?base64?CWluZGVudGVk?='],
    ['日本語', '=?base64?5pel5pys6Kqe?='],
    ['line1\r\nline2', '=?base64?bGluZTENCmxpbmUy?='],
    ['\u007f', '=?base64?fw==?='],
    ['\u0000', '=?base64?AA==?='],
  ])('HDR-08, T-91, T-92: writes %j as %j', (value, encoded) => {
    expect(encodeHeaderValue(value)).toBe(encoded);
  });

  it.each(['=?base64?SGVsbG8=?=', '=?base64??=', '=?base64?=', '=?base64?not base64?='])(
    'HDR-09, T-89: encodes %j, which would be taken for an encoded value',
    (value) => {
      expect(encodeHeaderValue(value)).not.toBe(value);
      expect(decodeHeaderValue(encodeHeaderValue(value))).toBe(value);
    },
  );

  it.each(['=?base64?SGVsbG8=', 'SGVsbG8=?=', '=?BASE64?SGVsbG8=?=', 'x=?base64?SGVsbG8=?='])(
    'leaves %j alone, which is not the sentinel',
    (value) => {
      expect(encodeHeaderValue(value)).toBe(value);
    },
  );

  it('writes U+FFFD for a lone surrogate, which UTF-8 cannot carry', () => {
    expect(decodeHeaderValue(encodeHeaderValue('a\ud800b'))).toBe('a\ufffdb');
  });

  it('keeps a leading byte order mark', () => {
    expect(decodeHeaderValue(encodeHeaderValue('\ufeffa'))).toBe('\ufeffa');
  });

  it('returns what Headers accepts and gives back unchanged, and what decodes to the value', () => {
    const sentinelLike = fc.string().map((inner) => `=?base64?${inner}?=`);
    const spaced = fc.tuple(fc.constantFrom('', ' ', '\t'), fc.string(), fc.constantFrom('', ' ', '\t'));
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      sentinelLike,
      spaced.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(value, (text) => {
        const encoded = encodeHeaderValue(text);
        expect(new Headers({ 'mcp-name': encoded }).get('mcp-name')).toBe(encoded);
        expect(decodeHeaderValue(encoded)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('decodeHeaderValue', () => {
  it.each(['  foo ', '\tfoo\t', 'foo', ' \t foo'])('T-85: trims optional whitespace around %j', (raw) => {
    expect(decodeHeaderValue(raw)).toBe('foo');
  });

  it.each(['', ' ', ' \t '])('T-92: reads %j as the empty string', (raw) => {
    expect(decodeHeaderValue(raw)).toBe('');
  });

  it('T-85: keeps the case of values', () => {
    expect(decodeHeaderValue('TOOLS/LIST')).toBe('TOOLS/LIST');
  });

  it.each([
    ['=?base64?SGVsbG8=?=', 'Hello'],
    [' =?base64?SGVsbG8=?= ', 'Hello'],
    ['=?base64??=', ''],
  ])('HDR-10: decodes %j', (raw, value) => {
    expect(decodeHeaderValue(raw)).toBe(value);
  });

  it.each([
    '=?BASE64?SGVsbG8=?=',
    '=?Base64?SGVsbG8=?=',
    '=?base64?SGVsbG8=',
    'SGVsbG8=',
    '=?base64?=',
    '=?b?SGVsbG8=?=',
  ])('T-88: takes %j literally', (raw) => {
    expect(decodeHeaderValue(raw)).toBe(raw);
  });

  it.each([
    ['missing padding', '=?base64?SGVsbG8?='],
    ['too much padding', '=?base64?SGVsbG8==?='],
    ['padding inside', '=?base64?SGVs=bG8?='],
    ['wrong alphabet', '=?base64?SGVs!!!bG8=?='],
    ['the URL alphabet', '=?base64?_-__?='],
    ['a space inside', '=?base64?SGVs bG8=?='],
    ['an impossible length', '=?base64?SGVsb?='],
    ['stray trailing bits', '=?base64?SGVsbG9=?='],
    ['a lone byte of UTF-8', '=?base64?/w==?='],
    ['a surrogate in UTF-8', '=?base64?7aCA?='],
    ['an overlong form', '=?base64?wIA=?='],
  ])('T-87: refuses %s', (_what, raw) => {
    expect(decodeHeaderValue(raw)).toBeUndefined();
    expect(decodeHeaderValue('=?base64?SGVsbG8=?=')).toBe('Hello');
  });

  it.each(['Région', 'a\u0000b', 'a\nb', 'a\rb', '\u007f', '\u00a0foo', 'foo\n', '世界', '=?base64?SGVs\u00e9bG8=?='])(
    'HDR-07: refuses %j, which no field value may hold',
    (raw) => {
      expect(decodeHeaderValue(raw)).toBeUndefined();
    },
  );

  it('never reads two spellings as one value, outer whitespace aside', () => {
    const raw = fc.oneof(
      fc.string({ unit: 'binary-ascii' }),
      fc.base64String().map((payload) => `=?base64?${payload}?=`),
      fc.string({ unit: fc.constantFrom('A', 'Q', 'B', 'g', '=', ' ') }).map((payload) => `=?base64?${payload}?=`),
    );
    fc.assert(
      fc.property(raw, (text) => {
        const value = decodeHeaderValue(text);
        if (value === undefined || value === text.replace(/^[ \t]+|[ \t]+$/g, '')) return;
        expect(text.replace(/^[ \t]+|[ \t]+$/g, '')).toBe(`=?base64?${Buffer.from(value).toString('base64')}?=`);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes time in proportion to the length', () => {
    const length = 500_000;
    expect(decodeHeaderValue(`a${' '.repeat(length)}`)).toBe('a');
    expect(decodeHeaderValue(`a${' '.repeat(length)}b`)?.length).toBe(length + 2);
    expect(decodeHeaderValue(`=?base64?${'A'.repeat(length)}!?=`)).toBeUndefined();
    expect(decodeHeaderValue(encodeHeaderValue('é'.repeat(length)))?.length).toBe(length);
  });
});
