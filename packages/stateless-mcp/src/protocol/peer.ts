import type { McpHandler } from './handler.ts';
import type { ExtensionNotification, McpNotification } from './notifications.ts';

/** What a peer tells its listeners, by name. */
export interface PeerEvents {
  /** A notification that belongs to no request, or to one of several and nothing says to which. */
  unattributed(notification: McpNotification | ExtensionNotification): void;
  /** From now on requests are made in another name: nothing that was read in the old one may be kept. */
  credentialsChanged(): void;
}

/** How a peer is doing: for people who look for a fault, and for logs. Without secrets. */
export interface PeerReport {
  /** Where requests go: a URL without secrets, or a command. */
  readonly endpoint: string;
  readonly transport: 'http' | 'stdio' | 'stream' | 'loopback';
  /** The revision that requests are written in. */
  readonly revision: string;
  /** Why this revision, in words. */
  readonly reason: string;
  /** Requests that were made, repetitions after a refusal included. */
  readonly requests: number;
  /** Milliseconds that the last answer took. Absent: none yet. */
  readonly lastAnswerMs?: number;
  /** HTTP: whether requests carry credentials, and whether the last ones were accepted. */
  readonly authorization?: 'none' | 'sent' | 'refused';
  /** Streams: lines that were no messages, or messages that belong to no request. */
  readonly ignoredLines?: number;
  /** stdio: the process that was started last. */
  readonly process?: {
    /** Absent: none is running. */
    readonly pid?: number;
    readonly starts: number;
    readonly exitCode?: number | null;
    readonly exitSignal?: string;
    /** The last lines of its error stream. */
    readonly stderr: readonly string[];
  };
}

/** A server as its client sees it: a handler with a life. Whoever opened it closes it. */
export interface McpPeer extends McpHandler, AsyncDisposable {
  /** Ends what is under way with an error of code `closed`, and lets go of connections and processes. */
  close(): Promise<void>;
  /** Where requests go, for messages: a URL without secrets, or a command. */
  readonly endpoint: string;
  explain(): PeerReport;
  /**
   * Finds out in whose name the next request would be made, and tells listeners of `credentialsChanged` before it resolves.
   * Absent: always in the same.
   */
  checkCredentials?(): Promise<void>;
  /** Listens until the returned function is called. */
  on<Name extends keyof PeerEvents>(event: Name, listener: PeerEvents[Name]): () => void;
}

/** The listeners of one peer. One that throws hurts nobody else. */
export class PeerListeners {
  readonly #listeners: { readonly [Name in keyof PeerEvents]: Set<PeerEvents[Name]> } = {
    unattributed: new Set(),
    credentialsChanged: new Set(),
  };

  readonly on: McpPeer['on'] = (event, listener) => {
    const listeners: Set<unknown> = this.#listeners[event];
    if (typeof listener !== 'function') throw new TypeError(`on: the listener of "${event}" must be a function`);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  unattributed(notification: McpNotification | ExtensionNotification): void {
    for (const listener of this.#listeners.unattributed) attempt(() => listener(notification));
  }

  credentialsChanged(): void {
    for (const listener of this.#listeners.credentialsChanged) attempt(listener);
  }
}

function attempt(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    // Where an uncaught error of an event listener goes: the platform reports it.
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Gives a handler the life of a peer. */
export function peerOf(handler: McpHandler, life: Omit<McpPeer, typeof Symbol.asyncDispose>): McpPeer {
  // The wrapper is a function of its own: the handler stays as it was.
  const peer: McpHandler = async (request, exchange) => handler(request, exchange);
  return Object.assign(peer, life, { [Symbol.asyncDispose]: life.close });
}
