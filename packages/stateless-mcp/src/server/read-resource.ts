import { ResourceNotFoundError } from '../protocol/errors.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import { checkAccess, isVisible } from './access.ts';
import { encodeBase64 } from './base64.ts';
import { checkCacheHints, NO_CACHE } from './cache-hints.ts';
import { stringParameter } from './invalid-params.ts';
import { isObject } from '../protocol/json.ts';
import type { Registry } from './registry.ts';
import type { RequestContext } from './request-context.ts';
import type { ResourceConfig, ResourceDefinition, ResourceResult, ResourceReturn } from './resource.ts';
import { matchTemplate, type TemplateDefinition } from './resource-template.ts';
import { runHandler } from './run-handler.ts';

export interface ResourceRegistries {
  readonly resources: Registry<ResourceDefinition>;
  readonly templates: Registry<TemplateDefinition>;
}

/** A definition that answers for a URI, and how to read it. */
export interface FoundResource {
  readonly definition: ResourceDefinition | TemplateDefinition;
  read(context: RequestContext): ResourceReturn | Promise<ResourceReturn>;
}

/** What the caller may know of under this URI: a registered resource first, then templates as they were registered. */
export async function findResource(
  { resources, templates }: ResourceRegistries,
  uri: string,
  exchange: Exchange,
): Promise<FoundResource | undefined> {
  const resource = resources.find(uri);
  // What is hidden or disabled is not to be found through a template either.
  if (resources.has(uri)) {
    if (resource === undefined || !(await isVisible(resource, exchange))) return undefined;
    return { definition: resource, read: (context) => resource.read(uri, context) };
  }
  for (const template of templates) {
    const variables = matchTemplate(template, uri);
    if (variables === undefined || !(await isVisible(template, exchange))) continue;
    return { definition: template, read: (context) => template.read(uri, variables, context) };
  }
  return undefined;
}

/** `resources/read`. */
export async function readResource(
  registries: ResourceRegistries,
  request: McpRequest,
  exchange: Exchange,
): Promise<ResourceResult> {
  const uri = stringParameter(request.params, 'uri');
  const found = await findResource(registries, uri, exchange);
  if (found === undefined) throw new ResourceNotFoundError(uri);
  const { definition, read } = found;
  checkAccess(definition, request, exchange);
  const isPublic = definition.config.cacheHints?.cacheScope === 'public';
  const outcome = await runHandler(definition, request, exchange, read, { isPublic });
  return toResourceResult(uri, definition.label, definition.config, outcome, request);
}

function toResourceResult(
  uri: string,
  label: string,
  { mimeType, cacheHints, visible, scopes }: ResourceConfig,
  outcome: unknown,
  request: McpRequest,
): ResourceResult {
  const type = mimeType === undefined ? undefined : { mimeType };
  const result: ResourceResult | undefined =
    typeof outcome === 'string'
      ? { contents: [{ uri, ...type, text: outcome }] }
      : outcome instanceof Uint8Array
        ? { contents: [{ uri, ...type, blob: encodeBase64(outcome) }] }
        : isResourceResult(outcome)
          ? outcome
          : undefined;
  if (result === undefined) {
    throw new TypeError(`${label} returned neither a string, nor bytes, nor a result with "contents"`);
  }
  const hints = checkCacheHints(label, { ...cacheHints, ...definedHints(result) }, visible ?? scopes);
  if (hints.cacheScope === 'public' && cacheHints?.cacheScope !== 'public') {
    // Only a declared handler was kept from looking at its caller.
    throw new TypeError(`${label}: cacheScope 'public' must be declared in its config`);
  }
  return { ...result, ...(isRetry(request) ? NO_CACHE : hints) };
}

function definedHints({ ttlMs, cacheScope }: ResourceResult): object {
  return { ...(ttlMs !== undefined && { ttlMs }), ...(cacheScope !== undefined && { cacheScope }) };
}

/** The answer to a retried request depends on what its user answered, which is no part of a cache key. */
function isRetry({ params }: McpRequest): boolean {
  return params.inputResponses !== undefined || params.requestState !== undefined;
}

function isResourceResult(value: unknown): value is ResourceResult {
  return isObject(value) && Array.isArray(value.contents) && value.contents.every(isObject);
}
