import { type Duplex, duplexPair } from 'node:stream';
import { SUBSCRIPTION_ID_META_KEY } from '../../src/protocol/index.ts';
import { serveStream } from '../../src/stdio/index.ts';
import type { WireMessage } from '../message-stream.ts';
import { believing, withCaller } from './auth-in-meta.ts';
import { MessageQueue } from './message-queue.ts';
import type { OpenAnswer, SendOptions, ServeWire, WireRequest } from './wire.ts';

/** One connection of lines for all requests of a test. */
export const stdioWire: ServeWire = async (endpoint, options) => {
  const [ours, theirs] = duplexPair();
  const server = serveStream(believing(endpoint), theirs, options);
  const client = new LineClient(ours);
  return {
    open: async (request, sendOptions) => client.open(withCaller(request, sendOptions), sendOptions),
    drain: async () => server.drain(),
    async close() {
      client.end();
      await server.close();
      const [violation, ...more] = client.violations;
      if (violation !== undefined) throw new Error(`${violation} (and ${more.length} more)`);
    },
  };
};

interface OpenRequest {
  readonly request: WireRequest;
  readonly queue: MessageQueue;
  /** Counts what was written before. */
  readonly sentAt: number;
}

/**
 * The client's end of a connection, written out by hand: two ends of the library that agree would prove little. Besides
 * finding the request of each line, it notes what a server must not write.
 */
class LineClient {
  readonly violations: string[] = [];
  readonly #stream: Duplex;
  readonly #open = new Map<string, OpenRequest>();
  /** Ids whose request was answered. */
  readonly #answered = new Set<string>();
  /** Ids whose request was cancelled, and when. What the server wrote before it read that may still arrive. */
  readonly #cancelled = new Map<string, number>();
  #written = 0;
  #isEnding = false;
  #rest = '';

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#read(text));
    stream.once('end', () => {
      for (const { queue } of this.#open.values()) queue.end();
      stream.end();
    });
  }

  open(request: WireRequest, { signal }: SendOptions): OpenAnswer {
    signal?.throwIfAborted();
    const key = keyOf(request.id);
    if (this.#open.has(key)) throw new Error(`The id ${key} is in use: over stdio every request has one of its own`);
    const open = { request, queue: new MessageQueue(), sentAt: this.#written };
    this.#open.set(key, open);
    this.#answered.delete(key);
    this.#cancelled.delete(key);
    this.#write(request);
    const leave = (reason: unknown): void => {
      if (this.#open.get(key) !== open) return;
      this.#open.delete(key);
      this.#cancelled.set(key, this.#written);
      this.#write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: request.id } });
      open.queue.fail(reason);
    };
    signal?.addEventListener('abort', () => leave(signal.reason), { once: true });
    const close = async (): Promise<void> => leave(new Error('It was closed'));
    return { http: undefined, next: async () => open.queue.next(), close, [Symbol.asyncDispose]: close };
  }

  end(): void {
    this.#isEnding = true;
    this.#stream.end();
  }

  #write(message: object): void {
    this.#written += 1;
    this.#stream.write(`${JSON.stringify(message)}\n`);
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#receive(line);
  }

  #receive(line: string): void {
    // What ends is not asked for in good order.
    if (this.#isEnding) return;
    let message: WireMessage;
    try {
      message = JSON.parse(line) as WireMessage;
    } catch {
      this.violations.push(`A line is no message: ${line}`);
      return;
    }
    if (message.jsonrpc !== '2.0') this.violations.push(`"jsonrpc" is missing: ${line}`);
    if (message.method === undefined) this.#answer(message, line);
    else if (message.method === 'notifications/cancelled') this.#endStream(message, line);
    else this.#deliver(message, line);
  }

  #answer(message: WireMessage, line: string): void {
    const key = keyOf(message.id);
    const open = this.#open.get(key);
    if (open === undefined) {
      this.#stray(key, line);
      return;
    }
    this.#open.delete(key);
    this.#answered.add(key);
    open.queue.push(message);
    open.queue.end();
    // Whoever answers what was sent after a cancellation has read that one too.
    for (const [cancelled, at] of this.#cancelled) if (at < open.sentAt) this.#cancelled.delete(cancelled);
  }

  /** A server says so behind the result of a stream. */
  #endStream({ params }: WireMessage, line: string): void {
    if (!this.#answered.delete(keyOf(params?.requestId))) this.violations.push(`Nobody's stream was ended: ${line}`);
  }

  #deliver(message: WireMessage, line: string): void {
    const token = message.params?.progressToken;
    const subscription = (message.params?._meta as Record<string, unknown> | undefined)?.[SUBSCRIPTION_ID_META_KEY];
    if (subscription !== undefined) {
      const key = keyOf(subscription);
      const open = this.#open.get(key);
      if (open === undefined) this.#stray(key, line);
      else open.queue.push(message);
      return;
    }
    const candidates = [...this.#open.values()].filter(
      ({ request }) => token === undefined || request.params._meta.progressToken === token,
    );
    const [only] = candidates;
    if (only !== undefined && candidates.length === 1) only.queue.push(message);
    else if (candidates.length > 1) this.violations.push(`It could belong to ${candidates.length} requests: ${line}`);
    else if (this.#cancelled.size === 0) this.violations.push(`It belongs to no request that is open: ${line}`);
  }

  #stray(key: string, line: string): void {
    if (!this.#cancelled.has(key)) this.violations.push(`It belongs to no request that is open: ${line}`);
  }
}

/** Of 1 and '1', each is another one. */
function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? 'none';
}
