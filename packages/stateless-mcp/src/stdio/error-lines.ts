import { StringDecoder } from 'node:string_decoder';

/** How many of the last lines are kept, and how much of each. */
const KEPT_LINES = 20;
export const SHOWN_CHARACTERS = 500;
/** More is kept than is shown, so that a secret at the end of what is shown is whole when it is looked for. */
const KEPT_CHARACTERS = 8192;
/** A longer line is told in pieces. */
const MAX_LINE_CHARACTERS = 64 * 1024;

/** What a process writes to its error stream, line by line. Keeps the last ones. */
export class ErrorLines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #listener: ((line: string) => void) | undefined;
  readonly #kept: string[] = [];
  #rest = '';

  /** @param listener gets every line as it is, without its end */
  constructor(listener?: (line: string) => void) {
    this.#listener = listener;
  }

  get last(): readonly string[] {
    return this.#rest === '' ? [...this.#kept] : [...this.#kept, shortened(this.#rest)].slice(-KEPT_LINES);
  }

  push(chunk: Buffer): void {
    // The rest is bounded, so that a stream without line ends does not make this slow.
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#add(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (this.#rest.length > MAX_LINE_CHARACTERS) this.end();
  }

  /** What came last is a line too. */
  end(): void {
    if (this.#rest !== '') this.#add(this.#rest);
    this.#rest = '';
  }

  #add(line: string): void {
    this.#listener?.(line);
    if (line.trim() === '') return;
    this.#kept.push(shortened(line));
    if (this.#kept.length > KEPT_LINES) this.#kept.shift();
  }
}

function shortened(line: string): string {
  return line.slice(0, KEPT_CHARACTERS);
}
