import type { RequestId } from '../protocol/json-rpc-types.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** What is kept of both ends of a line that is too long. */
const KEPT_BYTES = 256;

/** Where a message says its id when it is written by the usual serialisers: right at its start, or at its very end. */
const ID_AT_START = /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15}|"[^"\\]{1,200}")\s*,/;
const ID_AT_END = /[,{]\s*"id"\s*:\s*(\d{1,15}|"[^"\\]{1,200}")\s*\}\s*$/;

export interface LineHandler {
  /** A line without its end. Never empty. The bytes may be part of a chunk: read them before returning. */
  line(bytes: Uint8Array): void;
  /** A line was longer than allowed and is gone. `id`: of the message in it, if both ends of the line tell. */
  oversized(bytes: number, id: RequestId | undefined): void;
}

/**
 * Splits a stream of bytes into lines, in time linear in its length however it is cut into chunks. Text is decoded by
 * whoever gets the line: a character may lie across two chunks.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #handler: LineHandler;
  /** The chunks of a line whose end has not come yet. */
  #parts: Uint8Array[] = [];
  #length = 0;
  /** Both ends of a line that is being skipped. */
  #skipped: { readonly head: Uint8Array; tail: Uint8Array } | undefined;

  constructor(maxLineBytes: number, handler: LineHandler) {
    this.#maxLineBytes = maxLineBytes;
    this.#handler = handler;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  /** The stream is over. What came last counts as a line, whether its end came or not. */
  end(): void {
    this.#finish();
  }

  #take(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#skipped !== undefined) {
      this.#skipped.tail = lastBytes(this.#skipped.tail, bytes);
    } else if (this.#length > this.#maxLineBytes) {
      const line = joined([...this.#parts, bytes], this.#length);
      this.#parts = [];
      this.#skipped = { head: line.slice(0, KEPT_BYTES), tail: line.slice(-KEPT_BYTES) };
    } else {
      this.#parts.push(bytes);
    }
  }

  #finish(): void {
    const [only] = this.#parts;
    const parts = this.#parts;
    const length = this.#length;
    const skipped = this.#skipped;
    this.#parts = [];
    this.#length = 0;
    this.#skipped = undefined;
    if (skipped !== undefined) {
      this.#handler.oversized(length, idOf(skipped.head, skipped.tail));
      return;
    }
    if (only === undefined) return;
    const line = parts.length === 1 ? only : joined(parts, length);
    const end = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (end > 0) this.#handler.line(line.subarray(0, end));
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function lastBytes(tail: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (bytes.length >= KEPT_BYTES) return bytes.slice(-KEPT_BYTES);
  const both = joined([tail, bytes], tail.length + bytes.length);
  return both.slice(-KEPT_BYTES);
}

function idOf(head: Uint8Array, tail: Uint8Array): RequestId | undefined {
  const decoder = new TextDecoder();
  const found = ID_AT_START.exec(decoder.decode(head)) ?? ID_AT_END.exec(decoder.decode(tail));
  return found?.[1] === undefined ? undefined : (JSON.parse(found[1]) as RequestId);
}
