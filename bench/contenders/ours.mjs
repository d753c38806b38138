import { McpServer, serveHttp } from 'stateless-mcp';
import { serving } from './contender.mjs';
import { serverInfo, tools } from './tools.mjs';

const server = new McpServer(serverInfo);
for (const { name, config, handler } of tools) server.registerTool(name, config, handler);
const { url } = await serveHttp(server, { port: 0 });
serving(url);
