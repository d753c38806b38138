import { LineSplitter } from '../stdio/line-splitter.ts';
import type { WireRecord } from './record-wire.ts';

/** A byte stream of Node that can be recorded: any that is written to, read from, or both. */
export interface WatchedStream {
  /** Of what is written to. */
  write?(chunk: never, ...rest: never[]): boolean;
  /** Of what is written to. */
  end?(...values: never[]): unknown;
  /** Of what is read from: by this method all that arrives gets into a stream. */
  push?(chunk: never, encoding?: never): boolean;
}

type Method = (...values: unknown[]) => unknown;

/** Looks at what passes in both directions, line by line. Nothing is read for that, and nothing held up. */
export function watchStream<Stream extends WatchedStream>(
  stream: Stream,
  add: (direction: WireRecord['direction'], line: string) => void,
): Stream {
  const sent = lines((line) => add('sent', line));
  const received = lines((line) => add('received', line));
  tap(stream, 'write', (chunk) => sent.take(chunk));
  tap(stream, 'end', (chunk) => {
    sent.take(chunk);
    sent.end();
  });
  tap(stream, 'push', (chunk) => (chunk === null ? received.end() : received.take(chunk)));
  return stream;
}

function tap(stream: WatchedStream, name: keyof WatchedStream, look: (chunk: unknown) => void): void {
  const method = stream[name] as Method | undefined;
  if (typeof method !== 'function') return;
  const watched: Method = (...values) => {
    look(values[0]);
    return method.apply(stream, values);
  };
  Object.defineProperty(stream, name, { value: watched, configurable: true, writable: true });
}

function lines(note: (line: string) => void): { take(chunk: unknown): void; end(): void } {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const splitter = new LineSplitter(Infinity, {
    line: (bytes) => note(decoder.decode(bytes)),
    oversized: () => undefined,
  });
  return {
    // `end` may be called with a callback alone.
    take(chunk) {
      if (typeof chunk === 'string') splitter.push(encoder.encode(chunk));
      // A copy: what is not a whole line yet is kept, and whoever wrote the chunk may use it again.
      else if (chunk instanceof Uint8Array) splitter.push(chunk.slice());
    },
    end: () => splitter.end(),
  };
}
