import type { JsonRpcNotification, RequestId } from './json-rpc-types.ts';
import type { LoggingLevel } from './logging.ts';
import type { Meta, NotificationMeta, ProgressToken } from './meta.ts';
import type { SubscriptionFilter } from './subscriptions.ts';

// First family: what handlers emit and clients receive. No progress token and no subscription id: bindings put those
// on and take them off, so that a notification can be passed on from hop to hop as it is.

/** Parameters that every notification may have. Members this library does not know are kept as they are. */
export interface NotificationParams {
  readonly _meta?: Meta;
  readonly [key: string]: unknown;
}

export interface ProgressParams extends NotificationParams {
  /** Grows with every notification of a request, in a unit of the sender's choice. */
  readonly progress: number;
  /** Where `progress` will end, if known. */
  readonly total?: number;
  readonly message?: string;
}

export interface LogParams extends NotificationParams {
  readonly level: LoggingLevel;
  /** Name of the part that speaks. */
  readonly logger?: string;
  /** Any JSON value. */
  readonly data: unknown;
}

export interface ResourceUpdatedParams extends NotificationParams {
  /** The resource to read again; it may lie below the one that was subscribed to. */
  readonly uri: string;
}

export interface SubscriptionsAcknowledgedParams extends NotificationParams {
  /** What the stream will deliver of what was asked for. */
  readonly notifications: SubscriptionFilter;
}

/** How far a request has come. Dropped unless its caller wants progress. */
export interface ProgressNotification {
  readonly method: 'notifications/progress';
  readonly params: ProgressParams;
}

/**
 * A log message for the caller of a request.
 * @deprecated by revision 2026-07-28, still served.
 */
export interface LogNotification {
  readonly method: 'notifications/message';
  readonly params: LogParams;
}

/** The list of tools is another one now. */
export interface ToolListChangedNotification {
  readonly method: 'notifications/tools/list_changed';
  readonly params?: NotificationParams;
}

/** The list of prompts is another one now. */
export interface PromptListChangedNotification {
  readonly method: 'notifications/prompts/list_changed';
  readonly params?: NotificationParams;
}

/** The list of resources is another one now. */
export interface ResourceListChangedNotification {
  readonly method: 'notifications/resources/list_changed';
  readonly params?: NotificationParams;
}

/** What is in a resource has changed. */
export interface ResourceUpdatedNotification {
  readonly method: 'notifications/resources/updated';
  readonly params: ResourceUpdatedParams;
}

/** A listen stream is open. Always its first notification. */
export interface SubscriptionsAcknowledgedNotification {
  readonly method: 'notifications/subscriptions/acknowledged';
  readonly params: SubscriptionsAcknowledgedParams;
}

/** Every notification of this revision that a server emits; `method` tells them apart. */
export type McpNotification =
  | ProgressNotification
  | LogNotification
  | ToolListChangedNotification
  | PromptListChangedNotification
  | ResourceListChangedNotification
  | ResourceUpdatedNotification
  | SubscriptionsAcknowledgedNotification;

/**
 * A notification of an extension. Not a member of {@link McpNotification}: its open `method` would overlap with all
 * the others, and `method` could no longer tell them apart.
 */
export interface ExtensionNotification {
  readonly method: `notifications/${string}`;
  readonly params?: NotificationParams;
}

// Second family: what is written on one connection, with the tags that belong to it.

/** Tags of a notification on the wire. */
export interface WireNotificationParams extends NotificationParams {
  readonly _meta?: NotificationMeta;
}

export interface WireProgressParams extends ProgressParams {
  readonly _meta?: NotificationMeta;
  /** From the `_meta` of the request. */
  readonly progressToken: ProgressToken;
}

export interface WireLogParams extends LogParams {
  readonly _meta?: NotificationMeta;
}

export interface WireResourceUpdatedParams extends ResourceUpdatedParams {
  readonly _meta?: NotificationMeta;
}

export interface WireSubscriptionsAcknowledgedParams extends SubscriptionsAcknowledgedParams {
  readonly _meta?: NotificationMeta;
}

export interface CancelledParams extends WireNotificationParams {
  /** A request that the sender made earlier; from a server, the listen request that it ends. */
  readonly requestId: RequestId;
  /** For logs and users. */
  readonly reason?: string;
}

export interface WireProgressNotification extends JsonRpcNotification {
  readonly method: 'notifications/progress';
  readonly params: WireProgressParams;
}

/** @deprecated by revision 2026-07-28, still served. */
export interface WireLogNotification extends JsonRpcNotification {
  readonly method: 'notifications/message';
  readonly params: WireLogParams;
}

export interface WireToolListChangedNotification extends JsonRpcNotification {
  readonly method: 'notifications/tools/list_changed';
  readonly params?: WireNotificationParams;
}

export interface WirePromptListChangedNotification extends JsonRpcNotification {
  readonly method: 'notifications/prompts/list_changed';
  readonly params?: WireNotificationParams;
}

export interface WireResourceListChangedNotification extends JsonRpcNotification {
  readonly method: 'notifications/resources/list_changed';
  readonly params?: WireNotificationParams;
}

export interface WireResourceUpdatedNotification extends JsonRpcNotification {
  readonly method: 'notifications/resources/updated';
  readonly params: WireResourceUpdatedParams;
}

export interface WireSubscriptionsAcknowledgedNotification extends JsonRpcNotification {
  readonly method: 'notifications/subscriptions/acknowledged';
  readonly params: WireSubscriptionsAcknowledgedParams;
}

/** The sender will not read the answer. Exists on the wire only: inside, cancelling is the abort of a signal. */
export interface CancelledNotification extends JsonRpcNotification {
  readonly method: 'notifications/cancelled';
  readonly params: CancelledParams;
}

/** Every notification of this revision as it is written. */
export type WireNotification =
  | WireProgressNotification
  | WireLogNotification
  | WireToolListChangedNotification
  | WirePromptListChangedNotification
  | WireResourceListChangedNotification
  | WireResourceUpdatedNotification
  | WireSubscriptionsAcknowledgedNotification
  | CancelledNotification;
