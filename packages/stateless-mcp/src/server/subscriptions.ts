import type { ChangeBus, ChangeEvent } from '../bus/change-bus.ts';
import { McpError } from '../protocol/errors.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import type { McpNotification } from '../protocol/notifications.ts';
import { MAX_TIMER_MS } from '../protocol/option-checks.ts';
import { shareJson } from '../protocol/shared-json.ts';
import type { SubscriptionFilter } from '../protocol/subscriptions.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { invalidParams } from './invalid-params.ts';
import { isObject } from '../protocol/json.ts';

/** Whether this caller may subscribe to a resource. */
export type MaySubscribe = (uri: string, exchange: Exchange) => Promise<boolean>;

/** Limits of listen streams. */
export interface SubscriptionLimits {
  /** How many may be open in this process at once. */
  readonly maxSubscriptions: number;
  /** Milliseconds after which a stream is ended with its result, so that its client opens another one. */
  readonly maxAgeMs: number | undefined;
}

const MAX_URIS_PER_STREAM = 1000;
const MAX_URI_CHARACTERS_PER_STREAM = 128 * 1024;

/** Filter keys of list changes, with the event and the capability behind them. */
const LIST_CHANGES = [
  { filterKey: 'toolsListChanged', eventKey: 'tools' },
  { filterKey: 'promptsListChanged', eventKey: 'prompts' },
  { filterKey: 'resourcesListChanged', eventKey: 'resources' },
] as const;

/** The event key of a change in a resource. */
export function resourceKey(uri: string): string {
  return `resource:${uri}`;
}

/** The open listen streams of this process, found by the events they asked for. */
export class Subscriptions {
  readonly #streams = new Map<string, Set<Stream>>();
  readonly #limits: SubscriptionLimits;
  readonly #maySubscribe: MaySubscribe;
  readonly #capabilities: () => ServerCapabilities;
  readonly #bus: ChangeBus;
  #open = 0;
  /** Attached to the bus only while somebody listens: a server without listeners leaves nothing behind. */
  #detach: (() => void) | undefined;

  constructor(
    bus: ChangeBus,
    limits: SubscriptionLimits,
    capabilities: () => ServerCapabilities,
    maySubscribe: MaySubscribe,
  ) {
    this.#limits = limits;
    this.#capabilities = capabilities;
    this.#maySubscribe = maySubscribe;
    this.#bus = bus;
  }

  /**
   * `subscriptions/listen`: pending while the stream is open. The acknowledgement is its first notification, and
   * whatever happens meanwhile waits behind it.
   */
  async listen(request: McpRequest, exchange: Exchange): Promise<object> {
    const { notifications } = request.params;
    if (!isObject(notifications)) throw invalidParams('params.notifications must be an object');
    checkFilter(notifications);
    this.#checkRoom();
    const honoured = await this.#honoured(notifications, exchange);
    this.#checkRoom();
    const keys = eventKeys(honoured);
    const stream = new Stream(exchange, this.#limits.maxAgeMs);
    this.#open += 1;
    this.#detach ??= this.#bus.subscribe((event) => this.#deliver(event));
    for (const key of keys) this.#add(key, stream);
    try {
      await exchange.notify({
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: honoured },
      });
      // What can never deliver anything is not held open.
      if (keys.length > 0) await stream.run();
    } finally {
      stream.end();
      this.#open -= 1;
      for (const key of keys) this.#remove(key, stream);
      if (this.#open === 0) {
        this.#detach?.();
        this.#detach = undefined;
      }
    }
    return {};
  }

  #checkRoom(): void {
    const { maxSubscriptions } = this.#limits;
    if (this.#open < maxSubscriptions) return;
    throw new McpError(503, `All ${maxSubscriptions} subscriptions of this server are taken (maxSubscriptions)`, {
      headers: { 'Retry-After': '30' },
    });
  }

