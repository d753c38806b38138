import type { Exchange, McpRequest } from '../protocol/handler.ts';
import type { McpResult } from '../protocol/result.ts';
import { hasScopes, isVisible } from './access.ts';
import { decodeCursor, type Position } from './cursor.ts';
import { invalidParams } from './invalid-params.ts';
import { isObject } from '../protocol/json.ts';
import { type ListOptions, type ListPages, listResult } from './list-pages.ts';
import type { ResourceRegistries } from './read-resource.ts';
import type { Registry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';
import type { ResourcePage, TemplateDefinition } from './resource-template.ts';
import { runHandler } from './run-handler.ts';

/**
 * `resources/list`: what is registered, sorted by URI, then what the list providers of templates know, in the order of
 * their templates. What a provider lists although it is registered is left out there.
 */
export async function listResources(
  { resources, templates }: ResourceRegistries,
  pages: ListPages<ResourceDefinition>,
  options: ListOptions,
  request: McpRequest,
  exchange: Exchange,
): Promise<McpResult> {
  const position = decodeCursor(options.row.name, request.params.cursor);
  const providers = await providersFor(templates, exchange);
  const entries: object[] = [];
  let next: Position | undefined;
  if (position === undefined || 'after' in position) {
    const slice = await pages.slice(position?.after, exchange);
    if (!slice.isLast || providers.length === 0) return slice.result();
    for (const { advertised } of slice.definitions) entries.push(advertised);
    next = { provider: providers[0]?.key ?? '', cursor: undefined };
  } else {
    next = position;
  }
  // One provider's page at least, further ones only while there is room.
  const { pageSize = Infinity } = options;
  do {
    const { provider, cursor }: { provider: string; cursor: string | undefined } = next;
    const index = providers.findIndex(({ key }) => key === provider);
    const template = providers[index];
    if (template === undefined) throw invalidParams('the cursor belongs to a list that is not offered any more');
    const page = await askProvider(template, cursor, options, request, exchange);
    for (const resource of page.resources) {
      if (!resources.has(resource.uri)) entries.push(resource);
    }
    const following = page.nextCursor === undefined ? providers[index + 1] : template;
    next = following && { provider: following.key, cursor: page.nextCursor };
  } while (next !== undefined && next.cursor === undefined && entries.length < pageSize);
  return listResult(options, entries, next);
}

async function providersFor(
  templates: Registry<TemplateDefinition>,
  exchange: Exchange,
): Promise<readonly TemplateDefinition[]> {
  const withList = templates
    .sorted()
    .filter((definition) => definition.template.options.list !== undefined && hasScopes(definition, exchange));
  const visible = await Promise.all(withList.map(async (definition) => isVisible(definition, exchange)));
  return withList.filter((_, index) => visible[index]);
}

async function askProvider(
  definition: TemplateDefinition,
  cursor: string | undefined,
  { pageSize, cacheHints }: ListOptions,
  request: McpRequest,
  exchange: Exchange,
): Promise<ResourcePage> {
  const isPublic = cacheHints.cacheScope === 'public';
  const page: unknown = await runHandler(
    definition,
    request,
    exchange,
    (context) => definition.template.options.list?.({ cursor, pageSize }, context),
    { isPublic, isAside: true },
  );
  if (isResourcePage(page)) return page;
  throw new TypeError(
    `The list provider of ${definition.label} must return { resources: [{ uri, name, … }], nextCursor? }`,
  );
}

function isResourcePage(page: unknown): page is ResourcePage {
  return (
    isObject(page) &&
    Array.isArray(page.resources) &&
    page.resources.every(
      (entry) => isObject(entry) && typeof entry.uri === 'string' && typeof entry.name === 'string',
    ) &&
    (page.nextCursor === undefined || typeof page.nextCursor === 'string')
  );
}
