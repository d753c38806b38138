import type { McpRequest } from '../protocol/handler.ts';
import { CLIENT_CAPABILITIES_META_KEY, type Meta, PROTOCOL_VERSION_META_KEY } from '../protocol/meta.ts';
import { PROTOCOL_VERSION } from '../protocol/versions.ts';

/**
 * A request as a handler gets it: with the metadata that every request has, of a client that can do nothing optional.
 *
 * @param params without `_meta`. Default: none
 * @param meta added to the required metadata, or in its place, such as the capabilities of another client
 *
 * @example
 * const request = buildRequest('tools/call', { name: 'forecast', arguments: { city: 'Rome' } });
 *
 * @example
 * const request = buildRequest('tools/list', {}, { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {} } });
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
 */
export function buildRequest(
  method: string,
  params: { readonly [key: string]: unknown; readonly _meta?: never } = {},
  meta: Meta = {},
): McpRequest {
  return {
    method,
    params: {
      ...params,
      _meta: { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {}, ...meta },
    },
  };
}
