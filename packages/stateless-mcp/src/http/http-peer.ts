import { HEADER_MISMATCH } from '../protocol/error-codes.ts';
import { RemoteError } from '../protocol/errors.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import { encodeHeaderValue } from '../protocol/header-value.ts';
import { givenUp, LocalError, phaseOf } from '../protocol/local-error.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import { CALL_TOOL, indexMethods, LIST_TOOLS, type MethodRow, METHODS, type MethodTable } from '../protocol/methods.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';
import { isRefused, outboundRequest, RevisionChoice } from '../protocol/outbound.ts';
import { type McpPeer, PeerListeners, peerOf, type PeerReport } from '../protocol/peer.ts';
import { redactSecrets } from '../protocol/redact.ts';
import type { McpResult, RequestParams } from '../protocol/result.ts';
import type { Tool } from '../protocol/tools.ts';
import { MODERN_VERSIONS } from '../protocol/versions.ts';
import { HttpCall, type HttpCallHost } from './http-call.ts';
import type { HttpFetch } from './http-fetch.ts';
import { type HeaderSource, type ReadHeaders, UserHeaders } from './user-headers.ts';
import { type KnownHeaders, mirrored, ToolHeaders } from './tool-headers.ts';
import { ToolRefresh } from './tool-refresh.ts';

export interface HttpPeerOptions {
  /**
   * Headers of every request, such as `Authorization`. A function is asked before each: a token may be another one by then.
   * Those that the protocol defines cannot be changed.
   */
  readonly headers?: HeaderSource | undefined;
  /**
   * The HTTP client. Default: the platform's `fetch`. On Node that one breaks off what is silent for five minutes:
   * `nodeFetch()` of `stateless-mcp/node`, which `connect` uses there, has no timers of its own.
   */
  readonly fetch?: HttpFetch | undefined;
  /** Bytes of an answer, or of one event in a stream. Default: 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Definitions that are known before a list was read, so that the first call mirrors its headers already. */
  readonly tools?: readonly Tool[] | undefined;
  /** Methods that are known, those of extensions included. Default: those of the revision. */
  readonly methods?: MethodTable | undefined;
  /** Where warnings go. Default: the console's error stream. */
  readonly logger?: Logger | undefined;
}

/** More pages than this are no list of tools. */
const MAX_PAGES = 1000;

/**
 * A server at a URL, over Streamable HTTP. Mirrors method, name and annotated arguments into headers; chooses the revision;
 * takes both forms of answers. Has no time limits: those are the caller's, by the signal of the exchange.
 *
 * Rejects with `RemoteError` for an error of the server and `LocalError` for what went wrong on the way.
 *
 * Specification: basic/transports/streamable-http.
 *
 * @example
 * const peer = httpPeer('https://mcp.example.com/mcp', { headers: { Authorization: `Bearer ${token}` } });
 * const client = new McpClient(peer);
 * @throws TypeError, RangeError for a URL or options that cannot be used
 */
export function httpPeer(url: string | URL, options: HttpPeerOptions = {}): McpPeer {
  const connection = new HttpConnection(checkedUrl(url), options);
  return peerOf(async (request, exchange) => connection.request(request, exchange), {
    endpoint: connection.endpoint,
    close: async () => connection.close(),
    explain: () => connection.explain(),
    ...(connection.mayChangeCredentials && { checkCredentials: async () => connection.checkCredentials() }),
    on: connection.listeners.on,
  });
}

class HttpConnection implements HttpCallHost {
  readonly fetch: HttpFetch;
  readonly endpoint: string;
  readonly maxResponseBytes: number;
  readonly logger: Logger;
  readonly listeners = new PeerListeners();
  readonly #userHeaders: UserHeaders;
  readonly #toolHeaders: ToolHeaders;
  readonly #toolRefresh = new ToolRefresh();
  readonly #methods: ReadonlyMap<string, MethodRow>;
  readonly #revision = new RevisionChoice();
  readonly #open = new Set<AbortController>();
  #url: string;
  #lastId = 0;
  #lastAnswerMs: number | undefined;
  #isRefused = false;
  #closed: LocalError | undefined;

