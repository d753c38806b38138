import { GatheredBytes } from '../protocol/gathered-bytes.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** What is kept of both ends of a line that is too long. */
const KEPT_BYTES = 256;

/** Where a message says its id when it is written by the usual serialisers: right at its start, or at its very end. */
const ID_AT_START =
  /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*(?:"method"\s*:\s*"[^"\\]{1,100}"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{1,200}")\s*,/;
const ID_AT_END = /[,{]\s*"id"\s*:\s*(\d{1,15}|"[^"\\]{1,200}")\s*\}\s*$/;

export interface LineHandler {
  /** A line without its end. Never empty. The bytes are used again: read them before returning. */
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
  /** What has come of a line whose end has not. */
  readonly #line: GatheredBytes;
  /** Both ends of a line that is being skipped. */
  #skipped: { readonly head: Uint8Array; tail: Uint8Array; length: number } | undefined;

  constructor(maxLineBytes: number, handler: LineHandler) {
    this.#maxLineBytes = maxLineBytes;
    this.#handler = handler;
    this.#line = new GatheredBytes(maxLineBytes);
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      // Most lines lie within one chunk, and are not copied.
      if (this.#line.length === 0 && this.#skipped === undefined && rest.length <= this.#maxLineBytes) this.#emit(rest);
      else this.#finish(rest);
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  /** The stream is over. What came last counts as a line, whether its end came or not. */
  end(): void {
    this.#finish(new Uint8Array(0));
  }

  #take(bytes: Uint8Array): void {
    if (this.#skipped !== undefined) {
      this.#skipped.tail = lastBytes(this.#skipped.tail, bytes);
      this.#skipped.length += bytes.length;
    } else if (this.#line.length + bytes.length <= this.#maxLineBytes) {
      this.#line.append(bytes);
    } else {
      const kept = this.#line.bytes;
      const head = joined(kept.subarray(0, KEPT_BYTES), bytes.subarray(0, KEPT_BYTES)).slice(0, KEPT_BYTES);
      const tail = lastBytes(kept.subarray(-KEPT_BYTES), bytes);
      this.#skipped = { head, tail, length: kept.length + bytes.length };
      this.#line.clear();
    }
  }

  #finish(rest: Uint8Array): void {
    this.#take(rest);
    const line = this.#line.bytes;
    const skipped = this.#skipped;
    this.#line.clear();
    this.#skipped = undefined;
    if (skipped === undefined) this.#emit(line);
    else this.#handler.oversized(skipped.length, idOf(skipped.head, skipped.tail));
  }

  #emit(line: Uint8Array): void {
    const end = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (end > 0) this.#handler.line(line.subarray(0, end));
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

function lastBytes(tail: Uint8Array, bytes: Uint8Array): Uint8Array {
  return joined(tail, bytes.subarray(-KEPT_BYTES)).slice(-KEPT_BYTES);
}

function idOf(head: Uint8Array, tail: Uint8Array): RequestId | undefined {
  const decoder = new TextDecoder();
  const found = ID_AT_START.exec(decoder.decode(head)) ?? ID_AT_END.exec(decoder.decode(tail));
  return found?.[1] === undefined ? undefined : (JSON.parse(found[1]) as RequestId);
}
