import type { ServerCapabilities } from './capabilities.ts';
import type { CompleteParams, CompleteResult } from './completion.ts';
import type { DiscoverResult } from './discover.ts';
import type { InputRequiredResult } from './input-required.ts';
import type { GetPromptParams, GetPromptResult, ListPromptsResult } from './prompts.ts';
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceParams,
  ReadResourceResult,
} from './resources.ts';
import type { McpResult, PaginatedParams, RequestParams } from './result.ts';
import type { SubscriptionsListenParams, SubscriptionsListenResult } from './subscriptions.ts';
import type { CallToolParams, CallToolResult, ListToolsResult } from './tools.ts';

/** What everybody on the way of a request has to know about its method. */
export interface MethodRow<Params extends RequestParams = RequestParams, Result extends McpResult = McpResult> {
  readonly name: string;
  /** Whether a server that advertises these capabilities offers the method. Without it: always offered. */
  readonly gate?: (capabilities: ServerCapabilities) => boolean;
  /** The answer may be a question to the client (`input_required`). */
  readonly mayAsk?: boolean;
  /** Changes nothing at the server: may be asked again when its answer was lost. */
  readonly readOnly?: boolean;
  /** The result carries cache hints. */
  readonly cacheable?: boolean;
  /** The result comes in pages, and this member of it holds the entries. */
  readonly pages?: string;
  /** The member of an entry that tells it from the others. */
  readonly entryKey?: string;
  /** Members that a complete result cannot do without. */
  readonly members?: { readonly [member: string]: 'array' | 'object' };
  /** Stays open: no deadline once it is acknowledged, ended by `closing`. */
  readonly stream?: boolean;
  /** The parameter that names what the request is about; mirrored into the header `Mcp-Name`. */
  readonly target?: string;
  /** Never set; keeps the types of parameters and result. */
  readonly types?: { readonly params: Params; readonly result: Result };
}

/** The methods that an endpoint or a peer knows. A frozen list that travels with it. */
export type MethodTable = readonly MethodRow[];

/**
 * Describes a method, for this library's own table as well as for those of extensions.
 *
 * @example const ping = defineMethod<RequestParams, EmptyResult>({ name: 'com.example/ping' });
 */
export function defineMethod<Params extends RequestParams, Result extends McpResult>(
  row: Omit<MethodRow<Params, Result>, 'types'>,
): MethodRow<Params, Result> {
  return Object.freeze({ ...row });
}

export const DISCOVER: MethodRow<RequestParams, DiscoverResult> = defineMethod({
  name: 'server/discover',
  readOnly: true,
  cacheable: true,
  members: { supportedVersions: 'array', capabilities: 'object' },
});

export const LIST_TOOLS: MethodRow<PaginatedParams, ListToolsResult> = defineMethod({
  name: 'tools/list',
  readOnly: true,
  gate: offersTools,
  cacheable: true,
  pages: 'tools',
  entryKey: 'name',
  members: { tools: 'array' },
});

export const CALL_TOOL: MethodRow<CallToolParams, CallToolResult | InputRequiredResult> = defineMethod({
  name: 'tools/call',
  gate: offersTools,
  mayAsk: true,
  target: 'name',
  members: { content: 'array' },
});

export const LIST_RESOURCES: MethodRow<PaginatedParams, ListResourcesResult> = defineMethod({
  name: 'resources/list',
  readOnly: true,
  gate: offersResources,
  cacheable: true,
  pages: 'resources',
  entryKey: 'uri',
  members: { resources: 'array' },
});

export const LIST_RESOURCE_TEMPLATES: MethodRow<PaginatedParams, ListResourceTemplatesResult> = defineMethod({
  name: 'resources/templates/list',
  readOnly: true,
  gate: offersResources,
  cacheable: true,
  pages: 'resourceTemplates',
  entryKey: 'uriTemplate',
  members: { resourceTemplates: 'array' },
});

export const READ_RESOURCE: MethodRow<ReadResourceParams, ReadResourceResult | InputRequiredResult> = defineMethod({
  name: 'resources/read',
  readOnly: true,
  gate: offersResources,
  mayAsk: true,
  cacheable: true,
  target: 'uri',
  members: { contents: 'array' },
});

export const LIST_PROMPTS: MethodRow<PaginatedParams, ListPromptsResult> = defineMethod({
  name: 'prompts/list',
  readOnly: true,
  gate: offersPrompts,
  cacheable: true,
  pages: 'prompts',
  entryKey: 'name',
  members: { prompts: 'array' },
});

export const GET_PROMPT: MethodRow<GetPromptParams, GetPromptResult | InputRequiredResult> = defineMethod({
  name: 'prompts/get',
  readOnly: true,
  gate: offersPrompts,
  mayAsk: true,
  target: 'name',
  members: { messages: 'array' },
});

export const COMPLETE: MethodRow<CompleteParams, CompleteResult> = defineMethod({
  name: 'completion/complete',
  readOnly: true,
  gate: (capabilities) => capabilities.completions !== undefined,
  members: { completion: 'object' },
});

export const LISTEN: MethodRow<SubscriptionsListenParams, SubscriptionsListenResult> = defineMethod({
  name: 'subscriptions/listen',
  gate: announcesChanges,
  stream: true,
});

/** The methods of revision 2026-07-28. */
export const METHODS: MethodTable = Object.freeze([
  DISCOVER,
  LIST_TOOLS,
  CALL_TOOL,
  LIST_RESOURCES,
  LIST_RESOURCE_TEMPLATES,
  READ_RESOURCE,
  LIST_PROMPTS,
  GET_PROMPT,
  COMPLETE,
  LISTEN,
]);

/** Looks rows up by name, for a table that is used more than once. */
export function indexMethods(table: MethodTable): ReadonlyMap<string, MethodRow> {
  return new Map(table.map((row) => [row.name, row]));
}

function offersTools(capabilities: ServerCapabilities): boolean {
  return capabilities.tools !== undefined;
}

function offersResources(capabilities: ServerCapabilities): boolean {
  return capabilities.resources !== undefined;
}

function offersPrompts(capabilities: ServerCapabilities): boolean {
  return capabilities.prompts !== undefined;
}

function announcesChanges({ tools, prompts, resources }: ServerCapabilities): boolean {
  return [tools?.listChanged, prompts?.listChanged, resources?.listChanged, resources?.subscribe].includes(true);
}
