/**
 * How a body value travels as an HTTP field value: plain when that is safe, otherwise as `=?base64?…?=` over UTF-8.
 * Applies to `Mcp-Name` and `Mcp-Param-*` only; every other header is compared as it stands.
 *
 * Specification: basic/transports/streamable-http, "Value Encoding".
 */

const PREFIX = '=?base64?';
const SUFFIX = '?=';

const encoder = new TextEncoder();
// Without `ignoreBOM` a leading U+FEFF would be dropped, and the value would not equal the body's any more.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The field value that carries `value`. Plain text costs one scan and is returned as it is, the empty string included.
 *
 * Only well-formed strings survive the trip. UTF-8 has no form for a lone surrogate, so it becomes U+FFFD and a server
 * that kept the surrogate refuses the call as a mismatch, rather than this function throwing in the middle of one.
 *
 * @example
 * encodeHeaderValue('us-west1'); // 'us-west1'
 * encodeHeaderValue(' padded '); // '=?base64?IHBhZGRlZCA=?='
 */
export function encodeHeaderValue(value: string): string {
  if (isFieldText(value) && !hasOuterWhitespace(value) && !(value.startsWith(PREFIX) && value.endsWith(SUFFIX))) {
    return value;
  }
  let binary = '';
  for (const byte of encoder.encode(value)) binary += String.fromCharCode(byte);
  return PREFIX + btoa(binary) + SUFFIX;
}

/**
 * The value that a received field value stands for, to be compared exactly with the body's. Whitespace around it is not
 * part of it. Text that is not the exact, lowercase sentinel is literal. `undefined` if nothing valid was sent: a
 * character that no field value may have, or a sentinel around something else than canonical Base64 of UTF-8.
 *
 * @example
 * decodeHeaderValue('=?base64?SGVsbG8=?='); // 'Hello'
 * decodeHeaderValue('=?BASE64?SGVsbG8=?='); // '=?BASE64?SGVsbG8=?='
 * decodeHeaderValue('=?base64?SGVsbG8?='); // undefined
 */
export function decodeHeaderValue(raw: string): string | undefined {
  const value = hasOuterWhitespace(raw) ? withoutOuterWhitespace(raw) : raw;
  if (!isFieldText(value)) return undefined;
  // `=?base64?=` has both markers only if they share a character; it holds no payload and is literal.
  const isEncoded = value.startsWith(PREFIX) && value.endsWith(SUFFIX) && value.length >= PREFIX.length + SUFFIX.length;
  return isEncoded ? decodeBase64(value.slice(PREFIX.length, -SUFFIX.length)) : value;
}

function decodeBase64(payload: string): string | undefined {
  try {
    const binary = atob(payload);
    // `atob` forgives whitespace, absent padding and stray trailing bits. Only one spelling may stand for a value.
    if (btoa(binary) !== payload) return undefined;
    return decoder.decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** Visible ASCII, space and tab: all that a field value may hold. */
function isFieldText(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if ((code < 0x20 && code !== 0x09) || code > 0x7e) return false;
  }
  return true;
}

function isWhitespaceAt(value: string, index: number): boolean {
  const code = value.charCodeAt(index);
  return code === 0x20 || code === 0x09;
}

function hasOuterWhitespace(value: string): boolean {
  return isWhitespaceAt(value, 0) || isWhitespaceAt(value, value.length - 1);
}

/** Not `trim()`, which also takes line breaks and U+00A0: those are invalid here, not optional. */
function withoutOuterWhitespace(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isWhitespaceAt(value, start)) start++;
  while (end > start && isWhitespaceAt(value, end - 1)) end--;
  return value.slice(start, end);
}
