import type { HttpFetch } from '../http/http-fetch.ts';
import { RecordRedaction } from './redact-record.ts';
import { watchFetch } from './watch-fetch.ts';
import { type WatchedStream, watchStream } from './watch-stream.ts';

/** One message, or what stood in its place, as it went over a wire. Without what looks like a secret. */
export interface WireRecord {
  /** As seen from the end that is recorded. */
  readonly direction: 'sent' | 'received';
  /** The body of an HTTP message, the data of one event, or a line, as it was written. Empty: an answer without a body. */
  readonly text: string;
  /** `text` as JSON. Absent: it is none. */
  readonly message?: unknown;
  /** The HTTP message that it came in; several events of one stream share it. Absent where there is no HTTP. */
  readonly http?: HttpRecord;
}

/** The head of an HTTP message. */
export interface HttpRecord {
  readonly url: string;
  /** Absent in requests. */
  readonly status?: number;
  /** By names in lower case. Of an answer whose headers cannot be listed: those that matter to the protocol. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Collects what goes over the wires that it is put on. */
export interface WireRecorder {
  /** Everything so far, in the order in which it was sent and arrived. */
  readonly records: readonly WireRecord[];
  /**
   * The same HTTP client, recorded.
   *
   * @example
   * const wire = recordWire();
   * const peer = httpPeer('https://mcp.example.com/mcp', { fetch: wire.fetch(fetch) });
   */
  fetch(fetch: HttpFetch): HttpFetch;
  /**
   * Records a stream of lines from now on: what is written to it, and what arrives. Its methods `write`, `end` and `push` are
   * replaced by ones that look at what passes; it is returned as it is otherwise. Of a pair, both ends are recorded one
   * by one.
   *
   * @example
   * const wire = recordWire();
   * const peer = streamPeer(wire.stream(createConnection('/run/weather.sock')));
   */
  stream<Stream extends WatchedStream>(stream: Stream): Stream;
}

export interface RecordWireOptions {
  /** Texts that must not be recorded, whatever they look like. Values of credential headers are among them anyway. */
  readonly secrets?: readonly string[];
}

/**
 * Records what really goes over a wire, for tests of what is sent and for finding faults. It keeps everything: not for
 * production.
 *
 * @example
 * const wire = recordWire();
 * const client = new McpClient(httpPeer('http://127.0.0.1:3000/mcp', { fetch: wire.fetch(fetch) }));
 * await client.callTool('forecast', { city: 'Rome' });
 * for (const { direction, text } of wire.records) show(`${direction} ${text}`);
 */
export function recordWire({ secrets = [] }: RecordWireOptions = {}): WireRecorder {
  const records: WireRecord[] = [];
  const redaction = new RecordRedaction(secrets);

  const add = (direction: WireRecord['direction'], text: string, http?: HttpRecord): void => {
    records.push({ direction, ...redacted(text, redaction), ...(http !== undefined && { http }) });
  };
  const head = (url: string, headers: Iterable<readonly [string, string]>, status?: number): HttpRecord => ({
    url: redaction.text(url),
    headers: Object.fromEntries(
      Array.from(headers, ([name, value]) => [name.toLowerCase(), redaction.header(name.toLowerCase(), value)]),
    ),
    ...(status !== undefined && { status }),
  });

  return {
    records,
    fetch: (fetch) => watchFetch(fetch, { add, head }),
    stream: (stream) => watchStream(stream, add),
  };
}

/** As it was written, unless something had to be taken out. */
function redacted(text: string, redaction: RecordRedaction): Pick<WireRecord, 'text' | 'message'> {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { text: redaction.text(text) };
  }
  const shown = redaction.value(message);
  return { text: shown === message ? text : JSON.stringify(shown), message: shown };
}
