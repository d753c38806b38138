import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** The server's side of one connection, in raw bytes. */
export class RawConnection {
  readonly socket: Socket;
  /** Settles when this side of the connection is closed. */
  readonly closed: Promise<void>;
  /** All that was received and not yet asked for. */
  #received = Buffer.alloc(0);
  #bytes = 0;
  #arrived: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    // A client that resets a connection is a case like others here.
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#arrived();
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The next whole request: its head, an empty line, its body. One character is one byte. */
  async request(): Promise<string> {
    for (;;) {
      const text = this.#received.toString('latin1');
      const end = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1] ?? 0);
      if (end > 3 && text.length >= end + length) {
        this.#received = this.#received.subarray(end + length);
        return text.slice(0, end + length);
      }
      await this.#more();
    }
  }

  /** Settles when at least so many bytes came in all. */
  async received(bytes: number): Promise<void> {
    while (this.#bytes < bytes) await this.#more();
  }

  write(...lines: readonly string[]): void {
    this.socket.write(lines.join('\r\n'), 'latin1');
  }

  /** An answer with a length that leaves the connection open. */
  answer(body: string, ...headers: readonly string[]): void {
    this.write('HTTP/1.1 200 OK', `Content-Length: ${Buffer.byteLength(body)}`, ...headers, '', body);
  }

  /** RST instead of FIN. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
  }
}

export interface RawServer {
  readonly url: string;
  readonly connections: readonly RawConnection[];
  /** The connection with this index, when it is there. */
  connection(index: number): Promise<RawConnection>;
}

/** A server on loopback that does what `serve` says with each connection, and nothing on its own. */
export async function rawServer(
  serve: (connection: RawConnection, index: number) => void | Promise<void> = () => undefined,
): Promise<RawServer> {
  return start(createServer(), 'connection', 'http://127.0.0.1', serve);
}

/** The same behind TLS. `localhost` is what its certificate names. */
export async function rawTlsServer(
  options: TlsOptions,
  serve: (connection: RawConnection, index: number) => void | Promise<void> = () => undefined,
): Promise<RawServer> {
  const server = createTlsServer(options);
  server.on('tlsClientError', () => undefined);
  return start(server, 'secureConnection', 'https://localhost', serve);
}

async function start(
  server: Server,
  event: string,
  origin: string,
  serve: (connection: RawConnection, index: number) => void | Promise<void>,
): Promise<RawServer> {
  const connections: RawConnection[] = [];
  server.on(event, (socket: Socket) => {
    const connection = new RawConnection(socket);
    connections.push(connection);
    void serve(connection, connections.length - 1);
    server.emit('served');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    for (const { socket } of connections) socket.destroy();
    await Promise.all(connections.map(({ closed }) => closed));
  });
  return {
    url: `${origin}:${(server.address() as AddressInfo).port}/mcp`,
    connections,
    connection: async (index) => {
      for (;;) {
        const connection = connections[index];
        if (connection !== undefined) return connection;
        await once(server, 'served');
      }
    },
  };
}
