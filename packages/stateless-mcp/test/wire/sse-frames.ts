/** One thing on an event stream: a comment line, or an event with its fields. */
export type SseFrame = SseComment | SseEvent;

export interface SseComment {
  readonly comment: string;
}

export interface SseEvent {
  readonly event?: string;
  readonly id?: string;
  readonly retry?: string;
  readonly data: string;
}

export function isEvent(frame: SseFrame): frame is SseEvent {
  return 'data' in frame;
}

/** The frame as it is written to a stream. */
export function formatFrame(frame: SseFrame): string {
  if (!isEvent(frame)) return `:${frame.comment}\n\n`;
  const { data, ...fields } = frame;
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [...lines, ...data.split('\n').map((line) => `data: ${line}`), '', ''].join('\n');
}

/**
 * Reads frames out of a byte stream that is cut anywhere. Not the parser of the library, so that the two can disagree.
 * Bytes that are not UTF-8 throw.
 */
export class SseReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #rest = '';
  #fields = new Map<string, string>();

  push(bytes: Uint8Array): readonly SseFrame[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    // A CR at the end may be half of a CRLF.
    const complete = this.#rest.endsWith('\r') ? this.#rest.slice(0, -1) : this.#rest;
    const lines = complete.split(/\r\n|\n|\r/);
    const unfinished = lines.pop() ?? '';
    this.#rest = unfinished + this.#rest.slice(complete.length);
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line: string): readonly SseFrame[] {
    if (line === '') return this.#finishEvent();
    if (line.startsWith(':')) return [{ comment: line.slice(1) }];
    const [, name = line, value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
    const before = this.#fields.get(name);
    this.#fields.set(name, name === 'data' && before !== undefined ? `${before}\n${value}` : value);
    return [];
  }

  #finishEvent(): readonly SseFrame[] {
    const data = this.#fields.get('data');
    const fields = Object.fromEntries(this.#fields);
    this.#fields = new Map();
    return data === undefined ? [] : [{ ...fields, data }];
  }
}
