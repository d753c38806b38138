import type { ClientCapabilities } from '../protocol/capabilities.ts';
import type { Clock } from '../protocol/clock.ts';
import type { Implementation } from '../protocol/implementation.ts';
import type { Logger } from '../protocol/logger.ts';
import type { LoggingLevel } from '../protocol/logging.ts';
import type { Meta } from '../protocol/meta.ts';
import type { LogParams, ProgressParams } from '../protocol/notifications.ts';
import type { SchemaValidator } from '../schema/schema-validator.ts';
import type { OutputCheck } from './tool-outputs.ts';

export interface McpClientOptions {
  /** The software that asks, sent with every request for display and logs. Default: this library. `false`: not sent. */
  readonly clientInfo?: Implementation | false | undefined;
  /** What this client can do for a server, declared with every request. Default: nothing optional. */
  readonly capabilities?: ClientCapabilities | undefined;
  /**
   * Milliseconds without a sign of life (progress, log messages, comments of an event stream) after which a request is given
   * up. Default: 60,000.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Milliseconds after which a request is given up in any case. Default: 3,600,000, one hour. */
  readonly totalTimeoutMs?: number | undefined;
  /** Asks for log messages of at least this severity. Default: none. */
  readonly logLevel?: LoggingLevel | undefined;
  /** Takes the log messages of all requests that have no listener of their own. */
  readonly onLog?: Listener<LogParams> | undefined;
  /** Structured results that do not fit the schema of their tool: a warning (default), an error, or not looked at. */
  readonly outputCheck?: OutputCheck | undefined;
  /** Checks them. Default: the built-in validator, which is safe with schemas of strangers. */
  readonly validator?: SchemaValidator | undefined;
  /** Pages of one list. Default: 1000. */
  readonly maxPages?: number | undefined;
  /** Where warnings go. Default: the console's error stream. */
  readonly logger?: Logger | undefined;
  /** For tests. Default: the time of the platform. */
  readonly clock?: Clock | undefined;
}

/** Hears of something. What it returns does not matter, but for a promise: until that is settled, nothing more is read. */
export type Listener<Value> = (value: Value) => unknown;

/** How one request is made. Absent: as the client does it. */
export interface RequestOptions {
  /** Gives the request up: it settles at once, and the server is told. */
  readonly signal?: AbortSignal | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly totalTimeoutMs?: number | undefined;
  /** Progress is asked for in any case; this is who hears of it. */
  readonly onProgress?: Listener<ProgressParams> | undefined;
  readonly logLevel?: LoggingLevel | undefined;
  readonly onLog?: Listener<LogParams> | undefined;
  /** Added to the metadata of the request, such as trace context. Never in place of what the client declares there. */
  readonly meta?: Meta | undefined;
}

/** How something is read that may be kept. */
export interface ReadOptions extends RequestOptions {
  /**
   * - `default`: what was read before, as long as its server allows
   * - `reload`: asks again, and keeps the answer
   * - `no-store`: asks again, and keeps nothing
   */
  readonly cache?: 'default' | 'reload' | 'no-store' | undefined;
}

/** Parameters of a method as its caller writes them: metadata is optional, the client fills in its own. */
export type ParamsOf<Params> = {
  readonly [Name in keyof Params as Name extends '_meta' ? never : Name]: Params[Name];
} & {
  readonly _meta?: Meta;
};
