import type { AuthInfo } from '../protocol/auth-info.ts';
import { McpError } from '../protocol/errors.ts';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { parseJson } from '../protocol/json-rpc.ts';
import { readFetchBody } from './fetch-body.ts';
import { FetchChannel } from './fetch-channel.ts';
import { HttpBinding } from './http-binding.ts';
import type { DrainOptions } from '../protocol/drain-options.ts';
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
  /**
   * Never rejects: whatever goes wrong is a response. Takes the request alone, because runtimes pass environments of
   * their own as a second argument.
   */
  fetch(this: void, request: Request): Promise<Response>;
  /** The same for a framework that has verified the caller or read the body already. */
  handle(this: void, request: Request, info: FetchRequestInfo): Promise<Response>;
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
  const handle: FetchHandler['handle'] = async (request, info) => {
    const channel = new FetchChannel();
    await serve(binding, request, channel, info);
    return channel.response;
  };
  return {
    fetch: async (request) => handle(request, {}),
    handle,
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
  const { auth } = admitted;
  try {
    const exchange =
      parsedBody === undefined
        ? binding.receive(parseJson(await readFetchBody(request, binding)), head, auth, channel)
        : binding.receiveParsed(parsedBody, head, auth, channel);
    if (exchange !== undefined) channel.attach(exchange, signal);
  } catch (error) {
    // A body that broke off has nobody to be answered, but a response is owed.
    const refusal =
      error instanceof McpError ? error : signal.aborted ? binding.bodyTooSlow() : binding.bodyUnreadable(error);
    binding.refuse(head, channel, refusal, { auth });
  }
}
