import { type Clock, systemClock } from '../protocol/clock.ts';
import type { CompleteParams, CompleteResult } from '../protocol/completion.ts';
import type { DiscoverResult } from '../protocol/discover.ts';
import type { McpRequest } from '../protocol/handler.ts';
import { isObject } from '../protocol/json.ts';
import { LocalError } from '../protocol/local-error.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import type { LoggingLevel } from '../protocol/logging.ts';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  type Meta,
  type RequestMeta,
} from '../protocol/meta.ts';
import {
  CALL_TOOL,
  COMPLETE,
  DISCOVER,
  GET_PROMPT,
  LIST_PROMPTS,
  LIST_RESOURCE_TEMPLATES,
  LIST_RESOURCES,
  LIST_TOOLS,
  type MethodRow,
  READ_RESOURCE,
} from '../protocol/methods.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';
import type { McpPeer } from '../protocol/peer.ts';
import type { GetPromptResult, ListPromptsResult } from '../protocol/prompts.ts';
import type { ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult } from '../protocol/resources.ts';
import type { McpResult, RequestParams } from '../protocol/result.ts';
import type { SubscriptionFilter } from '../protocol/subscriptions.ts';
import type { CallToolResult, ListToolsResult } from '../protocol/tools.ts';
import { LIBRARY } from '../protocol/versions.ts';
import { Call, type CallOptions } from './call.ts';
import { type ClientReport, reportOf } from './client-report.ts';
import type { McpClientOptions, ParamsOf, ReadOptions, RequestOptions } from './client-options.ts';
import { eachPage, gatherPages, type ListResult, type ListRow } from './gather-pages.ts';
import { afterRepeat, repeatAfterMs } from './repeat.ts';
import { type CacheSubject, ResponseCache } from './response-cache.ts';
import { type ListenOptions, openSubscription, subjectOf, type Subscription } from './subscription.ts';
import { ToolOutputs } from './tool-outputs.ts';

/** What was learnt about a server in one name. */
interface Knowledge {
  readonly tools: ToolOutputs;
  server: DiscoverResult | undefined;
}

/**
 * Typed calls of one server over any peer. Results are immutable and may be shared.
 *
 * Every method rejects with `RemoteError` for an error that the server sent, and with `LocalError` for everything else: its
 * `code` tells what, `phase` how far it came, `maybeExecuted` whether the server may have done it all the same. Requests that
 * were refused before they were carried out are repeated once where the server says when; so are reads, and calls of tools
 * that say that repeating them is harmless, when their connection was lost.
 *
 * @example
 * await using client = new McpClient(httpPeer('https://mcp.example.com/mcp'));
 * const { tools } = await client.listTools();
 * const { content } = await client.callTool('forecast', { city: 'Rome' });
 */
export class McpClient implements AsyncDisposable {
  readonly #peer: McpPeer;
  readonly #options: McpClientOptions;
  readonly #meta: RequestMeta;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #cache: ResponseCache;
  readonly #maxPages: number;
  readonly #unlisten: readonly (() => void)[];
  /** Another one when credentials change: answers that are under way then belong to the old one. */
  #known: Knowledge;

