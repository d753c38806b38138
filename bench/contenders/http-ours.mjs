import { McpServer, serveHttp } from 'stateless-mcp';
import { serving } from './serving.mjs';
import { serverInfo, withTools } from './tools.mjs';

const { url } = await serveHttp(withTools(new McpServer(serverInfo)), { port: 0 });
serving(url);
