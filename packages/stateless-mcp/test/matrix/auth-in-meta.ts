import { type AuthInfo, type McpEndpoint, type McpHandler, withExchange } from '../../src/protocol/index.ts';
import type { SendOptions, WireRequest } from './wire.ts';

const AUTH_META_KEY = 'test.example/auth';

/** Where one connection carries the requests of all callers, each request says who its caller is. */
export function withCaller(request: WireRequest, { auth }: SendOptions): WireRequest {
  if (auth === undefined) return request;
  const _meta = { ...request.params._meta, [AUTH_META_KEY]: auth };
  return { ...request, params: { ...request.params, _meta } };
}

/** The same endpoint, which believes that. */
export function believing(endpoint: McpEndpoint | McpHandler): McpEndpoint | McpHandler {
  if (typeof endpoint === 'function') return believingHandler(endpoint);
  const { handler, methods } = endpoint;
  return { handler: believingHandler(handler), methods };
}

/** Not `async`: what a handler throws at once, or returns instead of a promise, stays as it is. */
function believingHandler(handler: McpHandler): McpHandler {
  return (request, exchange) => {
    const { [AUTH_META_KEY]: auth, ..._meta } = request.params._meta;
    if (auth === undefined) return handler(request, exchange);
    return handler(
      { ...request, params: { ...request.params, _meta } },
      withExchange(exchange, { auth: auth as AuthInfo }),
    );
  };
}
