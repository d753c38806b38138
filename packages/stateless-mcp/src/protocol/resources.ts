import type { Annotations, ResourceContents } from './content.ts';
import type { Icon } from './implementation.ts';
import type { InputResponseParams } from './input-required.ts';
import type { Meta } from './meta.ts';
import type { CacheableResult, PaginatedResult } from './result.ts';

/** A resource as a list shows it. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  /** Display name. Absent: `name`. */
  readonly title?: string;
  /** Tells a model what is in it. */
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes of the raw content, before base64. */
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** A family of resources as a list shows it. */
export interface ResourceTemplateEntry {
  /** RFC 6570 template that makes their URIs. */
  readonly uriTemplate: string;
  readonly name: string;
  /** Display name. Absent: `name`. */
  readonly title?: string;
  /** Tells a model what the family is for. */
  readonly description?: string;
  /** Only when all members of the family have this type. */
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** Result of `resources/list`. */
export interface ListResourcesResult extends PaginatedResult, CacheableResult {
  readonly resultType: 'complete';
  readonly resources: readonly Resource[];
}

/** Result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PaginatedResult, CacheableResult {
  readonly resultType: 'complete';
  readonly resourceTemplates: readonly ResourceTemplateEntry[];
}

/** Parameters of `resources/read`. */
export interface ReadResourceParams extends InputResponseParams {
  readonly uri: string;
}

/** Result of `resources/read`. */
export interface ReadResourceResult extends CacheableResult {
  readonly contents: readonly ResourceContents[];
}
