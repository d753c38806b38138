import type { ElicitRequest, ElicitResult } from './elicitation.ts';
import type { McpResult, RequestParams } from './result.ts';
import type { ListRootsRequest, ListRootsResult } from './roots.ts';
import type { CreateMessageRequest, CreateMessageResult } from './sampling.ts';

/** Something a server needs from the client before it can finish; `method` tells which. Has no id: its key names it. */
export type InputRequest = ElicitRequest | CreateMessageRequest | ListRootsRequest;

/** What the client found out. Its kind follows from the request under the same key. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** Input requests by keys that the server chose. */
export interface InputRequests {
  readonly [key: string]: InputRequest;
}

/** Answers, each under the key of its request. */
export interface InputResponses {
  readonly [key: string]: InputResponse;
}

/**
 * Not finished: the client answers `inputRequests`, if any, and sends the request again with the answers and the
 * unchanged `requestState`. At least one of the two is present; a state alone means "try again".
 */
export interface InputRequiredResult extends McpResult {
  readonly resultType: 'input_required';
  readonly inputRequests?: InputRequests;
  /** Opaque to the client. */
  readonly requestState?: string;
}

/** Parameters of the methods that may answer with {@link InputRequiredResult}; both members come with a retry only. */
export interface InputResponseParams extends RequestParams {
  readonly inputResponses?: InputResponses;
  /** As received. The client could have changed it: verify before use. */
  readonly requestState?: string;
}
