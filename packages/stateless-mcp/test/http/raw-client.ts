import { connect, type Socket } from 'node:net';

/** One HTTP response as its bytes said it. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Body with the transfer coding taken off. */
  readonly text: string;
  /** Whether the body came to its end in good order. */
  readonly isComplete: boolean;
}

/** A client that does with its socket what no HTTP client would do. Every wait of it is bounded. */
export class RawClient {
  readonly socket: Socket;
  /** Resolves when the server has ended its side, or the connection is gone. */
  readonly ended: Promise<void>;
  #chunks: Buffer[] = [];
  #taken = 0;
  #isEnded = false;
  #wake: () => void = () => undefined;
  #resolveEnded!: () => void;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    for (const event of ['end', 'error', 'close']) socket.on(event, () => this.#end());
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawClient(socket);
  }

  /** The server has ended its side, or the connection is gone. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Everything received and not yet taken as a response. */
  get bytes(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all.subarray(this.#taken);
  }

  /** Waits until the kernel has taken it, which a server that does not read can prevent. */
  write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(data, () => resolve());
    });
  }

  /** What has arrived of the response that is arriving. */
  partial(): RawResponse | undefined {
    return parseResponse(this.bytes, this.#isEnded)?.response;
  }

  /** The next whole response. */
  async response(timeoutMs = 5000): Promise<RawResponse> {
    let taken: RawResponse | undefined;
    await this.until(() => {
      const parsed = parseResponse(this.bytes, this.#isEnded);
      if (parsed?.response.isComplete !== true) return false;
      this.#taken += parsed.length;
      taken = parsed.response;
      return true;
    }, timeoutMs);
    if (taken === undefined) throw new Error(`no whole response: ${this.bytes.toString('latin1').slice(0, 500)}`);
    return taken;
  }

  /** A whole chunked response, looked at once and not with every piece of it: for large ones. */
  async largeResponse(timeoutMs = 10_000): Promise<RawResponse> {
    await this.until(() => this.#chunks.at(-1)?.toString('latin1').endsWith('0\r\n\r\n') === true, timeoutMs);
    return this.response();
  }

  /** Waits until a condition about what has arrived holds, or nothing can arrive any more. */
  async until(condition: () => boolean, timeoutMs = 5000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      if (this.#isEnded) return;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`waited too long, got: ${this.bytes.toString('latin1').slice(0, 500)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Waits until so many events of an event stream have arrived. */
  async untilEvents(count: number, timeoutMs = 5000): Promise<readonly unknown[]> {
    const events = (): readonly unknown[] => eventsOf(this.partial()?.text ?? '');
    await this.until(() => events().length >= count, timeoutMs);
    return events();
  }

  #end(): void {
    this.#isEnded = true;
    this.#resolveEnded();
    this.#wake();
  }
}

/** The messages of an event stream, comments left out. */
export function eventsOf(text: string): readonly unknown[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((frame) => frame.startsWith('data: '))
    .map((frame): unknown => JSON.parse(frame.slice('data: '.length)));
}

function parseResponse(bytes: Buffer, isEnded: boolean): { response: RawResponse; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const start = headEnd + 4;
  const made = (text: string, isComplete: boolean, length: number) => ({
    response: { status, headers, text, isComplete },
    length,
  });
  if (status < 200 || status === 204) return made('', true, start);
  if (headers.get('transfer-encoding') === 'chunked') {
    const { body, isComplete, end } = dechunk(bytes, start);
    return made(body.toString('utf8'), isComplete, end);
  }
  const length = headers.get('content-length');
  if (length === undefined) return made(bytes.toString('utf8', start), isEnded, bytes.length);
  const end = start + Number(length);
  return made(bytes.toString('utf8', start, end), bytes.length >= end, end);
}

function dechunk(bytes: Buffer, start: number): { body: Buffer; isComplete: boolean; end: number } {
  const parts: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (size === 0 && bytes.length >= lineEnd + 4)
      return { body: Buffer.concat(parts), isComplete: true, end: lineEnd + 4 };
    const next = lineEnd + 2 + size + 2;
    if (!(size > 0) || bytes.length < next) return { body: Buffer.concat(parts), isComplete: false, end: bytes.length };
    parts.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
  }
}
