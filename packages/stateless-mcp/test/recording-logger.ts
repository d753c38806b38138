import type { Logger } from '../src/protocol/index.ts';

export interface LogEntry {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps what it is told. */
export interface RecordingLogger extends Logger {
  readonly entries: readonly LogEntry[];
  /** The only entry that carries this reference; throws if there is another number of them. */
  byReference(reference: string): LogEntry;
}

export function recordingLogger(): RecordingLogger {
  const entries: LogEntry[] = [];
  const record =
    (level: keyof Logger) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      entries.push({ level, message, fields });
    };
  return {
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
    entries,
    byReference(reference) {
      const found = entries.filter(({ fields }) => fields.reference === reference);
      const [entry] = found;
      if (entry === undefined || found.length > 1) throw new Error(`${found.length} log entries have ${reference}`);
      return entry;
    },
  };
}

/** The reference id in what a peer was sent. */
export function referenceIn(sent: unknown): string {
  const text = JSON.stringify(sent);
  const reference = /\(reference ([0-9a-f-]{36})\)/.exec(text)?.[1];
  if (reference === undefined) throw new Error(`No reference in ${text}`);
  return reference;
}
