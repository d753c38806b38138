import { admit, type AdmissionRules } from '../protocol/admission.ts';
import { toMcpError } from '../protocol/errors.ts';
import { kindOf, serialiseFailure, serialiseResponse, tagsFor } from '../protocol/exchange-messages.ts';
import type { Exchange, McpEndpoint, McpHandler, McpRequest } from '../protocol/handler.ts';
import { completeResult, readInbound, remoteError } from '../protocol/inbound.ts';
import { parseJson, serialiseError, serialiseNotification } from '../protocol/json-rpc.ts';
import { givenUp, LocalError, phaseOf } from '../protocol/local-error.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import { indexMethods, METHODS } from '../protocol/methods.ts';
import type { ExtensionNotification, McpNotification } from '../protocol/notifications.ts';
import { outboundRequest, RevisionChoice } from '../protocol/outbound.ts';
import { type McpPeer, PeerListeners, peerOf } from '../protocol/peer.ts';
import type { McpResult } from '../protocol/result.ts';
import type { AuthInfo } from '../protocol/auth-info.ts';
import { MODERN_VERSIONS } from '../protocol/versions.ts';

export interface LoopbackOptions {
  /** Who calls, for endpoints that ask. Default: nobody is verified. */
  readonly auth?: AuthInfo;
  /** Where unexpected errors of the endpoint go. Default: the console's error stream. */
  readonly logger?: Logger;
}

const encoder = new TextEncoder();

/**
 * A server in the same process, reached by the rules of a connection: every message is admitted as on stdio and makes one
 * trip through JSON each way, so that what works here works over a wire. No sockets; ids are never seen.
 *
 * @example
 * await using client = new McpClient(loopback(server));
 */
export function loopback(endpoint: McpEndpoint | McpHandler, options: LoopbackOptions = {}): McpPeer {
  const connection = new Loopback(endpoint, options);
  return peerOf(async (request, exchange) => connection.request(request, exchange), {
    endpoint: 'loopback',
    close: async () => connection.close(),
    explain: () => ({
      endpoint: 'loopback',
      transport: 'loopback' as const,
      revision: connection.revision.current,
      reason: connection.revision.reason,
      requests: connection.requests,
    }),
    on: connection.listeners.on,
  });
}

class Loopback {
  readonly listeners = new PeerListeners();
  readonly revision = new RevisionChoice();
  readonly #handler: McpHandler;
  readonly #rules: AdmissionRules;
  readonly #auth: AuthInfo | undefined;
  readonly #logger: Logger;
  readonly #open = new Set<(error: LocalError) => void>();
  #closed: LocalError | undefined;
  requests = 0;

  constructor(endpoint: McpEndpoint | McpHandler, { auth, logger = consoleLogger }: LoopbackOptions) {
    const { handler, methods } = typeof endpoint === 'function' ? { handler: endpoint, methods: METHODS } : endpoint;
    this.#handler = handler;
    this.#rules = { versions: MODERN_VERSIONS, methods: indexMethods(methods) };
    this.#auth = auth;
    this.#logger = guarded(logger);
  }

  async request(request: McpRequest, exchange: Exchange): Promise<McpResult> {
    return this.revision.run(async (version) => this.#send(request, exchange, version));
  }

  async #send(request: McpRequest, exchange: Exchange, version: string): Promise<McpResult> {
    if (this.#closed !== undefined) throw this.#closed;
    const { method } = request;
    if (exchange.signal.aborted) throw givenUp(exchange.signal.reason, method, {});
    const id = ++this.requests;
    const message = JSON.stringify(outboundRequest(request, id, version, exchange.wantsProgress));
    // The serving end has a signal of its own: why the caller left is none of its business.
    const serving = new AbortController();
    return new Promise<McpResult>((resolve, reject) => {
      const leave = (error: LocalError): void => {
        reject(error);
        serving.abort(new DOMException('The client cancelled the request', 'AbortError'));
      };
      const aborted = (): void => {
        const facts = { phase: phaseOf(this.#rules.methods.get(method)), maybeExecuted: true };
        leave(givenUp(exchange.signal.reason, method, facts));
      };
      this.#open.add(leave);
      exchange.signal.addEventListener('abort', aborted, { once: true });
      this.#serve(message, exchange, serving.signal)
        .then((answer) => resolve(readAnswer(answer, method, this.#rules)))
        .catch(reject)
        .finally(() => {
          exchange.signal.removeEventListener('abort', aborted);
          this.#open.delete(leave);
        });
    });
  }

  /** The other end: takes a line, gives the line of the response. */
  async #serve(line: string, caller: Exchange, signal: AbortSignal): Promise<string> {
    const admission = admit(parseJson(encoder.encode(line)), this.#rules);
    if (admission.kind !== 'request') {
      if (admission.kind === 'refused') return serialiseError(admission.id, admission.error);
      throw new LocalError('refused', 'What was sent is no request');
    }
    const { request, row, progressToken, id } = admission;
    let isOver = false;
    const notify = (notification: McpNotification | ExtensionNotification): void | Promise<void> => {
      const kind = kindOf(notification);
      if (isOver || signal.aborted || (kind === 'progress' && progressToken === undefined)) return undefined;
      const text = serialiseNotification(notification, tagsFor(admission, kind));
      const inbound = readInbound(JSON.parse(text));
      if (inbound.kind !== 'notification') return undefined;
      const isOwn = row?.stream === true || kind !== 'other';
      if (isOwn) return this.#tell(caller, inbound.notification);
      this.listeners.unattributed(inbound.notification);
      return undefined;
    };
    const exchange: Exchange = {
      signal,
      closing: new AbortController().signal,
      wantsProgress: progressToken !== undefined,
      versions: MODERN_VERSIONS,
      notify,
      auth: this.#auth,
    };
    try {
      // Not awaited as whatever it is: a handler that returns no promise fails here as it does elsewhere.
      return await this.#handler(request, exchange).then((result) => serialiseResponse(admission, result));
    } catch (error) {
      // Nobody will read what becomes of it.
      if (signal.aborted) return '';
      return serialiseFailure(toMcpError(error, request.method, this.#logger), id, this.#logger).text;
    } finally {
      isOver = true;
    }
  }

  /** Code of the caller: its failures are not the server's. */
  #tell(caller: Exchange, notification: McpNotification | ExtensionNotification): void | Promise<void> {
    const failed = (error: unknown): void => {
      this.#logger.error(`The receiver of ${notification.method} failed`, { error });
    };
    try {
      return caller.notify(notification)?.catch(failed);
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  close(): void {
    this.#closed ??= new LocalError('closed', 'The loopback was closed');
    const reason = new LocalError('closed', this.#closed.message, { maybeExecuted: true });
    for (const leave of this.#open) leave(reason);
  }
}

function readAnswer(line: string, method: string, { methods }: AdmissionRules): McpResult {
  const inbound = readInbound(JSON.parse(line));
  if (inbound.kind === 'error') throw remoteError(inbound.error, method);
  // The other end writes nothing else.
  return completeResult(inbound.kind === 'result' ? inbound.result : undefined, method, methods.get(method));
}
