/** Writing what a client sends, and choosing the revision it is written in. Ids, tokens and revisions belong to one hop. */
import { UNSUPPORTED_PROTOCOL_VERSION } from './error-codes.ts';
import { RemoteError } from './errors.ts';
import type { McpRequest } from './handler.ts';
import { supportedVersions } from './inbound.ts';
import type { JsonRpcRequest } from './json-rpc-types.ts';
import { PROTOCOL_VERSION_META_KEY } from './meta.ts';
import type { McpResult } from './result.ts';
import { MODERN_VERSIONS, PROTOCOL_VERSION } from './versions.ts';

/** A request as it is written. Its progress token, if it has one, is its id: both are unique among open requests. */
export function outboundRequest(
  { method, params }: McpRequest,
  id: number,
  version: string,
  wantsProgress: boolean,
): JsonRpcRequest {
  // A token that came along belongs to another hop. JSON leaves out what is undefined.
  const _meta = Object.assign({}, params._meta, {
    [PROTOCOL_VERSION_META_KEY]: version,
    progressToken: wantsProgress ? id : undefined,
  });
  return { jsonrpc: '2.0', id, method, params: Object.assign({}, params, { _meta }) };
}

/** Which revision a client binding writes, and why. It starts with the newest and goes by what the server refuses. */
export class RevisionChoice {
  #current = PROTOCOL_VERSION;
  #reason = 'the newest that this library speaks';

  get current(): string {
    return this.#current;
  }

  get reason(): string {
    return this.#reason;
  }

  /** Sends in the current revision and, where the server refuses it and names another or the same one, once more. */
  async run(send: (version: string) => Promise<McpResult>): Promise<McpResult> {
    const version = this.#current;
    try {
      return await send(version);
    } catch (error) {
      const isVersion = error instanceof RemoteError && error.code === UNSUPPORTED_PROTOCOL_VERSION;
      if (!isVersion || !isRefused(error)) throw error;
      const supported = supportedVersions(error.data);
      const next = MODERN_VERSIONS.find((spoken) => supported.includes(spoken));
      if (next === undefined) throw unsupported(error, version, supported);
      const result = await send(next);
      this.#current = next;
      this.#reason =
        next === version ? 'named by the server at the second attempt' : 'chosen from what the server speaks';
      return result;
    }
  }
}

/**
 * Whether an error that says that the request was not carried out can be believed: over HTTP only with its status, because an
 * answer that began with 200 may follow upon work that was done.
 */
export function isRefused({ status }: RemoteError): boolean {
  return status === undefined || status === 400;
}

/** The server's own error, with the facts for whoever has to update one of the two. */
function unsupported({ code, data, status }: RemoteError, version: string, supported: readonly string[]): RemoteError {
  return new RemoteError(
    code,
    `The server does not speak revision ${version}, and this client speaks none of its own: ${supported.join(', ') || 'it names none'}`,
    { data, status },
  );
}
