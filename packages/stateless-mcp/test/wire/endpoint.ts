import { Agent } from 'node:http';
import { type HeaderLines, openExchange, type RawRequest, type WireAnswer, type WireStream } from './exchange.ts';
import { mirroredHeaders } from './messages.ts';

/** A server as its clients see it. Every wait of it is bounded. */
export interface WireEndpoint {
  readonly url: string;
  readonly timeoutMs: number;
  /** Sends one message with the headers that mirror it, and reads the whole answer. */
  post(message: unknown, headers?: HeaderLines): Promise<WireAnswer>;
  /** The same, but resolves with the head of the response, to be read piece by piece. `signal` gives up before that. */
  open(message: unknown, headers?: HeaderLines, signal?: AbortSignal): Promise<WireStream>;
  /** Any HTTP request, with no header but those given. */
  request(request: RawRequest): Promise<WireAnswer>;
  /** The same endpoint, with all requests sent one after another over a single connection. */
  overOneConnection(): WireEndpoint;
  /** Tells the server to close gracefully. */
  drain(): void;
}

export interface EndpointOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly drain: () => void;
}

export interface OpenEndpoint {
  readonly endpoint: WireEndpoint;
  /** Drops all connections of this client. */
  close(): void;
}

export function connectEndpoint({ url, timeoutMs, drain }: EndpointOptions): OpenEndpoint {
  const agents: Agent[] = [];

  function endpointOver(agent: Agent): WireEndpoint {
    agents.push(agent);
    const send = async (raw: RawRequest, signal?: AbortSignal): Promise<WireStream> =>
      openExchange({ url, timeoutMs, agent, signal }, raw);
    const open: WireEndpoint['open'] = async (message, headers = {}, signal) =>
      send({ headers: mergeHeaders(mirroredHeaders(message), headers), body: JSON.stringify(message) }, signal);
    return {
      url,
      timeoutMs,
      open: (...args) => tolerated(open(...args)),
      post: (message, headers) => tolerated(open(message, headers).then((stream) => stream.end())),
      request: (raw) => tolerated(send(raw).then((stream) => stream.end())),
      overOneConnection: () => endpointOver(new Agent({ keepAlive: true, maxSockets: 1 })),
      drain,
    };
  }

  const endpoint = endpointOver(new Agent({ keepAlive: false }));
  return { endpoint, close: () => agents.forEach((agent) => agent.destroy()) };
}

/** A check that fails may never look at what it started at the same time; that is no failure of its own. */
function tolerated<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** `changes` over `lines`, whatever the case of the names. */
function mergeHeaders(lines: HeaderLines, changes: HeaderLines): HeaderLines {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()));
  const kept = Object.entries(lines).filter(([name]) => !changed.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...changes };
}
