import { PARSE_ERROR } from './error-codes.ts';
import { McpError } from './errors.ts';
import { exceedsDepth } from './json-depth.ts';
import type { RequestId } from './json-rpc-types.ts';
import { type ProgressToken, SUBSCRIPTION_ID_META_KEY } from './meta.ts';
import type { ExtensionNotification, McpNotification } from './notifications.ts';
import type { McpResult } from './result.ts';
import { jsonOf } from './shared-json.ts';

/** How deep a message may nest. Code that walks messages recurses, so this protects the stack. */
export const MAX_JSON_DEPTH = 128;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The JSON value in `bytes`. Whether it is a message is for admission to say.
 *
 * @param decode for platforms with a faster way to text than `TextDecoder`; `undefined` if the bytes are not UTF-8
 * @throws McpError −32700 if the bytes are no UTF-8, no JSON, or nest deeper than {@link MAX_JSON_DEPTH}
 */
export function parseJson(bytes: Uint8Array, decode: (bytes: Uint8Array) => string | undefined = decodeUtf8): unknown {
  if (exceedsDepth(bytes, MAX_JSON_DEPTH)) throw tooDeep();
  const text = decode(bytes);
  if (text === undefined) throw new McpError(PARSE_ERROR, 'Parse error: the message is not UTF-8', { status: 400 });
  try {
    return JSON.parse(text);
  } catch {
    throw new McpError(PARSE_ERROR, 'Parse error: the message is not valid JSON', { status: 400 });
  }
}

/** For a message that nests deeper than {@link MAX_JSON_DEPTH}. */
export function tooDeep(): McpError {
  return new McpError(PARSE_ERROR, `Parse error: the message nests deeper than ${MAX_JSON_DEPTH} levels`, {
    status: 400,
  });
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A result as one line of JSON. Throws what `JSON.stringify` throws for values that JSON cannot carry. */
export function serialiseResult(id: RequestId, result: McpResult): string {
  const text = jsonOf(result) ?? '';
  // `toJSON` can make anything of an object.
  if (!text.startsWith('{')) throw new TypeError('The JSON of a result must be an object');
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;
}

/** An error as one line of JSON; without `id` if that of the request could not be read. */
export function serialiseError(id: RequestId | undefined, { code, message, data }: McpError): string {
  const error = JSON.stringify({ code, message, ...(data !== undefined && { data }) });
  return id === undefined
    ? `{"jsonrpc":"2.0","error":${error}}`
    : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${error}}`;
}

/** What a hop adds to a notification: at most one of the two. */
export interface NotificationTags {
  readonly progressToken?: ProgressToken;
  readonly subscriptionId?: RequestId;
}

/** A notification as one line of JSON, with the tags of this hop written around the text that all hops share. */
export function serialiseNotification(
  { method, params = {} }: McpNotification | ExtensionNotification,
  { progressToken, subscriptionId }: NotificationTags,
): string {
  let text = jsonOf(params) ?? '{}';
  if (subscriptionId !== undefined) {
    text =
      params._meta === undefined
        ? withMember(`"_meta":{${JSON.stringify(SUBSCRIPTION_ID_META_KEY)}:${JSON.stringify(subscriptionId)}}`, text)
        : JSON.stringify({ ...params, _meta: { ...params._meta, [SUBSCRIPTION_ID_META_KEY]: subscriptionId } });
  } else if (progressToken !== undefined) {
    text = withMember(`"progressToken":${JSON.stringify(progressToken)}`, text);
  }
  return text === '{}'
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${text}}`;
}

/** JSON text of an object with one more member, which comes first. */
function withMember(member: string, object: string): string {
  return object === '{}' ? `{${member}}` : `{${member},${object.slice(1)}`;
}