  async #honoured(wanted: SubscriptionFilter, exchange: Exchange): Promise<SubscriptionFilter> {
    const capabilities = this.#capabilities();
    const lists = LIST_CHANGES.filter(
      ({ filterKey, eventKey }) => wanted[filterKey] === true && capabilities[eventKey]?.listChanged === true,
    ).map(({ filterKey }) => [filterKey, true] as const);
    const uris = capabilities.resources?.subscribe === true ? (wanted.resourceSubscriptions ?? []) : [];
    const resourceSubscriptions: string[] = [];
    for (const uri of new Set(uris)) {
      if (await this.#maySubscribe(uri, exchange)) resourceSubscriptions.push(uri);
    }
    return { ...Object.fromEntries(lists), ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }) };
  }

  #add(key: string, stream: Stream): void {
    const streams = this.#streams.get(key);
    if (streams === undefined) this.#streams.set(key, new Set([stream]));
    else streams.add(stream);
  }

  #remove(key: string, stream: Stream): void {
    const streams = this.#streams.get(key);
    streams?.delete(stream);
    if (streams?.size === 0) this.#streams.delete(key);
  }

  #deliver({ key, within = [] }: ChangeEvent): void {
    const streams = this.#streamsOf(key, within);
    if (streams.size === 0) return;
    const notification = toNotification(key);
    for (const stream of streams) stream.add(key, notification);
  }

  /** A stream that watches several of the keys gets one notification. */
  #streamsOf(key: string, within: readonly string[]): ReadonlySet<Stream> {
    const streams = this.#streams.get(key) ?? NO_STREAMS;
    if (within.length === 0) return streams;
    return new Set([key, ...within].flatMap((one) => [...(this.#streams.get(one) ?? NO_STREAMS)]));
  }
}

/** What is malformed is refused; what is merely unknown is left out of the acknowledgement. */
function checkFilter(wanted: Readonly<Record<string, unknown>>): asserts wanted is SubscriptionFilter {
  for (const { filterKey } of LIST_CHANGES) {
    const value = wanted[filterKey];
    if (value !== undefined && typeof value !== 'boolean') {
      throw invalidParams(`params.notifications.${filterKey} must be true or false`);
    }
  }
  const uris = wanted.resourceSubscriptions;
  if (uris === undefined) return;
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) {
    throw invalidParams('params.notifications.resourceSubscriptions must be a list of URIs');
  }
  if (uris.length > MAX_URIS_PER_STREAM || uris.join('').length > MAX_URI_CHARACTERS_PER_STREAM) {
    throw invalidParams(
      `params.notifications.resourceSubscriptions may have ${MAX_URIS_PER_STREAM} URIs and ${MAX_URI_CHARACTERS_PER_STREAM} characters at most`,
    );
  }
}

function eventKeys(honoured: SubscriptionFilter): readonly string[] {
  return [
    ...LIST_CHANGES.filter(({ filterKey }) => honoured[filterKey] === true).map(({ eventKey }) => eventKey),
    ...(honoured.resourceSubscriptions ?? []).map(resourceKey),
  ];
}

function toNotification(key: string): McpNotification {
  const list = LIST_CHANGES.find(({ eventKey }) => eventKey === key);
  if (list !== undefined) return { method: `notifications/${list.eventKey}/list_changed` };
  const uri = key.slice(resourceKey('').length);
  const params = shareJson({ uri }, JSON.stringify({ uri }));
  return { method: 'notifications/resources/updated', params };
}

const NO_STREAMS: ReadonlySet<Stream> = new Set();

/** One open stream. What is pending is a set: a slow reader gets each stale thing once. */
class Stream {
  readonly #exchange: Exchange;
  readonly #pending = new Map<string, McpNotification>();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onEnd = (): void => this.end();
  #wake: () => void = () => {};
  #ended = false;

  constructor(exchange: Exchange, maxAgeMs: number | undefined) {
    this.#exchange = exchange;
    const { auth, signal, closing } = exchange;
    for (const ending of [signal, closing]) {
      if (ending.aborted) this.#ended = true;
      else ending.addEventListener('abort', this.#onEnd, { once: true });
    }
    const age = Math.min(maxAgeMs ?? Infinity, (auth?.expiresAt ?? Infinity) * 1000 - Date.now());
    if (Number.isFinite(age)) this.#timer = setTimeout(this.#onEnd, Math.max(0, Math.min(age, MAX_TIMER_MS)));
  }

  add(key: string, notification: McpNotification): void {
    if (this.#pending.has(key)) return;
    this.#pending.set(key, notification);
    this.#wake();
  }

  /** Delivers until the stream ends. */
  async run(): Promise<void> {
    while (!this.#ended) {
      for (const [key, notification] of this.#pending) {
        if (this.#ended) return;
        this.#pending.delete(key);
        const full = this.#exchange.notify(notification);
        if (full !== undefined) await full;
      }
      if (this.#ended || this.#pending.size > 0) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#exchange.signal.removeEventListener('abort', this.#onEnd);
    this.#exchange.closing.removeEventListener('abort', this.#onEnd);
    this.#wake();
  }
}
