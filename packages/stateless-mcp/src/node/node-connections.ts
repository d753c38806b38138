import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, Socket, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { HttpFetchPhase } from '../http/http-fetch.ts';

/** Servers commonly close a connection that was idle for 5 s. Who leaves first does not meet that moment. */
const IDLE_MS = 4000;
/** How much earlier to leave than a server announced. */
const MARGIN_MS = 1000;
/** Node's own value, 1 s, lets a network that was gone for 11 s end a call that waits. */
const TCP_KEEP_ALIVE_MS = 60_000;
/** Node gives up an address after 250 ms when the name has others, too soon for a distant server. */
const CONNECT_ATTEMPT_MS = 2000;

/** What must be known about a connection beyond what its socket tells. */
class Connection {
  phase: HttpFetchPhase;
  /** How long it may stay unused. */
  idleMs = IDLE_MS;
  /** When its last use ended. By the clock of the wall: the other one stands still while a computer sleeps. */
  unusedSince = 0;
  /** Bytes that had come by then. */
  bytesRead = 0;

  constructor(phase: HttpFetchPhase) {
    this.phase = phase;
  }
}

/** Keeps connections to servers, to use them again. */
export class Connections {
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;
  readonly #connections = new WeakMap<Duplex, Connection>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param ca certificates of the authorities to trust, in PEM; those of Node if absent */
  constructor(ca?: string | readonly string[]) {
    this.#http = this.#watched(new HttpAgent({ keepAlive: true }));
    this.#https = this.#watched(
      new HttpsAgent({ keepAlive: true, ...(ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }) }),
    );
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The agent for the next request to an origin, rid of connections that should not carry it. */
  agentFor(isSecure: boolean, host: string, port: number): HttpAgent {
    const agent = isSecure ? this.#https : this.#http;
    const free = agent.freeSockets[originKey(host, port)] ?? [];
    // The agent takes the last one, whatever its state. Timers have not run when this process was busy or asleep, and
    // a connection that the server has closed stays in the list until its socket is closed too.
    for (let last = free.at(-1); last !== undefined && !this.#isUsable(last); last = free.at(-1)) {
      free.pop();
      last.destroy();
    }
    return agent;
  }

  /** Where the request that got this socket is: it has not been sent before `http`. */
  phaseOf(socket: Socket | null): HttpFetchPhase {
    return (socket !== null && this.#connections.get(socket)?.phase) || 'connect';
  }

  /** What the server announced about how long it keeps an unused connection. */
  announced(socket: Socket, keepAlive: string): void {
    const seconds = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(keepAlive)?.[1];
    const connection = this.#connections.get(socket);
    if (seconds === undefined || connection === undefined) return;
    connection.idleMs = Math.min(IDLE_MS, Number(seconds) * 1000 - MARGIN_MS);
  }

  /** Destroys every connection, those in use too. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#http.destroy();
    this.#https.destroy();
  }

  #isUsable(socket: Socket): boolean {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable) return false;
    const unusedMs = Date.now() - connection.unusedSince;
    // What a server says without being asked, such as a 408, must not be taken for the next answer.
    return unusedMs >= 0 && unusedMs < connection.idleMs && socket.bytesRead === connection.bytesRead;
  }

  #watched<A extends HttpAgent>(agent: A): A {
    const createConnection = agent.createConnection.bind(agent);
    agent.getName = ({ host, port } = {}) => originKey(host, port);
    // Not as options of the agent: it copies them for each request.
    agent.createConnection = (options, callback) => {
      const tcp: Partial<TcpNetConnectOpts> = {
        keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
        autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_MS,
      };
      const socket = createConnection({ ...options, ...tcp }, callback);
      if (socket instanceof Socket) this.#follow(socket, options.host);
      return socket;
    };
    agent.keepSocketAlive = (socket) => this.#keep(socket);
    return agent;
  }

  #follow(socket: Socket, host: string | null | undefined): void {
    const connection = new Connection(isIP(host ?? '') === 0 ? 'dns' : 'connect');
    this.#connections.set(socket, connection);
    const isSecure = socket instanceof TLSSocket;
    socket.on('lookup', (error: Error | null) => {
      if (error === null && connection.phase === 'dns') connection.phase = 'connect';
    });
    socket.once('connect', () => {
      connection.phase = isSecure ? 'tls' : 'http';
    });
    socket.once('secureConnect', () => {
      connection.phase = 'http';
    });
    // Node has moments without a listener, between a request and the pool.
    socket.on('error', () => undefined);
  }

  #keep(socket: Duplex): boolean {
    const connection = this.#connections.get(socket);
    if (!(socket instanceof Socket) || connection === undefined || connection.idleMs <= 0) return false;
    connection.unusedSince = Date.now();
    connection.bytesRead = socket.bytesRead;
    // One timer for all, instead of two calls of `setTimeout` for each request.
    this.#timer ??= setTimeout(() => this.#dropUnused(), IDLE_MS).unref();
    socket.unref();
    return true;
  }

  #dropUnused(): void {
    this.#timer = undefined;
    let next = Infinity;
    const lists = [...Object.values(this.#http.freeSockets), ...Object.values(this.#https.freeSockets)];
    for (const socket of lists.flatMap((list) => list ?? [])) {
      const connection = this.#connections.get(socket);
      if (connection === undefined) continue;
      if (this.#isUsable(socket)) next = Math.min(next, connection.unusedSince + connection.idleMs);
      else socket.destroy();
    }
    if (next !== Infinity) this.#timer = setTimeout(() => this.#dropUnused(), Math.max(next - Date.now(), 1)).unref();
  }
}

function originKey(host: string | null | undefined, port: number | string | null | undefined): string {
  return `${host}:${port}`;
}
