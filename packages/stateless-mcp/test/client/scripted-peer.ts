import type { Exchange, McpPeer, McpRequest, McpResult } from '../../src/protocol/index.ts';
import { METHODS } from '../../src/protocol/index.ts';
import { deferred } from '../../src/protocol/deferred.ts';
import { completeResult } from '../../src/protocol/inbound.ts';
import { givenUp, phaseOf } from '../../src/protocol/local-error.ts';
import { indexMethods } from '../../src/protocol/methods.ts';
import { PeerListeners, peerOf } from '../../src/protocol/peer.ts';

/** A request whose other end is the test. */
export interface OpenRequest extends McpRequest {
  readonly exchange: Exchange;
  /** Completed as every peer completes what it reads. */
  answer(result: Readonly<Record<string, unknown>>): void;
  fail(error: unknown): void;
}

/** Answers at once by what it returns or throws; `undefined`: the test answers when it likes. */
export type Script = (request: OpenRequest, index: number) => Readonly<Record<string, unknown>> | undefined;

export interface ScriptedPeer extends McpPeer {
  /** Every request so far, the oldest first. */
  readonly requests: readonly OpenRequest[];
  /** The oldest one that was not taken yet. */
  next(): Promise<OpenRequest>;
  changeCredentials(): void;
}

export interface ScriptedPeerOptions {
  /** Default: requests that are given up end at once, as those of every peer of this library. */
  readonly ignoresAbort?: boolean;
}

const rows = indexMethods(METHODS);

export function scriptedPeer(script: Script = () => undefined, options: ScriptedPeerOptions = {}): ScriptedPeer {
  const listeners = new PeerListeners();
  const requests: OpenRequest[] = [];
  const takers: Array<(request: OpenRequest) => void> = [];
  let taken = 0;

  async function handle(request: McpRequest, exchange: Exchange): Promise<McpResult> {
    const { method } = request;
    const outcome = deferred<McpResult>();
    const open: OpenRequest = {
      ...request,
      exchange,
      answer(result) {
        try {
          outcome.resolve(completeResult(result, method, rows.get(method)));
        } catch (error) {
          outcome.reject(error);
        }
      },
      fail: outcome.reject,
    };
    if (options.ignoresAbort !== true) {
      const facts = { phase: phaseOf(rows.get(method)), maybeExecuted: true };
      exchange.signal.addEventListener('abort', () => outcome.reject(givenUp(exchange.signal.reason, method, facts)));
    }
    const index = requests.push(open) - 1;
    takers.shift()?.(open);
    try {
      const result = script(open, index);
      if (result !== undefined) open.answer(result);
    } catch (error) {
      open.fail(error);
    }
    return outcome.promise;
  }

  const peer = peerOf(handle, {
    endpoint: 'scripted',
    close: async () => {},
    explain: () => ({
      endpoint: 'scripted',
      transport: 'loopback',
      revision: '2026-07-28',
      reason: 'the test says so',
      requests: requests.length,
    }),
    on: listeners.on,
  });
  return Object.assign(peer, {
    requests,
    changeCredentials: () => listeners.credentialsChanged(),
    async next() {
      const request = requests[taken++];
      if (request !== undefined) return request;
      const later = deferred<OpenRequest>();
      takers.push(later.resolve);
      return later.promise;
    },
  });
}

/** Lets everything happen that can happen without time passing. */
export async function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** What the promise was rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`Expected a rejection, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
