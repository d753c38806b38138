import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type HttpFetch, HttpFetchError, type HttpFetchRequest, type HttpFetchResponse } from '../http/http-fetch.ts';
import { NodeCall } from './node-call.ts';
import { Connections } from './node-connections.ts';

/** Options of {@link nodeFetch}. */
export interface NodeFetchOptions {
  /** Certificates of the authorities to trust, in PEM, instead of those that Node trusts. */
  readonly ca?: string | readonly string[];
}

/** An {@link HttpFetch} that keeps connections. */
export interface NodeFetch extends HttpFetch {
  /** Closes every connection. What is under way fails. */
  close(): void;
}

/**
 * An HTTP/1.1 client on `node:http` that has no time limits, as those of the `fetch` of Node cannot be switched off: it
 * waits for an answer until `signal` is aborted. Connections are kept for 4 s, or for less if the server says so.
 *
 * Promises reject with the reason of `signal`, with an `HttpFetchError`, or with a TypeError if the request cannot be
 * sent as it is. The body of an answer must be read to its end, left (`return()`), or aborted; until then its connection
 * stays open.
 *
 * @example
 * const fetch = nodeFetch();
 * const peer = httpPeer('https://example.com/mcp', { fetch });
 */
export function nodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  const client = new NodeClient(options);
  return Object.assign((url: string, request: HttpFetchRequest) => client.fetch(url, request), {
    close: () => client.close(),
  });
}

class NodeClient {
  readonly #connections: Connections;
  #target: Target | undefined;

  constructor({ ca }: NodeFetchOptions) {
    this.#connections = new Connections(ca);
  }

  async fetch(url: string, { method, headers, body, signal }: HttpFetchRequest): Promise<HttpFetchResponse> {
    if (this.#target?.url !== url) this.#target = targetOf(url);
    const target = this.#target;
    signal.throwIfAborted();
    if (this.#connections.isClosed) {
      const cause = new Error('This HTTP client was closed');
      throw new HttpFetchError(cause.message, { cause, phase: 'connect', bodySent: false });
    }
    const { isSecure, hostname, port, path } = target;
    // As bytes: Node writes the head of a message in the encoding of a body that is text.
    const bytes = Buffer.from(body);
    const request = (isSecure ? httpsRequest : httpRequest)({
      agent: this.#connections.agentFor(isSecure, hostname, port),
      hostname,
      port,
      path,
      method,
      headers: headerLines(target.host, headers, bytes.length),
    });
    return new NodeCall(request, target.origin, signal, this.#connections).send(bytes);
  }

  close(): void {
    this.#connections.close();
  }
}

/** A URL taken apart. */
interface Target {
  readonly url: string;
  readonly isSecure: boolean;
  readonly origin: string;
  /** As in the `Host` header. */
  readonly host: string;
  /** As for the system: without the brackets of IPv6. */
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
}

function targetOf(url: string): Target {
  // Messages do not repeat what may hold a secret.
  if (!URL.canParse(url)) throw new TypeError('nodeFetch: the URL is not valid');
  const { protocol, origin, username, password, host, hostname, port, pathname, search } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`nodeFetch: the URL must start with http: or https:, not ${protocol}`);
  }
  if (username !== '' || password !== '') {
    throw new TypeError(`nodeFetch: the URL of ${host} must not hold credentials; send them in a header`);
  }
  const isSecure = protocol === 'https:';
  return {
    url,
    isSecure,
    origin,
    host,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    path: pathname + search,
  };
}

/** What frames the message or governs the connection is not for callers to say; and what is encoded, nobody decodes. */
const OWN_HEADER =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|proxy-connection|te|trailer|upgrade|expect|accept-encoding)$/i;

/** As a list of names and values, which costs Node less than an object. */
function headerLines(host: string, headers: Readonly<Record<string, string>>, bodyBytes: number): string[] {
  const lines = ['Host', host, 'Content-Length', String(bodyBytes)];
  for (const name of Object.keys(headers)) {
    if (OWN_HEADER.test(name)) throw new TypeError(`nodeFetch: the header "${name}" is set by the HTTP client itself`);
    lines.push(name, headers[name] ?? '');
  }
  return lines;
}
