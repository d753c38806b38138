import type { ClientCapabilities } from './capabilities.ts';
import type { Implementation } from './implementation.ts';
import type { RequestId } from './json-rpc-types.ts';
import type { LoggingLevel } from './logging.ts';

/** Request metadata: the revision this request is written in, such as `2026-07-28`. Mirrored by an HTTP header. */
export const PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Request metadata: what the client can do for this one request. */
export const CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities';

/** Request metadata: the client software, as it describes itself. */
export const CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo';

/** Request metadata: the lowest severity of log messages this request wants. Absent: none. */
export const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel';

/** Result metadata: the server software, as it describes itself. */
export const SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo';

/** Metadata of everything that arrives on a listen stream: the id of the request that opened the stream. */
export const SUBSCRIPTION_ID_META_KEY = 'io.modelcontextprotocol/subscriptionId';

/** Ties progress to the request it belongs to. Valid between two neighbours only. */
export type ProgressToken = string | number;

/** Additional data on a message or definition, by key. See {@link isMetaKey} for what a key may look like. */
export type Meta = Readonly<Record<string, unknown>>;

/**
 * Metadata of a request. Two members belong to the connection and are therefore optional here, although the wire
 * requires the first: the client binding writes `protocolVersion` and, for callers that want progress,
 * `progressToken`. A handler never sees the token.
 */
export interface RequestMeta {
  readonly 'io.modelcontextprotocol/protocolVersion'?: string;
  readonly progressToken?: ProgressToken;
  /** `{}` means that the client can do nothing optional. Nothing is remembered from earlier requests. */
  readonly 'io.modelcontextprotocol/clientCapabilities': ClientCapabilities;
  /** For display and logs. Unverified: never decide by it. */
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation;
  /** @deprecated by revision 2026-07-28, still honoured. */
  readonly 'io.modelcontextprotocol/logLevel'?: LoggingLevel;
  readonly [key: string]: unknown;
}

/** Metadata of a notification on the wire. */
export interface NotificationMeta {
  /** Present on everything that a listen stream delivers, absent elsewhere. */
  readonly 'io.modelcontextprotocol/subscriptionId'?: RequestId;
  readonly [key: string]: unknown;
}

/** Metadata of a result. */
export interface ResultMeta {
  /** For display and logs. Unverified: never decide by it. */
  readonly 'io.modelcontextprotocol/serverInfo'?: Implementation;
  readonly [key: string]: unknown;
}

const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
const NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;

/**
 * Whether a string may be a key of `_meta`: an optional prefix of dot-separated labels and a slash, then a name,
 * which may be empty. Takes time linear in the length.
 *
 * @example isMetaKey('com.example/trace.id') // true
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
 */
export function isMetaKey(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash === -1) return NAME.test(key);
  return (
    NAME.test(key.slice(slash + 1)) &&
    key
      .slice(0, slash)
      .split('.')
      .every((label) => LABEL.test(label))
  );
}

/**
 * Whether a string may identify an extension: a metadata key that has a prefix.
 *
 * @example isExtensionId('io.modelcontextprotocol/tasks') // true
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
export function isExtensionId(id: string): boolean {
  return id.includes('/') && isMetaKey(id);
}
