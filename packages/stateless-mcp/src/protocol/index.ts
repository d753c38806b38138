/** The words of the stateless protocol: messages, methods, errors, rules. No I/O, no timers, no dependencies. */
export type { AuthInfo } from './auth-info.ts';
export type { ClientCapabilities, ServerCapabilities } from './capabilities.ts';
export { type Clock, systemClock } from './clock.ts';
export type * from './completion.ts';
export type * from './content.ts';
export type { DiscoverResult } from './discover.ts';
export type { DrainOptions } from './drain-options.ts';
export type * from './elicitation.ts';
export * from './error-codes.ts';
export {
  HeaderMismatchError,
  McpError,
  type McpErrorOptions,
  MissingRequiredClientCapabilityError,
  RemoteError,
  type RemoteErrorFacts,
  ResourceNotFoundError,
  UnsupportedProtocolVersionError,
} from './errors.ts';
export {
  type Exchange,
  type ExchangeChanges,
  type HeaderReader,
  type HttpRequestInfo,
  type McpEndpoint,
  type McpHandler,
  type McpMiddleware,
  type McpRequest,
  withExchange,
  withMiddleware,
} from './handler.ts';
export { decodeHeaderValue, encodeHeaderValue } from './header-value.ts';
export type { Icon, Implementation } from './implementation.ts';
export type * from './input-required.ts';
export type { JsonObject, JsonValue } from './json.ts';
export type * from './json-rpc-types.ts';
export { type FailurePhase, LocalError, type LocalErrorCode, type LocalErrorFacts } from './local-error.ts';
export { consoleLogger, type Logger } from './logger.ts';
export { LOGGING_LEVELS, type LoggingLevel } from './logging.ts';
export {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isExtensionId,
  isMetaKey,
  LOG_LEVEL_META_KEY,
  type Meta,
  type NotificationMeta,
  type ProgressToken,
  PROTOCOL_VERSION_META_KEY,
  type RequestMeta,
  type ResultMeta,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from './meta.ts';
export {
  CALL_TOOL,
  COMPLETE,
  defineMethod,
  DISCOVER,
  GET_PROMPT,
  LIST_PROMPTS,
  LIST_RESOURCE_TEMPLATES,
  LIST_RESOURCES,
  LIST_TOOLS,
  LISTEN,
  type MethodRow,
  METHODS,
  type MethodTable,
  READ_RESOURCE,
} from './methods.ts';
export type * from './notifications.ts';
export { type McpPeer, type PeerEvents, type PeerReport } from './peer.ts';
export type * from './prompts.ts';
export type * from './resources.ts';
export type * from './result.ts';
export type * from './roots.ts';
export type * from './sampling.ts';
export type * from './subscriptions.ts';
export type * from './tools.ts';
export { MODERN_VERSIONS, PROTOCOL_VERSION } from './versions.ts';
