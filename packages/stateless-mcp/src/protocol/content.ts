import type { Meta } from './meta.ts';
import type { Resource } from './resources.ts';

/** Who speaks, or who a piece of content is meant for. */
export type Role = 'user' | 'assistant';

/** Hints on how to show or use a piece of content. */
export interface Annotations {
  /** Absent: everybody. */
  readonly audience?: readonly Role[];
  /** 0 (can be left out) to 1 (indispensable). */
  readonly priority?: number;
  /** ISO 8601 time, such as `2026-07-28T12:00:00Z`. */
  readonly lastModified?: string;
}

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface ImageContent {
  readonly type: 'image';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface AudioContent {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** Points to a resource that can be read; it need not be listed anywhere. */
export interface ResourceLink extends Resource {
  readonly type: 'resource_link';
}

/** Carries what is in a resource. */
export interface EmbeddedResource {
  readonly type: 'resource';
  readonly resource: ResourceContents;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** A piece of a tool result or a prompt message; `type` tells which. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

export interface TextResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text: string;
  readonly _meta?: Meta;
}

export interface BlobResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  /** Base64. */
  readonly blob: string;
  readonly _meta?: Meta;
}

/** What is in a resource: `text` or `blob`, tested with `'text' in contents`. */
export type ResourceContents = TextResourceContents | BlobResourceContents;
