import type { ChangeBus } from '../bus/change-bus.ts';
import { memoryBus } from '../bus/memory-bus.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import type { Implementation } from '../protocol/implementation.ts';
import type { JsonObject } from '../protocol/json.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import { isExtensionId, SERVER_INFO_META_KEY } from '../protocol/meta.ts';
import { type MethodTable, METHODS } from '../protocol/methods.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';
import { deepFreeze } from '../protocol/shared-json.ts';
import type { CacheHints } from '../protocol/result.ts';
import type { SchemaSource } from '../schema/schema-source.ts';
import type { SchemaValidator } from '../schema/schema-validator.ts';
import { checkCacheHints } from './cache-hints.ts';
import { type ListName, makeHandler } from './dispatch.ts';
import { compilePrompt, type PromptConfig, type PromptDefinition, type PromptHandler } from './prompt.ts';
import { type Registration, Registry } from './registry.ts';
import { compileResource, type ResourceConfig, type ResourceDefinition, type ResourceHandler } from './resource.ts';
import {
  compileTemplate,
  ResourceTemplate,
  type TemplateDefinition,
  type TemplateHandler,
} from './resource-template.ts';
import { resourceKey } from './subscriptions.ts';
import { compileTool, type ToolConfig, type ToolDefinition, type ToolHandler } from './tool.ts';

/** Capabilities that cannot be told from what is registered. */
export interface DeclaredCapabilities {
  /** Announce changes of the list of tools to clients that listen. */
  readonly tools?: { readonly listChanged?: boolean };
  readonly prompts?: { readonly listChanged?: boolean };
  /** `subscribe`: announce changes of single resources, by `notify.resourceUpdated`. */
  readonly resources?: { readonly listChanged?: boolean; readonly subscribe?: boolean };
  /** Settings of extensions, by extension id. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
  readonly experimental?: Readonly<Record<string, JsonObject>>;
}

export interface McpServerOptions {
  /** Guidance for the model that uses the server, as a whole. */
  readonly instructions?: string;
  readonly capabilities?: DeclaredCapabilities;
  /** How long and for whom clients may keep lists and the discovery result. Default: stale at once, private. */
  readonly cacheHints?: Partial<Readonly<Record<ListName | 'discover', Partial<CacheHints>>>>;
  /** Entries per page of a list. Default: everything on one page. */
  readonly pageSize?: number;
  /** Where unexpected errors go. Default: warnings and errors to the console's error stream. */
  readonly logger?: Logger;
  /** Brings change events to all instances. Default: within this process. */
  readonly bus?: ChangeBus;
  /** Listen streams that may be open in this process. Default: 10,000. */
  readonly maxSubscriptions?: number;
  /** Milliseconds after which a listen stream is ended, for platforms that bill by duration. Default: never. */
  readonly maxSubscriptionAgeMs?: number;
  /** Checks raw JSON Schemas. Default: one that makes no code and runs everywhere. */
  readonly schemaValidator?: SchemaValidator;
  /** Whether results say who made them. Default: true. */
  readonly sendServerInfo?: boolean;
}

/** Announces changes, from inside and outside of requests. */
export interface ChangeNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  /**
   * @param within resources that this one is a part of; whoever subscribed to one of them is told too
   */
  resourceUpdated(uri: string, options?: { readonly within?: readonly string[] }): void;
}

export type RegisteredTool<
  Input extends SchemaSource | undefined = SchemaSource | undefined,
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> = Registration<ToolConfig<Input, Output>, ToolHandler<Input, Output>>;
export type RegisteredPrompt<Args extends SchemaSource | undefined = SchemaSource | undefined> = Registration<
  PromptConfig<Args>,
  PromptHandler<Args>
>;
export type RegisteredResource = Registration<ResourceConfig, ResourceHandler>;
export type RegisteredResourceTemplate = Registration<ResourceConfig, TemplateHandler>;

/**
 * A server: tools, resources and prompts behind one handler. One object serves all requests of a process; it keeps no
 * state of any client.
 *
 * @example
 * const server = new McpServer({ name: 'weather', version: '1.0.0' });
 * server.registerTool(
 *   'forecast',
 *   { description: 'Weather of tomorrow', inputSchema: z.object({ city: z.string() }) },
 *   async ({ city }) => `Sunny in ${city}`,
 * );
 * await serveHttp(server, { port: 3000 });
 */
export class McpServer implements McpEndpoint {
  readonly handler: McpHandler;
  readonly methods: MethodTable = METHODS;
  readonly notify: ChangeNotifier;
  readonly #tools: Registry<ToolDefinition>;
  readonly #prompts: Registry<PromptDefinition>;
  readonly #resources: Registry<ResourceDefinition>;
  readonly #templates: Registry<TemplateDefinition>;
  readonly #declared: DeclaredCapabilities;
  readonly #validator: SchemaValidator | undefined;
  readonly #publicLists: ReadonlySet<string>;
  #capabilities: ServerCapabilities | undefined;

