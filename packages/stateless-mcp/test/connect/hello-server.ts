import { McpServer } from '../../src/server/index.ts';
import { serveStdio } from '../../src/stdio/serve-stdio.ts';

const server = new McpServer({ name: 'connected', version: '1.0.0' });
server.registerTool('hello', {}, () => 'Hello');
serveStdio(server);
