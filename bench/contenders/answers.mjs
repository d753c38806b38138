// What the floor answers, as text. Results that do not depend on the request are texts made beforehand, byte for byte those
// of our server.
import { McpServer } from 'stateless-mcp/server';
import { serverInfo, tools, withTools } from './tools.mjs';

const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
const resultMeta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
const preparedResults = new Map();
for (const method of ['tools/list', 'server/discover']) preparedResults.set(method, await resultOf(method));

/** The answer to a request: look the tool up, check the arguments with its schema, run it, serialise. */
export async function answerFor({ id, method, params }) {
  const prepared = preparedResults.get(method);
  if (prepared !== undefined) return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${prepared}}`;
  const { config, handler } = toolsByName.get(params.name);
  const { content } = await handler(config.inputSchema.parse(params.arguments));
  return textOf(id, content);
}

/** The answer to a call. */
export function textOf(id, content) {
  return JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', content, _meta: resultMeta } });
}

/** What our server answers, as JSON. */
async function resultOf(method) {
  const server = withTools(new McpServer(serverInfo));
  const signal = new AbortController().signal;
  const exchange = { signal, closing: signal, wantsProgress: false, versions: ['2026-07-28'], notify() {} };
  const params = { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } };
  return JSON.stringify(await server.handler({ method, params }, exchange));
}
