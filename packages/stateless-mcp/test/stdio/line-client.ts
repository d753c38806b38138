import type { Readable, Writable } from 'node:stream';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { McpEndpoint, McpHandler } from '../../src/protocol/index.ts';
import { serveStream, type StreamServer } from '../../src/stdio/serve-stream.ts';
import type { StreamOptions } from '../../src/stdio/stream-options.ts';
import { deferred, recordingLogger, within } from '../http/harness.ts';
import type { WireMessage } from '../message-stream.ts';

/**
 * A client as bytes: it writes what it is told and keeps what it reads. Every line that it reads must be a response or a
 * notification, and every wait of it is bounded.
 */
export class LineClient {
  readonly input: Readable;
  readonly output: Writable;
  /** All that was read so far. */
  readonly messages: WireMessage[] = [];
  /** Resolves when the server has ended its side, or the connection is gone. */
  readonly ended: Promise<void>;
  readonly #waiting = new Set<() => void>();
  #chunks: string[] = [];
  #failure: Error | undefined;
  #isEnded = false;

  /** @param reads whether it reads from the beginning; otherwise from {@link read} on */
  constructor(input: Readable, output: Writable, reads = true) {
    this.input = input;
    this.output = output;
    const { promise, resolve } = deferred();
    this.ended = promise;
    const end = (): void => {
      if (this.#chunks.join('') !== '') this.#failure ??= new Error(`half a line: ${this.#chunks.join('')}`);
      this.#isEnded = true;
      resolve();
      this.#wake();
    };
    for (const event of ['end', 'close', 'error']) input.once(event, end);
    // A server may be gone before everything is written.
    output.on('error', () => {});
    if (reads) this.read();
  }

  read(): void {
    this.input.setEncoding('utf8').on('data', (text: string) => this.#take(text));
  }

  send(...messages: readonly unknown[]): void {
    this.output.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  /** The first message for which `matches` holds, read already or yet to come. */
  async message(matches: (message: WireMessage) => boolean, limitMs = 5000): Promise<WireMessage> {
    for (;;) {
      const found = this.messages.find(matches);
      if (found !== undefined) return found;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isEnded) throw new Error(`the connection ended after ${JSON.stringify(this.messages).slice(0, 2000)}`);
      const { promise, resolve } = deferred();
      this.#waiting.add(resolve);
      await within(promise, limitMs);
    }
  }

  async answer(id: unknown, limitMs?: number): Promise<WireMessage> {
    return this.message((message) => message.method === undefined && message.id === id, limitMs);
  }

  async notification(method: string): Promise<WireMessage> {
    return this.message((message) => message.method === method);
  }

  /** Everything, once the server has ended its side. */
  async all(limitMs = 5000): Promise<readonly WireMessage[]> {
    await within(this.ended, limitMs);
    if (this.#failure !== undefined) throw this.#failure;
    return this.messages;
  }

  #take(text: string): void {
    const end = text.lastIndexOf('\n');
    if (end === -1) {
      this.#chunks.push(text);
      return;
    }
    const lines = [...this.#chunks, text.slice(0, end)].join('');
    this.#chunks = [text.slice(end + 1)];
    for (const line of lines.split('\n')) {
      try {
        this.messages.push(parse(line));
      } catch {
        this.#failure ??= new Error(`no message: ${line.slice(0, 200)}`);
      }
    }
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function parse(line: string): WireMessage {
  const message = JSON.parse(line) as WireMessage;
  if (message.jsonrpc !== '2.0') throw new Error('no message');
  if (message.id !== undefined && message.method !== undefined) throw new Error('servers send no requests');
  return message;
}

export interface StreamPair {
  readonly client: LineClient;
  readonly server: StreamServer;
  readonly log: ReturnType<typeof recordingLogger>['lines'];
}

/** A server and its client on streams within this process. */
export function servePair(
  endpoint: McpEndpoint | McpHandler,
  options: StreamOptions = {},
  { reads = true }: { readonly reads?: boolean } = {},
): StreamPair {
  const toServer = new PassThrough();
  const toClient = new PassThrough();
  const logger = recordingLogger();
  const server = serveStream(endpoint, { readable: toServer, writable: toClient }, { logger, ...options });
  onTestFinished(async () => {
    toClient.destroy();
    await within(server.closed, 5000);
  });
  return { client: new LineClient(toClient, toServer, reads), server, log: logger.lines };
}
