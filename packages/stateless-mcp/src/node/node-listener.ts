import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '../protocol/auth-info.ts';
import { McpError, toMcpError } from '../protocol/errors.ts';
import type { McpEndpoint, McpHandler } from '../protocol/handler.ts';
import { parseJson } from '../protocol/json-rpc.ts';
import type { DrainOptions } from '../protocol/drain-options.ts';
import { HttpBinding } from '../http/http-binding.ts';
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
   *   been read already. A function, which is what Express passes here, is not a body
   */
  (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown): void;
  /** Stops in good order; see {@link DrainOptions}. */
  drain(options?: DrainOptions): Promise<void>;
}

/** How long a refused client's further bytes are read and thrown away, so that it can read its answer. */
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
  return listenerOf(new HttpBinding(endpoint, options));
}

export function listenerOf(binding: HttpBinding): NodeListener {
  const listener = (request: IncomingMessage, response: ServerResponse, parsedBody?: unknown): void => {
    const visit = new Visit(binding, request, response);
    const admitted = binding.admitHead(visit.head, visit.channel);
    const body = typeof parsedBody === 'function' ? undefined : parsedBody;
    if (admitted instanceof Promise) void admitted.then((outcome) => visit.goOn(outcome, body));
    else visit.goOn(admitted, body);
  };
  return Object.assign(listener, { drain: async (drainOptions?: DrainOptions) => binding.drain(drainOptions) });
}

/** One request on its way from the head to the handler. */
class Visit {
  readonly head: NodeHead;
  readonly channel: NodeChannel;
  readonly #binding: HttpBinding;
  readonly #request: IncomingMessage & { readonly body?: unknown };
  readonly #response: ServerResponse;

  constructor(binding: HttpBinding, request: IncomingMessage, response: ServerResponse) {
    this.#binding = binding;
    this.#request = request;
    this.#response = response;
    this.head = new NodeHead(request);
    this.channel = new NodeChannel(response);
  }

  goOn(outcome: { readonly auth: AuthInfo | undefined } | undefined, parsedBody: unknown): void {
    if (outcome === undefined) {
      this.#linger();
      return;
    }
    const { auth } = outcome;
    // `null` is a body too, if a wrong one.
    const body = parsedBody === undefined && this.#request.readableEnded ? this.#request.body : parsedBody;
    if (body !== undefined) {
      this.#attach(() => this.#binding.receiveParsed(body, this.head, auth, this.channel), auth);
    } else if (this.#request.readableEnded) {
      this.#refuse(this.#binding.bodyUnreadable(undefined), auth);
    } else {
      readNodeBody(
        this.#request,
        this.#binding,
        (bytes) => {
          this.#attach(() => this.#binding.receive(parseJson(bytes, decodeUtf8), this.head, auth, this.channel), auth);
        },
        (error) => this.#refuse(error, auth),
      );
    }
  }

  #attach(receive: () => ReturnType<HttpBinding['receive']>, auth: AuthInfo | undefined): void {
    try {
      const exchange = receive();
      if (exchange !== undefined) this.channel.attach(exchange);
    } catch (error) {
      this.#refuse(error instanceof McpError ? error : toMcpError(error, 'a request', this.#binding.logger), auth);
    }
  }

  #refuse(error: McpError, auth: AuthInfo | undefined): void {
    this.#binding.refuse(this.head, this.channel, error, { auth });
    this.#linger();
  }

  /** Closing at once would reset the connection, and a client that is still sending would never see the answer. */
  #linger(): void {
    const request = this.#request;
    if (request.readableEnded || request.destroyed) return;
    request.resume();
    const timer = setTimeout(() => request.destroy(), LINGER_MS);
    timer.unref();
    request.on('close', () => clearTimeout(timer));
    this.#response.on('error', () => {});
  }
}
