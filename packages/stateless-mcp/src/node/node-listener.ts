import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '../protocol/auth-info.ts';
import { McpError } from '../protocol/errors.ts';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { valueExceedsDepth } from '../protocol/json-depth.ts';
import { MAX_JSON_DEPTH, parseJson, tooDeep } from '../protocol/json-rpc.ts';
import { type DrainOptions, HttpBinding } from '../http/http-binding.ts';
import type { HttpOptions } from '../http/http-options.ts';
import { decodeUtf8, readNodeBody } from './node-body.ts';
import { NodeChannel } from './node-channel.ts';
import { NodeHead } from './node-head.ts';

/** Options of a listener. Who mounts it knows under which names it is reached, so that these must be said. */
export interface NodeListenerOptions extends HttpOptions {
  readonly allowedHosts: readonly string[] | 'any';
}

/** A `node:http` request listener, which frameworks can mount too. */
export interface NodeListener {
  /**
   * @param parsedBody the body, where a framework has read it. Default: the request's own `body`, if the request has
   *   been read already
   */
  (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown): void;
  /** Stops in good order; see {@link DrainOptions}. */
  drain(options?: DrainOptions): Promise<void>;
}

/** Milliseconds and no longer is what a refused client goes on sending thrown away, so that it can read the answer. */
const LINGER_MS = 2000;

/**
 * Serves an endpoint on a `node:http` server, or as a handler of Express, Fastify and others. Whatever path it is
 * mounted under is the endpoint.
 *
 * @example app.post('/mcp', nodeListener(server, { allowedHosts: ['mcp.example.com'] }));
 * @throws TypeError, RangeError for options that are not valid
 */
export function nodeListener(endpoint: McpEndpoint | McpHandler, options: NodeListenerOptions): NodeListener {
  if (options?.allowedHosts === undefined) {
    throw new TypeError(
      "nodeListener: allowedHosts must name the hosts under which clients reach this server, or be 'any' if a proxy checks them",
    );
  }
  const binding = new HttpBinding(endpoint, options);
  const listener = (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown): void => {
    const head = new NodeHead(request);
    const channel = new NodeChannel(response);
    const admitted = binding.admitHead(head, channel);
    const goOn = (outcome: { readonly auth: AuthInfo | undefined } | undefined): void => {
      if (outcome === undefined) linger(request, response);
      else readMessage(binding, request, response, head, channel, outcome.auth, bodyOf(request, parsedBody));
    };
    if (admitted instanceof Promise) void admitted.then(goOn);
    else goOn(admitted);
  };
  return Object.assign(listener, { drain: async (drainOptions?: DrainOptions) => binding.drain(drainOptions) });
}

function readMessage(
  binding: HttpBinding,
  request: IncomingMessage,
  response: ServerResponse,
  head: NodeHead,
  channel: NodeChannel,
  auth: AuthInfo | undefined,
  parsedBody: unknown,
): void {
  const receive = (read: () => unknown): void => {
    let message: unknown;
    try {
      message = read();
    } catch (error) {
      binding.refuse(head, channel, error instanceof McpError ? error : tooDeep());
      return;
    }
    const exchange = binding.receive(message, head, auth, channel);
    if (exchange !== undefined) channel.attach(exchange);
  };
  if (parsedBody !== undefined) {
    receive(() => {
      if (valueExceedsDepth(parsedBody, MAX_JSON_DEPTH)) throw tooDeep();
      return parsedBody;
    });
    return;
  }
  readNodeBody(
    request,
    binding,
    (body) => receive(() => parseJson(body, decodeUtf8)),
    (error) => {
      binding.refuse(head, channel, error);
      linger(request, response);
    },
  );
}

/**
 * Reads on after a refusal, but not for long: closing at once would reset the connection, and a client that is still
 * sending would never see the answer.
 */
function linger(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableEnded || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  timer.unref();
  request.on('close', () => clearTimeout(timer));
  response.on('error', () => {});
}

/** Express hands its `next` over as a third argument, and its parsed body on the request. */
function bodyOf(request: IncomingMessage & { readonly body?: unknown }, parsedBody: unknown): unknown {
  if (parsedBody !== undefined && typeof parsedBody !== 'function') return parsedBody;
  return request.readableEnded ? request.body : undefined;
}
