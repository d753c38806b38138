// The load of a server over HTTP: connections that each send their request, wait for the answer, and send it again. A
// process of its own, because what it does must not count as the server's work.
import { once } from 'node:events';
import { connect } from 'node:net';
import { drive } from './drive.mjs';
import { checkAnswer, requestFor, version } from './requests.mjs';

const connectionCount = 16;
const answerTimeoutMs = 10_000;
const url = new URL(process.argv[2]);

drive(async (operation) => {
  const connections = Array.from({ length: connectionCount }, (_, index) => new Connection(operation, index + 1));
  const close = () => connections.forEach((connection) => connection.close());
  return { calls: await Promise.all(connections.map((connection) => connection.open())), close };
});

class Connection {
  #operation;
  #number;
  #request;
  #socket;
  #received = Buffer.alloc(0);
  #onAnswer;
  #onFailure;

  constructor(operation, number) {
    this.#operation = operation;
    this.#number = number;
    this.#request = requestBytes(operation, number);
  }

  /** Connects, and checks the first answer thoroughly. All later ones must have the same body. */
  async open() {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    await once(this.#socket, 'connect');
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.setTimeout(answerTimeoutMs, () => this.#onFailure?.(new Error(`no answer in ${answerTimeoutMs} ms`)));
    this.#socket.on('error', (error) => this.#onFailure?.(error));
    this.#socket.on('close', () => this.#onFailure?.(new Error('the server closed the connection')));
    const first = await this.#call();
    if (first.status !== 200) throw new Error(`${this.#operation} was answered ${first.status}: ${first.body}`);
    checkAnswer(this.#operation, this.#number, JSON.parse(first.body));
    return async () => {
      const { status, body } = await this.#call();
      return status === 200 && body.equals(first.body);
    };
  }

  close() {
    this.#onFailure = undefined;
    this.#socket.destroy();
  }

  #call() {
    return new Promise((resolve, reject) => {
      this.#onAnswer = resolve;
      this.#onFailure = reject;
      this.#socket.write(this.#request);
    });
  }

  #receive(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = readAnswer(this.#received);
    if (answer === undefined) return;
    this.#received = Buffer.alloc(0);
    this.#onAnswer(answer);
  }
}

/** With all headers that the specification asks for. */
function requestBytes(operation, number) {
  const request = requestFor(operation, number);
  const { name } = request.params;
  const body = JSON.stringify(request);
  const head = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    'Connection: keep-alive',
    'User-Agent: bench-client/1.0.0',
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `MCP-Protocol-Version: ${version}`,
    `Mcp-Method: ${operation}`,
    ...(name === undefined ? [] : [`Mcp-Name: ${name}`]),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** The answer in `bytes`, or `undefined` while it is not complete. Never more than one is awaited. */
function readAnswer(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = bytes.latin1Slice(0, headEnd);
  const body = readBody(head, bytes.subarray(headEnd + 4));
  return body === undefined ? undefined : { status: Number(head.slice(9, 12)), body };
}

function readBody(head, bytes) {
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (length === undefined) return readChunks(bytes);
  return bytes.length < Number(length) ? undefined : bytes.subarray(0, Number(length));
}

/** A body in `Transfer-Encoding: chunked`. */
function readChunks(bytes) {
  const chunks = [];
  for (let position = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', position);
    if (lineEnd === -1) return undefined;
    const length = Number.parseInt(bytes.latin1Slice(position, lineEnd), 16);
    const start = lineEnd + 2;
    position = start + length + 2;
    if (bytes.length < position) return undefined;
    if (length === 0) return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    chunks.push(bytes.subarray(start, start + length));
  }
}
