import { RemoteError } from '../protocol/errors.ts';
import type { Exchange, McpHandler, McpRequest } from '../protocol/handler.ts';
import { indexMethods, type MethodRow, type MethodTable } from '../protocol/methods.ts';
import { RevisionChoice } from '../protocol/outbound.ts';
import type { PeerReport } from '../protocol/peer.ts';
import type { McpResult } from '../protocol/result.ts';
import type { StreamConnection } from './stream-connection.ts';

/** Finds the connection for a request that is about to be made. */
export type Connect = (
  request: McpRequest,
  exchange: Exchange,
  row: MethodRow | undefined,
) => StreamConnection | Promise<StreamConnection>;

/** The requests of one peer: ids that no connection of it uses twice, the revision, and figures for the report. */
export class PeerRequests {
  readonly #methods: ReadonlyMap<string, MethodRow>;
  readonly #connect: Connect;
  readonly #revision = new RevisionChoice();
  #lastId = 0;
  #lastAnswerMs: number | undefined;

  constructor(methods: MethodTable, connect: Connect) {
    this.#methods = indexMethods(methods);
    this.#connect = connect;
  }

  readonly handler: McpHandler = async (request, exchange) =>
    this.#revision.run(async (version) => this.#send(request, exchange, version));

  report(): Pick<PeerReport, 'revision' | 'reason' | 'requests' | 'lastAnswerMs'> {
    return {
      revision: this.#revision.current,
      reason: this.#revision.reason,
      requests: this.#lastId,
      ...(this.#lastAnswerMs !== undefined && { lastAnswerMs: this.#lastAnswerMs }),
    };
  }

  async #send(request: McpRequest, exchange: Exchange, version: string): Promise<McpResult> {
    const row = this.#methods.get(request.method);
    const connection = await this.#connect(request, exchange, row);
    const started = performance.now();
    const answered = (): void => {
      if (row?.stream !== true) this.#lastAnswerMs = performance.now() - started;
    };
    try {
      const result = await connection.send({ id: ++this.#lastId, request, row, exchange, version });
      answered();
      return result;
    } catch (error) {
      if (error instanceof RemoteError) answered();
      throw error;
    }
  }
}
