// The server that the suite is run against: one of everything that a server can offer, by the public interface alone.
import { McpServer, serveHttp } from 'stateless-mcp';
import { registerContentTools } from './fixture/content-tools.ts';
import { registerContextTools } from './fixture/context-tools.ts';
import { registerPrompts } from './fixture/prompts.ts';
import { registerResources } from './fixture/resources.ts';
import { registerSchemaTools } from './fixture/schema-tools.ts';

const server = new McpServer(
  { name: 'everything', title: 'One of everything', version: '1.0.0' },
  {
    instructions: 'Every tool, prompt and resource shows one feature of the protocol.',
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    },
  },
);

registerContentTools(server);
registerContextTools(server);
registerSchemaTools(server);
registerResources(server);
registerPrompts(server);

const http = await serveHttp(server, { port: 0 });
process.stdout.write(`${http.url}\n`);
process.once('SIGTERM', () => void http.drain());
