// The least that a server on node:http can do and still give these answers: read, parse, look the tool up, check the
// arguments with its schema, run it, serialise. It checks nothing else, and the results that do not depend on the request
// are texts made beforehand, byte for byte those of our server.
import { createServer } from 'node:http';
import { McpServer } from 'stateless-mcp';
import { serving } from './contender.mjs';
import { serverInfo, tools } from './tools.mjs';

const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
const resultMeta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
const preparedResults = new Map();
for (const method of ['tools/list', 'server/discover']) preparedResults.set(method, await resultOf(method));

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => void respond(response, chunks));
});
server.listen(0, '127.0.0.1', () => serving(`http://127.0.0.1:${server.address().port}/mcp`));

async function respond(response, chunks) {
  const body = await answer(JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

async function answer({ id, method, params }) {
  const prepared = preparedResults.get(method);
  if (prepared !== undefined) return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${prepared}}`;
  const { config, handler } = toolsByName.get(params.name);
  const { content } = await handler(config.inputSchema.parse(params.arguments));
  return JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', content, _meta: resultMeta } });
}

/** What our server answers, as JSON. */
async function resultOf(method) {
  const server = new McpServer(serverInfo);
  for (const { name, config, handler } of tools) server.registerTool(name, config, handler);
  const signal = new AbortController().signal;
  const exchange = { signal, closing: signal, wantsProgress: false, versions: ['2026-07-28'], notify() {} };
  const params = { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } };
  return JSON.stringify(await server.handler({ method, params }, exchange));
}
