import type { Resource } from '../protocol/resources.ts';
import { checkCacheHints } from './cache-hints.ts';
import type { Completer } from './completer.ts';
import { checkHandler, define, type Definition } from './definition.ts';
import type { RequestContext } from './request-context.ts';
import type { ResourceConfig, ResourceReturn } from './resource.ts';
import { parseUriTemplate, type UriTemplate, type UriVariables } from './uri-template.ts';

/** One page of the resources behind a template. */
export interface ResourcePage {
  readonly resources: readonly Resource[];
  /** Asks this provider for its next page. Absent: that was all. */
  readonly nextCursor?: string;
}

/** What a list provider is asked for. */
export interface ResourcePageRequest {
  /** What the provider gave out as `nextCursor`; absent for the first page. It comes back from a client: check it. */
  readonly cursor: string | undefined;
  /** The page size of the server, if it has one. A wish, not a demand. */
  readonly pageSize: number | undefined;
}

/** Lists resources that are too many to register, page by page and always in the same order. */
export type ResourceListProvider = (
  request: ResourcePageRequest,
  context: RequestContext,
) => ResourcePage | Promise<ResourcePage>;

export interface ResourceTemplateOptions {
  /** Lists what the template stands for, in `resources/list`. Without it, clients learn of the template alone. */
  readonly list?: ResourceListProvider;
  /** Suggests values, by variable. */
  readonly complete?: Readonly<Record<string, Completer>>;
  /**
   * Whether these variables may be read. They are decoded already, so that `..%2F` arrives here as `../`. What is not
   * accepted is an unknown resource. Default: every match.
   */
  readonly guard?: (variables: UriVariables) => boolean;
}

/**
 * A family of resources with URIs of one form (RFC 6570).
 *
 * @example
 * server.registerResource('note', new ResourceTemplate('note:///{id}'), {}, (uri, { id }) => notes.read(id));
 * @throws TypeError for a template that is malformed or could not be matched without doubt
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 */
export class ResourceTemplate {
  readonly uriTemplate: UriTemplate;
  readonly options: ResourceTemplateOptions;

  constructor(uriTemplate: string, options: ResourceTemplateOptions = {}) {
    this.uriTemplate = parseUriTemplate(uriTemplate);
    this.options = options;
    for (const variable of Object.keys(options.complete ?? {})) {
      if (this.uriTemplate.variableNames.includes(variable)) continue;
      throw new TypeError(`complete.${variable}: the template ${uriTemplate} has no variable of that name`);
    }
  }

  /** The URI for these values, encoded so that the template matches it again. */
  expand(values: UriVariables): string {
    return this.uriTemplate.expand(values);
  }
}

/** Reads one resource of a template. Throws `ResourceNotFoundError` for one that does not exist. */
export type TemplateHandler = (
  uri: string,
  variables: UriVariables,
  context: RequestContext,
) => ResourceReturn | Promise<ResourceReturn>;

export interface TemplateDefinition extends Definition {
  readonly config: ResourceConfig;
  readonly template: ResourceTemplate;
  readonly read: TemplateHandler;
}

export function compileTemplate(
  name: string,
  template: ResourceTemplate,
  config: ResourceConfig,
  read: TemplateHandler,
): TemplateDefinition {
  const uriTemplate = template.uriTemplate.template;
  const label = `resource template "${uriTemplate}"`;
  if (name === '') throw new TypeError(`${label} needs a name`);
  checkHandler(label, read);
  if (config.size !== undefined) throw new TypeError(`${label}: size is for single resources`);
  checkCacheHints(label, config.cacheHints, config.visible ?? config.scopes);
  const { mimeType, annotations } = config;
  const entry = { uriTemplate, name, mimeType, annotations };
  return { ...define(uriTemplate, label, entry, config), config, template, read };
}

/** The values for which the template stands for the URI, if it does and its guard agrees. */
export function matchTemplate({ template }: TemplateDefinition, uri: string): UriVariables | undefined {
  const variables = template.uriTemplate.match(uri);
  if (variables === undefined || template.options.guard === undefined) return variables;
  // Nothing but `true` lets a value in: not a promise, not what a forgotten `return` gives.
  const verdict: unknown = template.options.guard(variables);
  return verdict === true ? variables : undefined;
}
