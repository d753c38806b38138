/**
 * How deep arrays and objects nest. Code that walks a message may recurse, so what is deeper than the limit is refused
 * before anything walks it: on the bytes when they are at hand, on the value when somebody else parsed it.
 * A scalar has depth 0, `[]` has 1, `[{}]` has 2.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Whether the JSON text in `bytes` (UTF-8) nests deeper than `limit`. Exact for valid JSON; for anything else the answer
 * means nothing, and parsing refuses it anyway. Allocates nothing and stops at the first level too many.
 *
 * @example
 * exceedsDepth(new TextEncoder().encode('[["]]"]]'), 1); // true
 */
export function exceedsDepth(bytes: Uint8Array, limit: number): boolean {
  const { length } = bytes;
  if (length <= limit) return false;
  let depth = 0;
  for (let index = 0; index < length; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      for (index++; index < length && bytes[index] !== QUOTE; index++) {
        if (bytes[index] === BACKSLASH) index++;
      }
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > limit) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
    }
  }
  return false;
}

/**
 * Whether an already parsed JSON value nests deeper than `limit`. Iterative, so that no depth of the value can exhaust the
 * stack. A cycle is infinitely deep and exceeds every limit.
 *
 * @example
 * valueExceedsDepth({ a: [1] }, 1); // true
 */
export function valueExceedsDepth(value: unknown, limit: number): boolean {
  if (!isContainer(value)) return false;
  if (limit < 1) return true;
  const pending: object[] = [value];
  const depths: number[] = [1];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    const depth = (depths.pop() ?? 0) + 1;
    const children: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
    for (const child of children) {
      if (!isContainer(child)) continue;
      if (depth > limit) return true;
      pending.push(child);
      depths.push(depth);
    }
  }
  return false;
}

/** An object or an array. */
export function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
