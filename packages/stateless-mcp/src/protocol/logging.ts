/** Severity of a log message, after syslog (RFC 5424). */
export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** All severities, the least severe first. */
export const LOGGING_LEVELS: readonly LoggingLevel[] = Object.freeze([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]);

/** Whether a value from a peer is a severity that this revision defines. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return LOGGING_LEVELS.some((level) => level === value);
}

/** Whether a message of severity `level` passes a caller's `threshold`. */
export function atLeast(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return LOGGING_LEVELS.indexOf(level) >= LOGGING_LEVELS.indexOf(threshold);
}
