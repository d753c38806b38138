import { isObject } from '../protocol/json.ts';

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Field values are bytes; one that is no text of the visible ASCII and Latin-1 range is refused by every platform.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Written by the peer itself, or by HTTP clients, some of which refuse requests that bring their own. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const RESERVED_PREFIX = 'mcp-param-';
const CREDENTIALS =
  /^(?:authorization|cookie|proxy-authorization|dpop)$|key|token|secret|auth|password|credential|session/;
/** Headers that say nothing about who asks. All others may. */
const IMPERSONAL =
  /^(?:user-agent|accept-language|cache-control|pragma|origin|referer|traceparent|tracestate|baggage|x-(?:request|correlation|trace)(?:-id)?)$/;

/** Header names in any case, and their values. */
export type HeaderFields = Readonly<Record<string, string>>;

/** The same headers for every request, or a function that makes them. */
export type HeaderSource = HeaderFields | (() => HeaderFields | Promise<HeaderFields>);

/** What a user adds to one request. */
export interface ReadHeaders {
  /** Names in lower case. */
  readonly headers: HeaderFields;
  /** Values of headers that carry credentials. */
  readonly secrets: readonly string[];
  readonly haveCredentialsChanged: boolean;
  /** The same for everything that may say who asks. */
  readonly hasIdentityChanged: boolean;
}

/** The headers that a user adds to every request, and whether their credentials have changed. */
export class UserHeaders {
  readonly #source: HeaderSource;
  #headers: HeaderFields = {};
  #credentials: string | undefined;
  #identity: string | undefined;
  #secrets: readonly string[] = [];

  /** @throws TypeError for headers that HTTP cannot carry */
  constructor(source: HeaderSource) {
    this.#source = source;
    if (typeof source !== 'function') this.#take(source);
  }

  /** They may be others with the next request. */
  get mayChange(): boolean {
    return typeof this.#source === 'function';
  }

  get hasCredentials(): boolean {
    return this.#secrets.length > 0;
  }

  /** The headers of the next request. Rejects with what the function throws, or with a TypeError for what it returns. */
  async read(): Promise<ReadHeaders> {
    if (typeof this.#source !== 'function') return this.#read(false, false);
    const fields = await this.#source();
    // Read now: meanwhile another request may have brought the same news.
    const credentials = this.#credentials;
    const identity = this.#identity;
    this.#take(fields);
    const isFirst = identity === undefined;
    return this.#read(!isFirst && credentials !== this.#credentials, !isFirst && identity !== this.#identity);
  }

  #read(haveCredentialsChanged: boolean, hasIdentityChanged: boolean): ReadHeaders {
    return { headers: this.#headers, secrets: this.#secrets, haveCredentialsChanged, hasIdentityChanged };
  }

  #take(fields: HeaderFields): void {
    // A `Headers` object, a map or a list has no members to read, and nobody would notice.
    if (!isObject(fields) || Symbol.iterator in fields) {
      throw new TypeError('headers: must be an object that has header names as its keys');
    }
    const headers: Record<string, string> = {};
    const credentials: (readonly [string, string])[] = [];
    const identity: (readonly [string, string])[] = [];
    for (const [name, value] of Object.entries(fields)) {
      if (!HEADER_NAME.test(name)) throw new TypeError(`headers: ${JSON.stringify(name)} is not a header name`);
      // Not shown: it may be a secret.
      if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
        throw new TypeError(`headers: the value of ${JSON.stringify(name)} has characters that HTTP cannot carry`);
      }
      const lower = name.toLowerCase();
      if (RESERVED.has(lower) || lower.startsWith(RESERVED_PREFIX)) continue;
      headers[lower] = value;
      if (CREDENTIALS.test(lower)) credentials.push([lower, value]);
      if (!IMPERSONAL.test(lower)) identity.push([lower, value]);
    }
    this.#headers = headers;
    this.#credentials = fingerprint(credentials);
    this.#identity = fingerprint(identity);
    // Of `Bearer abc` the second word alone is a secret too.
    this.#secrets = credentials.flatMap(([, value]) => [value, ...value.split(' ').slice(1)]);
  }
}

/** The same for the same headers, in whatever order. */
function fingerprint(headers: (readonly [string, string])[]): string {
  return JSON.stringify(headers.sort(([a], [b]) => (a < b ? -1 : 1)));
}
