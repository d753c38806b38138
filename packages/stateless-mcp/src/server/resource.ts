import type { Annotations, ResourceContents } from '../protocol/content.ts';
import type { CacheHints } from '../protocol/result.ts';
import type { Meta } from '../protocol/meta.ts';
import { checkCacheHints } from './cache-hints.ts';
import { checkHandler, define, type Definition, type DefinitionConfig } from './definition.ts';
import type { RequestContext } from './request-context.ts';

/** How a resource, or all resources of a template, are declared. */
export interface ResourceConfig extends DefinitionConfig {
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  /** Bytes of the raw content, if known. Not for templates. */
  readonly size?: number;
  /** How long and for whom clients may keep what they read. Default: stale at once, private. */
  readonly cacheHints?: Partial<CacheHints>;
}

/** A whole result of reading, for handlers that return more than one text or blob. */
export interface ResourceResult extends Partial<CacheHints> {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: Meta;
}

/** A string becomes a text, bytes become a blob, both under the URI that was asked for. */
export type ResourceReturn = string | Uint8Array | ResourceResult;

/** Reads one resource. Throws `ResourceNotFoundError` for one that does not exist. */
export type ResourceHandler = (uri: string, context: RequestContext) => ResourceReturn | Promise<ResourceReturn>;

export interface ResourceDefinition extends Definition {
  readonly config: ResourceConfig;
  readonly read: ResourceHandler;
}

export function compileResource(
  name: string,
  uri: string,
  config: ResourceConfig,
  read: ResourceHandler,
): ResourceDefinition {
  const label = `resource "${uri}"`;
  if (name === '') throw new TypeError(`${label} needs a name`);
  if (/[{}]/.test(uri))
    throw new TypeError(`${label}: a URI has no braces; for a template pass new ResourceTemplate(…)`);
  if (!URL.canParse(uri)) throw new TypeError(`${label}: "${uri}" is not an absolute URI, such as notes://readme`);
  checkHandler(label, read);
  checkCacheHints(label, config.cacheHints, config.visible ?? config.scopes);
  const { mimeType, annotations, size } = config;
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0)) {
    throw new RangeError(`${label}: size must be an integer of bytes from 0, not ${String(size)}`);
  }
  return { ...define(uri, label, { uri, name, mimeType, annotations, size }, config), config, read };
}
