// The official server as its documentation serves it without sessions on node:http: a factory that makes a server for
// every request, behind the guards of its Node package. The schemas are not made anew each time.
import { createServer } from 'node:http';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serving } from './serving.mjs';
import { serverInfo, withTools } from './tools.mjs';

const handle = toNodeHandler(createMcpHandler(() => withTools(new McpServer(serverInfo))));
const isAllowedHost = localhostHostValidation();
const isAllowedOrigin = localhostOriginValidation();

const server = createServer((request, response) => {
  if (isAllowedHost(request, response) && isAllowedOrigin(request, response)) void handle(request, response);
});
server.listen(0, '127.0.0.1', () => serving(`http://127.0.0.1:${server.address().port}/mcp`));