  /** @throws TypeError for what is no peer, RangeError for a limit that is not a positive integer */
  constructor(peer: McpPeer, options: McpClientOptions = {}) {
    if (typeof peer !== 'function' || typeof peer.on !== 'function') {
      throw new TypeError(
        'McpClient: peer must be made by httpPeer, stdioPeer, loopback …; connect takes URLs and servers',
      );
    }
    const { clientInfo = LIBRARY, capabilities = {}, logLevel, maxPages = 1000 } = options;
    for (const name of ['idleTimeoutMs', 'totalTimeoutMs', 'maxPages'] as const) {
      checkPositiveInteger('McpClient', name, options[name]);
    }
    this.#peer = peer;
    this.#options = options;
    this.#meta = {
      [CLIENT_CAPABILITIES_META_KEY]: capabilities,
      ...(clientInfo !== false && { [CLIENT_INFO_META_KEY]: clientInfo }),
      ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
    };
    this.#clock = options.clock ?? systemClock;
    this.#logger = guarded(options.logger ?? consoleLogger);
    this.#cache = new ResponseCache(this.#clock);
    this.#known = this.#nothingKnown();
    this.#maxPages = maxPages;
    this.#unlisten = [
      peer.on('credentialsChanged', () => {
        this.#cache.clear();
        this.#known = this.#nothingKnown();
      }),
      // Some servers announce what nobody asked to hear. It is stale all the same.
      peer.on('unattributed', (notification) => {
        const subject = subjectOf(notification);
        if (subject !== undefined) this.#cache.invalidate(subject);
      }),
    ];
  }

  /** What the server is and offers. */
  async discover(options: ReadOptions = {}): Promise<DiscoverResult> {
    const known = this.#known;
    const result = await this.#read(DISCOVER, {}, { kind: 'server' }, options);
    known.server = result;
    return result;
  }

  /** All tools, from all pages. */
  async listTools(options?: ReadOptions): Promise<ListToolsResult> {
    return this.#readList(LIST_TOOLS, { kind: 'tools' }, options);
  }

  /** All resources, from all pages. */
  async listResources(options?: ReadOptions): Promise<ListResourcesResult> {
    return this.#readList(LIST_RESOURCES, { kind: 'resources' }, options);
  }

  /** All resource templates, from all pages. */
  async listResourceTemplates(options?: ReadOptions): Promise<ListResourceTemplatesResult> {
    return this.#readList(LIST_RESOURCE_TEMPLATES, { kind: 'resources' }, options);
  }

  /** All prompts, from all pages. */
  async listPrompts(options?: ReadOptions): Promise<ListPromptsResult> {
    return this.#readList(LIST_PROMPTS, { kind: 'prompts' }, options);
  }

  /**
   * A list page by page, as its server cuts it; nothing is kept.
   *
   * @example for await (const { tools } of client.pages(LIST_TOOLS)) show(tools);
   */
  pages<Result extends ListResult>(row: ListRow<Result>, options: RequestOptions = {}): AsyncIterable<Result> {
    return eachPage(
      row,
      async (cursor) => this.request(row, cursor === undefined ? {} : { cursor }, options),
      this.#maxPages,
    );
  }

  /**
   * Runs a tool. A tool that failed says so in its result (`isError`), for a model to read.
   *
   * @param toolArguments a JSON object. Default: `{}`, which is sent
   */
  async callTool(name: string, toolArguments: object = {}, options: RequestOptions = {}): Promise<CallToolResult> {
    if (!isObject(toolArguments)) throw new TypeError('callTool: the arguments must be an object');
    const result = await this.#finished(CALL_TOOL, { name, arguments: toolArguments }, options);
    await this.#known.tools.check(name, result);
    return result;
  }

  /** Reads a resource. */
  async readResource(uri: string, options: ReadOptions = {}): Promise<ReadResourceResult> {
    return this.#read(READ_RESOURCE, { uri }, { kind: 'resource', uri }, options) as Promise<ReadResourceResult>;
  }

  /** Fills in a prompt. */
  async getPrompt(
    name: string,
    promptArguments: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.#finished(GET_PROMPT, { name, arguments: promptArguments }, options);
  }

  /** Suggests values for an argument of a prompt or a variable of a resource template. */
  async complete(params: ParamsOf<CompleteParams>, options: RequestOptions = {}): Promise<CompleteResult> {
    return this.request(COMPLETE, params, options);
  }

  /**
   * Opens one stream of changes and waits for what the server honours. What changes is dropped from what this client keeps.
   *
   * @example
   * const subscription = await client.listen({ toolsListChanged: true }, { onChange: () => reload() });
   */
  async listen(filter: SubscriptionFilter, options: ListenOptions): Promise<Subscription> {
    return openSubscription(filter, options, {
      request: async (row, params, callOptions) =>
        this.#send(row, params, { ...this.#callOptions(options), ...callOptions }, options),
      invalidate: (subject) => this.#cache.invalidate(subject),
    });
  }

  /**
   * Any method, an extension's too, in its plain form: one request, nothing kept. The result of a method that may ask can be
   * a question (`resultType: 'input_required'`).
   */
  async request<Params extends RequestParams, Result extends McpResult>(
    row: MethodRow<Params, Result>,
    params: ParamsOf<Params>,
    options: RequestOptions = {},
  ): Promise<Result> {
    return this.#request(row, params, this.#callOptions(options), options);
  }

  /** How this client and its connection are doing, for people who look for a fault. Asks nobody. */
  explain(): ClientReport {
    return reportOf(this.#peer.explain(), this.#known.server, this.#cache.statistics);
  }

  /** Closes the peer: what is under way ends with an error of code `closed`. */
  async close(): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten();
    await this.#peer.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #nothingKnown(): Knowledge {
    const { outputCheck = 'warn', validator } = this.#options;
    return { tools: new ToolOutputs(outputCheck, validator, this.#logger), server: undefined };
  }

  async #readList<Result extends ListResult>(
    row: ListRow<Result>,
    subject: CacheSubject,
    options: ReadOptions = {},
  ): Promise<Result> {
    return this.#cached(row, subject, options, async (requestOptions) => {
      // All pages share one total.
      const callOptions = this.#callOptions(requestOptions);
      return gatherPages(
        row,
        async (cursor) => this.#request(row, cursor === undefined ? {} : { cursor }, callOptions, requestOptions),
        { maxPages: this.#maxPages, clock: this.#clock, logger: this.#logger },
      );
    });
  }

  async #read<Params extends RequestParams, Result extends McpResult>(
    row: MethodRow<Params, Result>,
    params: ParamsOf<Params>,
    subject: CacheSubject,
    options: ReadOptions,
  ): Promise<Result> {
    return this.#cached(row, subject, options, async (requestOptions) => this.#finished(row, params, requestOptions));
  }

  async #cached<Result extends McpResult>(
    row: MethodRow,
    subject: CacheSubject,
    options: ReadOptions,
    fetch: (options: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    const { cache: mode = 'default', signal, ...rest } = options;
    // What was read in another name must not be handed out, and nobody may wait for it.
    if (this.#peer.checkCredentials !== undefined) await this.#peer.checkCredentials();
    // Metadata may make another answer of it.
    if (mode === 'no-store' || rest.meta !== undefined) return fetch({ ...rest, signal });
    // Nobody else can wait for a request with limits and listeners of its own.
    const isShared = Object.values(rest).every((value) => value === undefined);
    return this.#cache.read({
      row,
      subject,
      mode,
      isShared,
      signal,
      fetch: async (leaving) => fetch({ ...rest, signal: leaving }),
    });
  }

  /** A result that is no question. */
  async #finished<Params extends RequestParams, Result extends McpResult>(
    row: MethodRow<Params, Result>,
    params: ParamsOf<Params>,
    options: RequestOptions,
  ): Promise<Exclude<Result, { readonly resultType: 'input_required' }>> {
    const result: Result = await this.request(row, params, options);
    if (result.resultType === 'input_required') {
      throw new LocalError(
        'input_required',
        `${row.name} cannot go on: the server asks for input, and this client answers no questions`,
        { phase: 'call', result, maybeExecuted: row.readOnly !== true },
      );
    }
    return result as Exclude<Result, { readonly resultType: 'input_required' }>;
  }

  async #request<Params extends RequestParams, Result extends McpResult>(
    row: MethodRow<Params, Result>,
    params: ParamsOf<Params>,
    callOptions: CallOptions,
    options: RequestOptions,
  ): Promise<Result> {
    const { tools } = this.#known;
    const result = await this.#send(row, params, callOptions, options);
    if (row.name === LIST_TOOLS.name) tools.learn((result as ListToolsResult).tools);
    // The peer has checked the members that the row names.
    return result as Result;
  }

  async #send(
    row: MethodRow,
    params: Readonly<Record<string, unknown>> & { readonly _meta?: Meta },
    callOptions: CallOptions,
    { meta, logLevel }: RequestOptions,
  ): Promise<McpResult> {
    const request: McpRequest = {
      method: row.name,
      params: { ...params, _meta: this.#metaOf(params, meta, logLevel) },
    };
    try {
      return await new Call(row, callOptions).run(this.#peer, request);
    } catch (error) {
      const { name } = params;
      const mayRepeat =
        row.readOnly === true || (row === CALL_TOOL && typeof name === 'string' && this.#known.tools.mayRepeat(name));
      const waitMs = row.stream === true ? undefined : repeatAfterMs(error, mayRepeat);
      const { started, idleTimeoutMs, totalTimeoutMs, signal } = callOptions;
      if (waitMs === undefined || waitMs > idleTimeoutMs) throw error;
      if (this.#clock.now() + waitMs >= started + totalTimeoutMs) throw error;
      await this.#pause(waitMs, signal);
      return new Call(row, callOptions).run(this.#peer, request).catch((again: unknown) => {
        throw afterRepeat(error, again);
      });
    }
  }

  /** Ends early with its signal; the request that follows says so. */
  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (ms <= 0 || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, done);
      signal?.addEventListener('abort', done, { once: true });
      function done(): void {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      }
    });
  }

  #metaOf(
    { _meta }: { readonly _meta?: Meta },
    meta: Meta | undefined,
    logLevel: LoggingLevel | undefined,
  ): RequestMeta {
    if (_meta === undefined && meta === undefined && logLevel === undefined) return this.#meta;
    return { ..._meta, ...meta, ...this.#meta, ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }) };
  }

  #callOptions({ signal, idleTimeoutMs, totalTimeoutMs, onProgress, onLog }: RequestOptions): CallOptions {
    checkPositiveInteger('request', 'idleTimeoutMs', idleTimeoutMs);
    checkPositiveInteger('request', 'totalTimeoutMs', totalTimeoutMs);
    return {
      signal,
      idleTimeoutMs: idleTimeoutMs ?? this.#options.idleTimeoutMs ?? 60_000,
      totalTimeoutMs: totalTimeoutMs ?? this.#options.totalTimeoutMs ?? 3_600_000,
      onProgress,
      onLog: onLog ?? this.#options.onLog,
      started: this.#clock.now(),
      clock: this.#clock,
      logger: this.#logger,
    };
  }
}
