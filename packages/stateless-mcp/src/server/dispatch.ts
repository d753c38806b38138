import type { ChangeBus } from '../bus/change-bus.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import { McpError, toMcpError } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Exchange, McpHandler, McpRequest } from '../protocol/handler.ts';
import type { Logger } from '../protocol/logger.ts';
import { isLoggingLevel, LOGGING_LEVELS } from '../protocol/logging.ts';
import { LOG_LEVEL_META_KEY, type ResultMeta } from '../protocol/meta.ts';
import {
  CALL_TOOL,
  COMPLETE,
  DISCOVER,
  GET_PROMPT,
  LIST_PROMPTS,
  LIST_RESOURCE_TEMPLATES,
  LIST_RESOURCES,
  LIST_TOOLS,
  LISTEN,
  type MethodRow,
  READ_RESOURCE,
} from '../protocol/methods.ts';
import type { CacheHints, McpResult } from '../protocol/result.ts';
import { isShared, shareJson } from '../protocol/shared-json.ts';
import { hasScopes } from './access.ts';
import { callTool } from './call-tool.ts';
import { complete } from './complete.ts';
import { decodeCursor } from './cursor.ts';
import type { Definition } from './definition.ts';
import { getPrompt } from './get-prompt.ts';
import { invalidParams } from './invalid-params.ts';
import { type ListOptions, ListPages } from './list-pages.ts';
import { listResources } from './list-resources.ts';
import type { PromptDefinition } from './prompt.ts';
import { findResource, readResource } from './read-resource.ts';
import type { Registry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';
import type { TemplateDefinition } from './resource-template.ts';
import { type SubscriptionLimits, Subscriptions } from './subscriptions.ts';
import type { ToolDefinition } from './tool.ts';

/** The four lists, by the member that holds their entries. */
export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** What a server's handler works on. */
export interface ServerParts {
  readonly tools: Registry<ToolDefinition>;
  readonly prompts: Registry<PromptDefinition>;
  readonly resources: Registry<ResourceDefinition>;
  readonly templates: Registry<TemplateDefinition>;
  /** What is advertised now. Another object after every change. */
  readonly capabilities: () => ServerCapabilities;
  readonly instructions: string | undefined;
  readonly resultMeta: ResultMeta | undefined;
  readonly hintsOf: (name: ListName | 'discover') => CacheHints;
  readonly pageSize: number | undefined;
  readonly logger: Logger;
  readonly bus: ChangeBus;
  readonly subscriptionLimits: SubscriptionLimits;
}

/** Serves one method. What it resolves with lacks what all results have in common, unless it is a shared result. */
interface Operation {
  readonly row: MethodRow;
  run(request: McpRequest, exchange: Exchange): Promise<object>;
}

/** Method, capability and log level are checked here; what depends on parameters and definitions by each operation. */
export function makeHandler(parts: ServerParts): McpHandler {
  const { capabilities, resultMeta, logger } = parts;
  const operations = new Map(makeOperations(parts).map((operation) => [operation.row.name, operation]));
  return async (request, exchange) => {
    try {
      const operation = operations.get(request.method);
      if (operation === undefined) {
        throw new McpError(
          METHOD_NOT_FOUND,
          `Method not found: ${excerpt(request.method)}; served here are ${exchange.versions.join(', ')}`,
        );
      }
      if (operation.row.gate?.(capabilities()) === false) {
        throw new McpError(METHOD_NOT_FOUND, `Method not found: no capability of this server offers ${request.method}`);
      }
      const level = request.params._meta[LOG_LEVEL_META_KEY];
      if (level !== undefined && !isLoggingLevel(level)) {
        throw invalidParams(`params._meta["${LOG_LEVEL_META_KEY}"] must be one of ${LOGGING_LEVELS.join(', ')}`);
      }
      return finished(await operation.run(request, exchange), resultMeta);
    } catch (error) {
      // An aborted handler throws as it should, and nobody reads the answer.
      if (error instanceof McpError || !exchange.signal.aborted) throw toMcpError(error, request.method, logger);
      throw new McpError(INTERNAL_ERROR, 'The request was cancelled');
    }
  };
}

function makeOperations(parts: ServerParts): readonly Operation[] {
  const { tools, prompts, resources, templates, logger, capabilities } = parts;
  const resourceOptions = listOptions(parts, LIST_RESOURCES, 'resources');
  const resourcePages = new ListPages(resources, resourceOptions);
  const subscriptions = new Subscriptions(parts.bus, parts.subscriptionLimits, capabilities, async (uri, exchange) => {
    const found = await findResource(parts, uri, exchange);
    return found !== undefined && hasScopes(found.definition, exchange);
  });
  return [
    { row: DISCOVER, run: discoverer(parts) },
    { row: LIST_TOOLS, run: lister(tools, listOptions(parts, LIST_TOOLS, 'tools')) },
    { row: CALL_TOOL, run: (request, exchange) => callTool(tools, logger, request, exchange) },
    {
      row: LIST_RESOURCES,
      run: (request, exchange) => listResources(parts, resourcePages, resourceOptions, request, exchange),
    },
    {
      row: LIST_RESOURCE_TEMPLATES,
      run: lister(templates, listOptions(parts, LIST_RESOURCE_TEMPLATES, 'resourceTemplates')),
    },
    { row: READ_RESOURCE, run: (request, exchange) => readResource(parts, request, exchange) },
    { row: LIST_PROMPTS, run: lister(prompts, listOptions(parts, LIST_PROMPTS, 'prompts')) },
    { row: GET_PROMPT, run: (request, exchange) => getPrompt(prompts, request, exchange) },
    { row: COMPLETE, run: (request, exchange) => complete(prompts, templates, request, exchange) },
    { row: LISTEN, run: (request, exchange) => subscriptions.listen(request, exchange) },
  ];
}

function listOptions(parts: ServerParts, row: MethodRow, name: ListName): ListOptions {
  return {
    row: { ...row, pages: name },
    pageSize: parts.pageSize,
    cacheHints: parts.hintsOf(name),
    meta: parts.resultMeta,
  };
}

function lister<Kind extends Definition>(registry: Registry<Kind>, options: ListOptions): Operation['run'] {
  const pages = new ListPages(registry, options);
  return async (request, exchange) => {
    const position = decodeCursor(options.row.name, request.params.cursor);
    if (position !== undefined && !('after' in position)) throw invalidParams('the cursor belongs to another list');
    return (await pages.slice(position?.after, exchange)).result();
  };
}

/** `server/discover`. One result until capabilities or versions change. */
function discoverer({ capabilities, instructions, resultMeta, hintsOf }: ServerParts): Operation['run'] {
  const hints = hintsOf('discover');
  let kept: {
    readonly advertised: ServerCapabilities;
    readonly versions: readonly string[];
    readonly result: McpResult;
  };
  return async (_, { versions }) => {
    const advertised = capabilities();
    if (kept?.advertised !== advertised || kept.versions !== versions) {
      const members = { supportedVersions: versions, capabilities: advertised, instructions, ...hints };
      const result = finished(members, resultMeta);
      // A copy, because settings of extensions and the server's description belong to whoever passed them.
      const json = JSON.stringify(result);
      kept = { advertised, versions, result: shareJson(JSON.parse(json) as McpResult, json) };
    }
    return kept.result;
  };
}

/** Shared results were finished when they were made; all others are here, in one copy. */
function finished(members: object & { readonly _meta?: ResultMeta }, meta: ResultMeta | undefined): McpResult {
  if (isShared(members)) return members as McpResult;
  const resultType = 'complete';
  if (meta === undefined) return Object.assign({}, members, { resultType });
  const _meta = members._meta === undefined ? meta : { ...members._meta, ...meta };
  // Not by spreading: members after a spread give every object a hidden class of its own, and making and serialising it
  // takes twice as long (measured with `npm run bench`: 0.2 to 0.3 of the floor for a call).
  return Object.assign({}, members, { resultType, _meta });
}