  constructor(url: URL, options: HttpPeerOptions) {
    const { fetch = platformFetch(), maxResponseBytes = 16 * 1024 * 1024, tools = [], methods = METHODS } = options;
    checkPositiveInteger('httpPeer', 'maxResponseBytes', maxResponseBytes);
    this.#url = url.href;
    this.endpoint = shownUrl(url);
    this.fetch = fetch;
    this.maxResponseBytes = maxResponseBytes;
    this.logger = guarded(options.logger ?? consoleLogger);
    this.#userHeaders = new UserHeaders(options.headers ?? {});
    this.#methods = indexMethods(methods);
    this.#toolHeaders = new ToolHeaders(this.logger);
    this.#toolHeaders.learn({ resultType: 'complete', tools });
  }

  get mayChangeCredentials(): boolean {
    return this.#userHeaders.mayChange;
  }

  async checkCredentials(): Promise<void> {
    await this.#readUserHeaders('a look at what is kept');
  }

  moved(url: string): void {
    this.#url = url;
  }

  async request(request: McpRequest, exchange: Exchange): Promise<McpResult> {
    const { count } = this.#toolRefresh;
    const known = this.#toolHeaders.known(request.params.name);
    try {
      return await this.#negotiated(request, exchange);
    } catch (error) {
      const mayBeStale =
        error instanceof RemoteError &&
        error.code === HEADER_MISMATCH &&
        isRefused(error) &&
        request.method === CALL_TOOL.name;
      if (!mayBeStale) throw error;
      // The server knows another definition of the tool than this end. It says so before it does anything.
      if (count === this.#toolRefresh.count) await this.#refreshTools(request, exchange, error);
      // With the same headers it would be refused again.
      if (!this.#mirrorsOtherwise(request, known)) throw error;
      return this.#negotiated(request, exchange);
    }
  }

  /** Whether the headers of a call are others than those that follow from what was known before. */
  #mirrorsOtherwise({ params: { name, arguments: toolArguments } }: McpRequest, before: KnownHeaders): boolean {
    const now = this.#toolHeaders.of(name, toolArguments);
    return JSON.stringify(mirrored(before, toolArguments)) !== JSON.stringify(now);
  }

  async #refreshTools(request: McpRequest, { signal }: Exchange, mismatch: RemoteError): Promise<void> {
    try {
      await this.#toolRefresh.join(signal, async (joined) => this.#readTools(request, joined));
    } catch (cause) {
      if (signal.aborted) throw givenUp(signal.reason, request.method, { phase: phaseOf(CALL_TOOL) });
      if (this.#closed !== undefined) throw this.#closed;
      this.logger.warn(`The tools of ${this.endpoint} could not be read again after a header mismatch`, {
        error: cause,
      });
      throw mismatch;
    }
  }

  async #negotiated(request: McpRequest, exchange: Exchange): Promise<McpResult> {
    return this.#revision.run((version) => this.#send(request, exchange, version));
  }

  async #send(request: McpRequest, exchange: Exchange, version: string): Promise<McpResult> {
    if (this.#closed !== undefined) throw this.#closed;
    const { method, params } = request;
    const row = this.#methods.get(method);
    if (exchange.signal.aborted) throw givenUp(exchange.signal.reason, method, {});
    const leaving = new AbortController();
    this.#open.add(leaving);
    const started = performance.now();
    try {
      const result = await this.#untilLeft(exchange.signal, leaving, method, row, async (sent) => {
        const id = ++this.#lastId;
        const { headers, secrets } = await this.#headers(method, params, row, version);
        leaving.signal.throwIfAborted();
        const body = JSON.stringify(outboundRequest(request, id, version, exchange.wantsProgress));
        sent();
        return new HttpCall(this, { url: this.#url, id, method, row, headers, secrets, body }, exchange, leaving).run();
      });
      this.#isRefused = false;
      return method === LIST_TOOLS.name ? this.#toolHeaders.learn(result) : result;
    } catch (error) {
      if (error instanceof LocalError && error.code === 'unauthorized') this.#isRefused = true;
      throw error;
    } finally {
      this.#lastAnswerMs = performance.now() - started;
      this.#open.delete(leaving);
    }
  }

