import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { deferred } from '../../src/protocol/deferred.ts';

/** What the client wrote, in the shape that all its requests have. */
export interface WireRequest {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> & { readonly _meta: Readonly<Record<string, unknown>> };
}

/** One HTTP request as it came. */
export interface Received {
  /** Of the order in which they came, from 0. */
  readonly index: number;
  /** Which connection carried it, from 1. */
  readonly connection: number;
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Header names as they were spelled. */
  readonly headerNames: readonly string[];
  readonly text: string;
  readonly message: WireRequest;
  /** Resolves when the connection of its answer was closed, or the answer is complete; `true` if it was cut. */
  readonly over: Promise<boolean>;
}

export type HeaderFields = Readonly<Record<string, string>>;

/** How a test answers one request. */
export class Answer {
  readonly response: ServerResponse;
  readonly #id: unknown;

  constructor(response: ServerResponse, id: unknown) {
    this.response = response;
    this.#id = id;
  }

  /** Any status, type and body. */
  send(status: number, headers: HeaderFields = {}, body: string | Uint8Array = ''): void {
    this.response.writeHead(status, headers).end(body);
  }

  json(message: unknown, status = 200, headers: HeaderFields = {}): void {
    this.send(status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(message));
  }

  result(result: Readonly<Record<string, unknown>> = {}): void {
    this.json(this.resultMessage(result));
  }

  error(
    code: number,
    message: string,
    options: { data?: unknown; status?: number; headers?: HeaderFields } = {},
  ): void {
    const { data, status = 200, headers } = options;
    this.json({ jsonrpc: '2.0', id: this.#id, error: { code, message, data } }, status, headers);
  }

  resultMessage(result: Readonly<Record<string, unknown>> = {}): object {
    return { jsonrpc: '2.0', id: this.#id, result: { resultType: 'complete', ...result } };
  }

  /** Begins an event stream. */
  stream(): this {
    this.response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    return this;
  }

  /** An event on a stream that was begun. */
  event(message: unknown): this {
    return this.write(`data: ${JSON.stringify(message)}\n\n`);
  }

  notification(method: string, params?: Readonly<Record<string, unknown>>): this {
    return this.event({ jsonrpc: '2.0', method, params });
  }

  write(text: string | Uint8Array): this {
    this.response.write(text);
    return this;
  }

  /** The result as the last event, and the end of the stream. */
  finish(result: Readonly<Record<string, unknown>> = {}): void {
    this.event(this.resultMessage(result));
    this.response.end();
  }

  /** Breaks the connection off. */
  cut(): void {
    this.response.socket?.destroy();
  }
}

export type Script = (answer: Answer, request: Received) => void | Promise<void>;

export interface ScriptedServer {
  readonly origin: string;
  /** Of the MCP endpoint; any other path is served by the same script. */
  readonly url: string;
  /** Every request so far. */
  readonly requests: readonly Received[];
  /** Connections so far. */
  readonly connections: number;
  /** The request of this index, when it is here. */
  received(index: number): Promise<Received>;
}

/** A server that answers exactly what the test says, until the test is over. */
export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const requests: Received[] = [];
  const awaited: PromiseWithIndex[] = [];
  const numbers = new WeakMap<Socket, number>();
  let connections = 0;
  const server = createServer((incoming, response) => {
    void serve(incoming, response);
  });
  server.on('connection', (socket: Socket) => numbers.set(socket, ++connections));
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${port}`;

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = record(incoming, response, await readText(incoming));
    for (const { index, resolve } of awaited) if (index === request.index) resolve(request);
    await script(new Answer(response, request.message.id), request);
  }

  function record(incoming: IncomingMessage, response: ServerResponse, text: string): Received {
    const over = deferred<boolean>();
    response.on('close', () => over.resolve(!response.writableFinished));
    const request: Received = {
      index: requests.length,
      connection: numbers.get(incoming.socket) ?? 0,
      httpMethod: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      headerNames: incoming.rawHeaders.filter((_, position) => position % 2 === 0),
      text,
      message: (text === '' ? {} : JSON.parse(text)) as WireRequest,
      over: over.promise,
    };
    requests.push(request);
    return request;
  }

  return {
    origin,
    url: `${origin}/mcp`,
    requests,
    get connections() {
      return connections;
    },
    received: async (index) => {
      const present = requests[index];
      if (present !== undefined) return present;
      const { promise, resolve } = deferred<Received>();
      awaited.push({ index, resolve });
      return promise;
    },
  };
}

interface PromiseWithIndex {
  readonly index: number;
  readonly resolve: (request: Received) => void;
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A server below HTTP: the test gets each connection. */
export async function tcpServer(accept: (socket: Socket, index: number) => void): Promise<{ readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    accept(socket, sockets.size);
    sockets.add(socket);
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/mcp` };
}

/** A loopback port on which nothing listens. */
export async function unusedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
