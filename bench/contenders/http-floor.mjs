// The least that a server on node:http can do and still give these answers: read, parse, look the tool up, check the
// arguments with its schema, run it, serialise. It checks nothing else.
import { createServer } from 'node:http';
import { answerFor } from './answers.mjs';
import { serving } from './serving.mjs';

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => void respond(response, chunks));
});
server.listen(0, '127.0.0.1', () => serving(`http://127.0.0.1:${server.address().port}/mcp`));

async function respond(response, chunks) {
  const body = await answerFor(JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