  /** Whoever gives up waits for nobody, not even for an HTTP client that does not look at its signal. */
  async #untilLeft(
    signal: AbortSignal,
    leaving: AbortController,
    method: string,
    row: MethodRow | undefined,
    work: (sent: () => void) => Promise<McpResult>,
  ): Promise<McpResult> {
    let isSent = false;
    return new Promise<McpResult>((resolve, reject) => {
      const leave = (): void => {
        leaving.abort(givenUp(signal.reason, method, { phase: phaseOf(row), maybeExecuted: isSent }));
      };
      signal.addEventListener('abort', leave, { once: true });
      leaving.signal.addEventListener('abort', () => reject(leaving.signal.reason as Error), { once: true });
      work(() => {
        isSent = true;
      })
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', leave));
    });
  }

  async #headers(
    method: string,
    params: RequestParams,
    row: MethodRow | undefined,
    version: string,
  ): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly secrets: readonly string[] }> {
    const { headers, secrets } = await this.#readUserHeaders(method);
    const target = row?.target === undefined ? undefined : params[row.target];
    const all: Record<string, string> = {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': method,
    };
    if (typeof target === 'string') all['mcp-name'] = encodeHeaderValue(target);
    if (method === CALL_TOOL.name) {
      for (const [name, value] of this.#toolHeaders.of(params.name, params.arguments)) all[name] = value;
    }
    return { headers: all, secrets };
  }

  async #readUserHeaders(method: string): Promise<ReadHeaders> {
    try {
      const read = await this.#userHeaders.read();
      if (read.haveCredentialsChanged) this.#toolHeaders.clear();
      // Whatever else may tell two callers apart: what was read for one is not handed to the other.
      if (read.hasIdentityChanged) this.listeners.credentialsChanged();
      return read;
    } catch (cause) {
      if (cause instanceof LocalError) throw cause;
      const message = `${method} was not sent to ${this.endpoint}: its headers could not be made (option headers)`;
      throw new LocalError('refused', message, { phase: 'auth' }, { cause });
    }
  }

  /** Every page, because the tool may be on any. */
  async #readTools({ params: { _meta } }: McpRequest, signal: AbortSignal): Promise<void> {
    const exchange: Exchange = {
      signal,
      closing: signal,
      versions: MODERN_VERSIONS,
      wantsProgress: false,
      notify: () => undefined,
    };
    const seen = new Set<string>();
    for (let cursor: unknown, page = 0; page < MAX_PAGES; page++) {
      const params: RequestParams = typeof cursor === 'string' ? { _meta, cursor } : { _meta };
      const result = await this.#negotiated({ method: LIST_TOOLS.name, params }, exchange);
      cursor = result.nextCursor;
      if (typeof cursor !== 'string' || seen.has(cursor)) return;
      seen.add(cursor);
    }
  }

  close(): void {
    this.#closed ??= new LocalError('closed', `The connection to ${this.endpoint} was closed at this end`);
    const reason = new LocalError('closed', this.#closed.message, { maybeExecuted: true });
    for (const leaving of this.#open) leaving.abort(reason);
  }

  explain(): PeerReport {
    return {
      endpoint: this.endpoint,
      transport: 'http',
      revision: this.#revision.current,
      reason: this.#revision.reason,
      requests: this.#lastId,
      ...(this.#lastAnswerMs !== undefined && { lastAnswerMs: this.#lastAnswerMs }),
      authorization: this.#isRefused ? 'refused' : this.#userHeaders.hasCredentials ? 'sent' : 'none',
    };
  }
}

function platformFetch(): HttpFetch {
  // Looked up with each request: whoever replaces the global one means this one too.
  return async (url, request) => globalThis.fetch(url, request);
}

function checkedUrl(url: string | URL): URL {
  if (!URL.canParse(String(url)))
    throw new TypeError(
      `"${redactSecrets(String(url))}" is not a URL, such as http://127.0.0.1:3000/mcp; a program to start is { command, args }`,
    );
  const checked = new URL(url);
  if (checked.protocol !== 'http:' && checked.protocol !== 'https:') {
    throw new TypeError(`A URL must begin with http:// or https://, not ${checked.protocol}`);
  }
  if (checked.username !== '' || checked.password !== '') {
    throw new TypeError('httpPeer: the URL has a user name or password in it; use the option headers instead');
  }
  checked.hash = '';
  return checked;
}

/** Without what looks like a secret in its query. */
function shownUrl(url: URL): string {
  return redactSecrets(url.href);
}
