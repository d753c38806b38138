import type { AuthInfo } from '../protocol/auth-info.ts';
import { deferred, type Deferred } from '../protocol/deferred.ts';
import type { Exchange, HttpRequestInfo } from '../protocol/handler.ts';
import type { ExtensionNotification, McpNotification } from '../protocol/notifications.ts';
import { MODERN_VERSIONS } from '../protocol/versions.ts';

export interface BuildExchangeOptions {
  /** The caller asked for progress. Default: `false`, and progress is dropped, as by every binding. */
  readonly wantsProgress?: boolean;
  /** Who calls, as verified. Default: nobody. */
  readonly auth?: AuthInfo;
  /** Headers of the HTTP request, by names in any case. Default: it did not come by HTTP. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Revisions that are served, the newest first. Default: those of this library. */
  readonly versions?: readonly string[];
}

/** An exchange whose other end is a test. */
export interface TestExchange extends Exchange {
  /** What would have been sent so far, in order. */
  readonly notifications: readonly (McpNotification | ExtensionNotification)[];
  /** The caller is gone: `signal` aborts, whoever waits for room goes on, and nothing more is sent. */
  abort(reason?: unknown): void;
  /** The server drains: `closing` aborts. */
  close(reason?: unknown): void;
  /** The caller stops reading: from now on `notify` returns a promise. What is sent all the same is collected. */
  fill(): void;
  /** The caller reads again: those promises settle. */
  empty(): void;
}

/**
 * An exchange for a handler that is called directly. It collects what the handler sends, and is given up, drained or held up
 * when the test says so.
 *
 * @example
 * const exchange = buildExchange({ auth: { principal: 'ann' }, wantsProgress: true });
 * const result = await server.handler(buildRequest('tools/call', { name: 'forecast' }), exchange);
 * show(exchange.notifications);
 */
export function buildExchange(options: BuildExchangeOptions = {}): TestExchange {
  const { wantsProgress = false, auth, headers, versions = MODERN_VERSIONS } = options;
  const leaving = new AbortController();
  const closing = new AbortController();
  const notifications: (McpNotification | ExtensionNotification)[] = [];
  let room: Deferred<void> | undefined;
  const empty = (): void => {
    room?.resolve();
    room = undefined;
  };
  return {
    signal: leaving.signal,
    closing: closing.signal,
    wantsProgress,
    versions,
    auth,
    http: headers === undefined ? undefined : httpRequestOf(headers),
    notifications,
    notify(notification) {
      const isUnwanted = notification.method === 'notifications/progress' && !wantsProgress;
      if (leaving.signal.aborted || isUnwanted) return undefined;
      notifications.push(notification);
      return room?.promise;
    },
    abort(reason = new DOMException('The caller is gone', 'AbortError')) {
      leaving.abort(reason);
      empty();
    },
    close(reason = new DOMException('The server is shutting down', 'AbortError')) {
      closing.abort(reason);
    },
    fill() {
      if (!leaving.signal.aborted) room ??= deferred();
    },
    empty,
  };
}

function httpRequestOf(headers: Readonly<Record<string, string>>): HttpRequestInfo {
  return { headers: new Headers(headers), url: '/mcp', address: '127.0.0.1' };
}
