import { deferred } from '../protocol/deferred.ts';
import { LocalError } from '../protocol/local-error.ts';
import { LISTEN, type MethodRow } from '../protocol/methods.ts';
import type {
  ExtensionNotification,
  McpNotification,
  ResourceUpdatedParams,
  SubscriptionsAcknowledgedParams,
} from '../protocol/notifications.ts';
import type { McpResult } from '../protocol/result.ts';
import type { SubscriptionFilter } from '../protocol/subscriptions.ts';
import type { CallOptions } from './call.ts';
import type { Listener, RequestOptions } from './client-options.ts';
import type { CacheSubject } from './response-cache.ts';

export interface ListenOptions extends RequestOptions {
  /** Hears of every change. */
  readonly onChange: Listener<McpNotification | ExtensionNotification>;
}

/** An open stream of changes. */
export interface Subscription extends AsyncDisposable {
  /** What the server delivers of what was asked for. */
  readonly honored: SubscriptionFilter;
  /**
   * Resolves when the stream is over in good order: ended by the server, by `close`, or by the signal. Rejects with `LocalError` of code
   * `closed` when it broke off: changes may have been missed from then on.
   */
  readonly closed: Promise<void>;
  /** Ends the stream. */
  close(): Promise<void>;
}

interface SubscriptionHost {
  request(
    row: MethodRow,
    params: { readonly notifications: SubscriptionFilter },
    options: Pick<CallOptions, 'signal' | 'onNotification'>,
  ): Promise<McpResult>;
  invalidate(subject: CacheSubject): void;
}

/**
 * Resolves with the acknowledgement; rejects if the server refuses, or does not answer in time.
 *
 * @throws TypeError for a listener that is none
 */
export async function openSubscription(
  filter: SubscriptionFilter,
  { signal, onChange }: ListenOptions,
  host: SubscriptionHost,
): Promise<Subscription> {
  if (typeof onChange !== 'function') throw new TypeError('listen: onChange must be a function');
  const acknowledged = deferred<SubscriptionFilter>();
  const leaving = new AbortController();
  const close = async (): Promise<void> => {
    leaving.abort(new LocalError('aborted', 'The subscription was closed at this end'));
    await closed.catch(() => {});
  };
  const onNotification = (notification: McpNotification | ExtensionNotification): unknown => {
    if (notification.method === 'notifications/subscriptions/acknowledged') {
      const { notifications } = notification.params as SubscriptionsAcknowledgedParams;
      // What happened before nobody has told.
      for (const subject of subjectsOf(notifications, filter)) host.invalidate(subject);
      acknowledged.resolve(notifications);
      return undefined;
    }
    const subject = subjectOf(notification);
    if (subject !== undefined) host.invalidate(subject);
    return onChange(notification);
  };
  const left = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
  const ended = host.request(LISTEN, { notifications: filter }, { signal: left, onNotification });
  const closed = ended.then(
    () => undefined,
    (error: unknown) => {
      if (!left.aborted) throw error;
    },
  );
  // A server that has nothing to deliver may complete without a word. Who does not look at `closed` is not punished.
  ended.then(() => acknowledged.resolve({}), acknowledged.reject);
  closed.catch(() => {});
  return { honored: await acknowledged.promise, closed, close, [Symbol.asyncDispose]: close };
}

function* subjectsOf(honored: SubscriptionFilter, asked: SubscriptionFilter): Generator<CacheSubject> {
  if (honored.toolsListChanged === true) yield { kind: 'tools' };
  if (honored.promptsListChanged === true) yield { kind: 'prompts' };
  if (honored.resourcesListChanged === true) yield { kind: 'resources' };
  // A server may write anything there.
  const uris: unknown = honored.resourceSubscriptions;
  if (!Array.isArray(uris)) return;
  const honoredUris = new Set<unknown>(uris);
  for (const uri of new Set(asked.resourceSubscriptions)) if (honoredUris.has(uri)) yield { kind: 'resource', uri };
}

/** What a notification says has changed. */
export function subjectOf({ method, params }: McpNotification | ExtensionNotification): CacheSubject | undefined {
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools' };
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts' };
    case 'notifications/resources/list_changed':
      return { kind: 'resources' };
    case 'notifications/resources/updated':
      return { kind: 'resource', uri: (params as ResourceUpdatedParams).uri };
    default:
      return undefined;
  }
}
