const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Field values are bytes; one that is no text of the visible ASCII and Latin-1 range is refused by every platform.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Written by the peer itself, or by HTTP. */
const RESERVED =
  /^(?:content-type|content-length|accept|host|connection|transfer-encoding|mcp-protocol-version|mcp-method|mcp-name|mcp-param-.*)$/;
const CREDENTIALS = /^(?:authorization|cookie|proxy-authorization|dpop)$|api-?key|token|secret|auth/;

/** Header names in any case, and their values. */
export type HeaderFields = Readonly<Record<string, string>>;

/** The same headers for every request, or a function that makes them. */
export type HeaderSource = HeaderFields | (() => HeaderFields | Promise<HeaderFields>);

/** The headers that a user adds to every request, and whether their credentials have changed. */
export class UserHeaders {
  readonly #source: HeaderSource;
  #headers: HeaderFields = {};
  #credentials: string | undefined;
  #secrets: readonly string[] = [];

  /** @throws TypeError for headers that HTTP cannot carry */
  constructor(source: HeaderSource) {
    this.#source = source;
    if (typeof source !== 'function') this.#take(source);
  }

  get hasCredentials(): boolean {
    return this.#secrets.length > 0;
  }

  /** Values of headers that carry credentials. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /** Names in lower case. */
  async read(): Promise<{ readonly headers: HeaderFields; readonly haveCredentialsChanged: boolean }> {
    if (typeof this.#source !== 'function') return { headers: this.#headers, haveCredentialsChanged: false };
    const before = this.#credentials;
    this.#take(await this.#source());
    return {
      headers: this.#headers,
      haveCredentialsChanged: before !== undefined && before !== this.#credentials,
    };
  }

  #take(fields: HeaderFields): void {
    const headers: Record<string, string> = {};
    const credentials: (readonly [string, string])[] = [];
    for (const [name, value] of Object.entries(fields)) {
      if (!HEADER_NAME.test(name)) throw new TypeError(`headers: ${JSON.stringify(name)} is not a header name`);
      // Not shown: it may be a secret.
      if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
        throw new TypeError(`headers: the value of ${JSON.stringify(name)} has characters that HTTP cannot carry`);
      }
      const lower = name.toLowerCase();
      if (RESERVED.test(lower)) continue;
      headers[lower] = value;
      if (CREDENTIALS.test(lower)) credentials.push([lower, value]);
    }
    this.#headers = headers;
    this.#credentials = JSON.stringify(credentials.sort());
    // Of `Bearer abc` the second word alone is a secret too.
    this.#secrets = credentials.flatMap(([, value]) => [value, ...value.split(' ').slice(1)]);
  }
}