  /**
   * @param info who serves, as clients see it
   * @throws TypeError, RangeError for options that are not valid
   */
  constructor(info: Implementation, options: McpServerOptions = {}) {
    checkOptions(info, options);
    const { bus = memoryBus(), cacheHints = {}, logger = consoleLogger, maxSubscriptions = 10_000 } = options;
    this.#declared = options.capabilities ?? {};
    this.#validator = options.schemaValidator;
    const publicLists = Object.entries(cacheHints).filter(([, hints]) => hints?.cacheScope === 'public');
    this.#publicLists = new Set(publicLists.map(([list]) => list));
    const changed = (key: 'tools' | 'prompts' | 'resources'): void => {
      this.#capabilities = undefined;
      if (this.#declared[key]?.listChanged === true) bus.publish({ key });
    };
    this.#tools = new Registry(() => changed('tools'));
    this.#prompts = new Registry(() => changed('prompts'));
    this.#resources = new Registry(() => changed('resources'));
    this.#templates = new Registry(() => changed('resources'));
    this.notify = {
      toolsChanged: () => bus.publish({ key: 'tools' }),
      promptsChanged: () => bus.publish({ key: 'prompts' }),
      resourcesChanged: () => bus.publish({ key: 'resources' }),
      resourceUpdated: (uri, { within } = {}) =>
        bus.publish({ key: resourceKey(uri), ...(within && { within: within.map(resourceKey) }) }),
    };
    const serverInfo = deepFreeze({ [SERVER_INFO_META_KEY]: structuredClone(info) });
    this.handler = makeHandler({
      tools: this.#tools,
      prompts: this.#prompts,
      resources: this.#resources,
      templates: this.#templates,
      capabilities: () => (this.#capabilities ??= this.#advertised()),
      instructions: options.instructions,
      resultMeta: options.sendServerInfo === false ? undefined : serverInfo,
      hintsOf: (name) => checkCacheHints(`cacheHints.${name}`, cacheHints[name], undefined),
      pageSize: options.pageSize,
      logger: guarded(logger),
      bus,
      subscriptionLimits: { maxSubscriptions, maxAgeMs: options.maxSubscriptionAgeMs },
    });
  }

  /**
   * Offers a tool.
   *
   * @throws TypeError, RangeError if the name is taken, or a schema cannot be advertised as what it checks
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
   */
  registerTool<Input extends SchemaSource | undefined = undefined, Output extends SchemaSource | undefined = undefined>(
    name: string,
    config: ToolConfig<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): RegisteredTool<Input, Output> {
    return this.#tools.register(config, handler, (newConfig, newHandler) => {
      this.#refuseHidingInPublic('tools', newConfig.visible);
      return compileTool(name, newConfig, erase(newHandler), this.#validator);
    });
  }

  /**
   * Offers a prompt.
   *
   * @throws TypeError, RangeError if the name is taken or the schema cannot be advertised
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
   */
  registerPrompt<Args extends SchemaSource | undefined = undefined>(
    name: string,
    config: PromptConfig<Args>,
    handler: PromptHandler<Args>,
  ): RegisteredPrompt<Args> {
    return this.#prompts.register(config, handler, (newConfig, newHandler) => {
      this.#refuseHidingInPublic('prompts', newConfig.visible);
      return compilePrompt(name, newConfig, erase(newHandler), this.#validator);
    });
  }

  /**
   * Offers one resource by its URI, or a family of them by a template. URIs are compared as they are written.
   *
   * @throws TypeError, RangeError if the URI is taken or not one
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
   */
  registerResource(name: string, uri: string, config: ResourceConfig, read: ResourceHandler): RegisteredResource;
  registerResource(
    name: string,
    template: ResourceTemplate,
    config: ResourceConfig,
    read: TemplateHandler,
  ): RegisteredResourceTemplate;
  registerResource(
    name: string,
    target: string | ResourceTemplate,
    config: ResourceConfig,
    read: ResourceHandler & TemplateHandler,
  ): RegisteredResource | RegisteredResourceTemplate {
    if (typeof target === 'string') {
      return this.#resources.register<ResourceConfig, ResourceHandler>(config, read, (newConfig, newRead) => {
        this.#refuseHidingInPublic('resources', newConfig.visible);
        return compileResource(name, target, newConfig, newRead);
      });
    }
    return this.#templates.register<ResourceConfig, TemplateHandler>(config, read, (newConfig, newRead) => {
      this.#refuseHidingInPublic('resourceTemplates', newConfig.visible);
      this.#refuseHidingInPublic('resources', target.options.list && newConfig.visible);
      return compileTemplate(name, target, newConfig, newRead);
    });
  }

  #refuseHidingInPublic(list: ListName, visible: unknown): void {
    if (visible === undefined || !this.#publicLists.has(list)) return;
    throw new TypeError(`cacheHints.${list} is 'public', so that no definition in it can have "visible"`);
  }

  #advertised(): ServerCapabilities {
    const declared = this.#declared;
    const completes =
      [...this.#prompts].some(({ config }) => config.complete !== undefined) ||
      [...this.#templates].some(({ template }) => template.options.complete !== undefined);
    return {
      logging: {},
      ...((declared.tools !== undefined || this.#tools.size > 0) && { tools: { ...declared.tools } }),
      ...((declared.prompts !== undefined || this.#prompts.size > 0) && { prompts: { ...declared.prompts } }),
      ...((declared.resources !== undefined || this.#resources.size + this.#templates.size > 0) && {
        resources: { ...declared.resources },
      }),
      ...(completes && { completions: {} }),
      ...(declared.extensions && { extensions: declared.extensions }),
      ...(declared.experimental && { experimental: declared.experimental }),
    };
  }
}

/** Definitions of all kinds of arguments lie in one registry; what a handler gets is what its own schema let through. */
function erase(handler: unknown): ToolDefinition['handler'] {
  return handler as ToolDefinition['handler'];
}

function checkOptions(info: Implementation, options: McpServerOptions): void {
  if (typeof info?.name !== 'string' || typeof info.version !== 'string') {
    throw new TypeError('McpServer: info must have a name and a version');
  }
  for (const option of ['pageSize', 'maxSubscriptions', 'maxSubscriptionAgeMs'] as const) {
    checkPositiveInteger('McpServer', option, options[option]);
  }
  for (const id of Object.keys(options.capabilities?.extensions ?? {})) {
    if (!isExtensionId(id)) {
      throw new TypeError(
        `McpServer: capabilities.extensions["${id}"] needs an id with a prefix, such as com.example/${id}`,
      );
    }
  }
}
