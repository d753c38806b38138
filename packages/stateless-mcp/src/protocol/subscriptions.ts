import type { RequestId } from './json-rpc-types.ts';
import type { ResultMeta } from './meta.ts';
import type { McpResult, RequestParams } from './result.ts';

/** What a listen stream is to deliver. Nothing comes that was not asked for. Extensions add members of their own. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  /** URIs of the resources whose updates are wanted. */
  readonly resourceSubscriptions?: readonly string[];
  readonly [key: string]: unknown;
}

/** Parameters of `subscriptions/listen`. */
export interface SubscriptionsListenParams extends RequestParams {
  readonly notifications: SubscriptionFilter;
}

/** The server ended the stream in good order. A stream that breaks off has no result. */
export interface SubscriptionsListenResult extends McpResult {
  readonly resultType: 'complete';
}

/** {@link SubscriptionsListenResult} with the tag that the server binding puts on. */
export interface WireSubscriptionsListenResult extends SubscriptionsListenResult {
  readonly _meta: SubscriptionsListenResultMeta;
}

/** Metadata of {@link WireSubscriptionsListenResult}. */
export interface SubscriptionsListenResultMeta extends ResultMeta {
  /** Equals the `id` of this response. */
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId;
}
