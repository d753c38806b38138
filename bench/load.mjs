// The load: connections that each send their request, wait for the answer, and send it again. A process of its own,
// because what it does must not count as the server's work. `{ url, operation }` opens the connections and checks the
// first answers; `{ durationMs }` sends for so long, waits for the last answers, and closes.
import { once } from 'node:events';
import { connect } from 'node:net';
import { checkAnswer, requestBytes } from './requests.mjs';

const connectionCount = 16;
const answerTimeoutMs = 10_000;

let connections = [];

process.on('disconnect', () => process.exit());
process.on('message', ({ url, operation, durationMs }) => {
  const work = url === undefined ? run(durationMs) : open(new URL(url), operation);
  work.then(
    (result) => process.send(result),
    (error) => process.send({ error: error.message }),
  );
});

async function open(url, operation) {
  connections = Array.from({ length: connectionCount }, (_, index) => new Connection(url, operation, index + 1));
  await Promise.all(connections.map((connection) => connection.start()));
  return {};
}

async function run(durationMs) {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const counts = await Promise.all(connections.map((connection) => connection.repeat(startedAt + durationMs)));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const connection of connections) connection.close();
  const sum = (key) => counts.reduce((total, count) => total + count[key], 0);
  return { answers: sum('answers'), failures: sum('failures'), seconds, loadCpuMicroseconds: user + system };
}

class Connection {
  #url;
  #operation;
  #number;
  #request;
  #socket;
  #received = Buffer.alloc(0);
  #onAnswer;
  #onFailure;
  #expected;

  constructor(url, operation, number) {
    this.#url = url;
    this.#operation = operation;
    this.#number = number;
    this.#request = requestBytes(operation, number, url);
  }

  /** Connects, and checks the first answer thoroughly. All later ones must have the same body. */
  async start() {
    this.#socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    await once(this.#socket, 'connect');
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.setTimeout(answerTimeoutMs, () => this.#onFailure?.(new Error(`no answer in ${answerTimeoutMs} ms`)));
    this.#socket.on('error', (error) => this.#onFailure?.(error));
    this.#socket.on('close', () => this.#onFailure?.(new Error('the server closed the connection')));
    const answer = await new Promise((resolve, reject) => {
      this.#onAnswer = resolve;
      this.#onFailure = reject;
      this.#socket.write(this.#request);
    });
    checkAnswer(this.#operation, this.#number, answer);
    this.#expected = answer.body;
  }

  repeat(until) {
    return new Promise((resolve, reject) => {
      let answers = 0;
      let failures = 0;
      this.#onFailure = reject;
      this.#onAnswer = ({ status, body }) => {
        answers += 1;
        if (status !== 200 || !body.equals(this.#expected)) failures += 1;
        if (performance.now() < until) this.#socket.write(this.#request);
        else resolve({ answers, failures });
      };
      this.#socket.write(this.#request);
    });
  }

  close() {
    this.#onFailure = undefined;
    this.#socket.destroy();
  }

  #receive(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = readAnswer(this.#received);
    if (answer === undefined) return;
    this.#received = Buffer.alloc(0);
    this.#onAnswer(answer);
  }
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
