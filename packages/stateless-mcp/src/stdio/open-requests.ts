import type { Exchange, McpRequest } from '../protocol/handler.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import { LOG_LEVEL_META_KEY } from '../protocol/meta.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { McpResult } from '../protocol/result.ts';

/** A request on its way, with everything that belongs to this hop. */
export interface OutgoingRequest {
  /** Never used before by this peer. */
  readonly id: number;
  readonly request: McpRequest;
  readonly row: MethodRow | undefined;
  readonly exchange: Exchange;
  /** Revision it is written in. */
  readonly version: string;
}

export interface OpenRequest extends OutgoingRequest {
  isWritten: boolean;
  readonly abort: () => void;
  readonly resolve: (result: McpResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The requests of one connection that are not settled, and to which of them a message belongs. */
export class OpenRequests {
  readonly #open = new Map<RequestId, OpenRequest>();
  readonly #logging = new Set<OpenRequest>();
  #lastId = 0;

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): Iterator<OpenRequest> {
    return this.#open.values();
  }

  add(open: OpenRequest): void {
    this.#lastId = Math.max(this.#lastId, open.id);
    this.#open.set(open.id, open);
    // Nothing but changes comes on a listen stream.
    const asksForLogs = open.row?.stream !== true && open.request.params._meta?.[LOG_LEVEL_META_KEY] !== undefined;
    if (asksForLogs) this.#logging.add(open);
  }

  delete(open: OpenRequest): void {
    this.#open.delete(open.id);
    this.#logging.delete(open);
  }

  get(id: RequestId): OpenRequest | undefined {
    return this.#open.get(id);
  }

  /** The listen stream of that id. Some servers turn a number into text. */
  listen(id: RequestId): OpenRequest | undefined {
    const open = this.#open.get(id) ?? this.#open.get(Number(id));
    return open?.row?.stream === true && String(open.id) === String(id) ? open : undefined;
  }

  /** Nothing ties a log message to its request: it surely belongs to one only if no other asked for any. */
  get logReceiver(): OpenRequest | undefined {
    const [first] = this.#logging;
    return this.#logging.size === 1 ? first : undefined;
  }

  /** It belonged to a request that is over: answered, cancelled, or ended in another way. */
  isPast(id: RequestId): boolean {
    const number = Number(id);
    return Number.isInteger(number) && number > 0 && number <= this.#lastId && !this.#open.has(number);
  }
}
