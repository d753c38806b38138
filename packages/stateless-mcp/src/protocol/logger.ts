/**
 * Where a server writes what its operator must know. Any logger with these four methods fits; the fields are facts that
 * belong to the message, such as a reference id or an `error`.
 */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The default: warnings and errors to the console's error stream, because standard output may carry the protocol. */
export const consoleLogger: Logger = Object.freeze({
  debug: () => {},
  info: () => {},
  warn: write,
  error: write,
});

function write(message: string, fields?: Readonly<Record<string, unknown>>): void {
  if (fields === undefined) console.error(message);
  else console.error(message, fields);
}

/** A logger whose own failures end here: one that throws must not take a request, or the process, with it. */
export function guarded(logger: Logger): Logger {
  const guard =
    (level: keyof Logger): Logger['error'] =>
    (message, fields) => {
      try {
        logger[level](message, fields);
      } catch {
        write(`The logger failed at: ${message}`);
      }
    };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}
