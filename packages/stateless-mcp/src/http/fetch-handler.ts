import type { AuthInfo } from '../protocol/auth-info.ts';
import { McpError } from '../protocol/errors.ts';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { MAX_JSON_DEPTH, parseJson, tooDeep } from '../protocol/json-rpc.ts';
import { valueExceedsDepth } from '../protocol/json-depth.ts';
import { readFetchBody } from './fetch-body.ts';
import { FetchChannel } from './fetch-channel.ts';
import { type DrainOptions, HttpBinding } from './http-binding.ts';
import type { HttpHead } from './http-head.ts';
import type { HttpOptions } from './http-options.ts';

/** What a framework in front has done already. */
export interface FetchRequestInfo {
  /** The caller it has verified; `authenticate` is not asked then. */
  readonly auth?: AuthInfo;
  /** The body it has parsed; the request's own is not read then. */
  readonly parsedBody?: unknown;
  /** Network address of the client. */
  readonly address?: string;
}

/** An endpoint as a Fetch handler. An object of this form is what many runtimes take as a module's default export. */
export interface FetchHandler {
  /** Never rejects: whatever goes wrong is a response. */
  fetch(this: void, request: Request, info?: FetchRequestInfo): Promise<Response>;
  /** Stops in good order; see {@link DrainOptions}. */
  drain(this: void, options?: DrainOptions): Promise<void>;
}

/**
 * Serves an endpoint over Streamable HTTP on everything that speaks Fetch. Whatever path it is mounted under is the
 * endpoint. Without `allowedOrigins`, requests from web pages are refused.
 *
 * @example export default fetchHandler(server);
 * @throws TypeError, RangeError for options that are not valid
 */
export function fetchHandler(endpoint: McpEndpoint | McpHandler, options: HttpOptions = {}): FetchHandler {
  const binding = new HttpBinding(endpoint, options);
  return {
    async fetch(request, info = {}) {
      const channel = new FetchChannel();
      // Frameworks pass contexts of their own as a second argument.
      await serve(binding, request, channel, info);
      return channel.response;
    },
    drain: async (drainOptions) => binding.drain(drainOptions),
  };
}

async function serve(
  binding: HttpBinding,
  request: Request,
  channel: FetchChannel,
  { auth: known, parsedBody, address }: FetchRequestInfo,
): Promise<void> {
  const { method, url, headers, signal } = request;
  const head: HttpHead = { method, url, headers, ...(address !== undefined && { address }) };
  const admitted = await binding.admitHead(head, channel, known);
  if (admitted === undefined) return;
  try {
    const message = parsedBody === undefined ? parseJson(await readFetchBody(request, binding)) : checked(parsedBody);
    const exchange = binding.receive(message, head, admitted.auth, channel);
    if (exchange === undefined) return;
    channel.attach(exchange);
    if (signal.aborted) channel.close();
    else signal.addEventListener('abort', () => channel.close(), { once: true });
  } catch (error) {
    // A body that broke off has nobody to be answered, but a response is owed.
    binding.refuse(head, channel, error instanceof McpError ? error : binding.bodyTooSlow());
  }
}

function checked(parsedBody: unknown): unknown {
  if (valueExceedsDepth(parsedBody, MAX_JSON_DEPTH)) throw tooDeep();
  return parsedBody;
}
