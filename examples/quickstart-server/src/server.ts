// First, so that nothing a dependency prints while it is loaded ends up between the messages.
import 'stateless-mcp/stdio/guard';
import { McpServer, serveHttp, serveStdio } from 'stateless-mcp';
import { z } from 'zod';

const server = new McpServer({ name: 'quickstart', version: '1.0.0' });

server.registerTool(
  'add',
  {
    description: 'Adds two numbers',
    annotations: { readOnlyHint: true },
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  },
  ({ a, b }) => ({ sum: a + b }),
);

server.registerTool(
  'count_down',
  { description: 'Counts down, one step a moment', inputSchema: z.object({ from: z.int().min(1).max(100) }) },
  async ({ from }, { progress, signal }) => {
    for (let step = 1; step <= from; step++) {
      signal.throwIfAborted();
      await progress(step, from, `${from - step} left`);
    }
    console.log('This line goes to the error stream, because standard output belongs to the protocol.');
    return 'Lift-off';
  },
);

server.registerResource('greeting', 'quickstart://greeting', { mimeType: 'text/plain' }, (uri) => ({
  contents: [{ uri, mimeType: 'text/plain', text: 'Hello' }],
}));

if (process.argv.includes('--http')) {
  const { url } = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
  console.error(`Listening at ${url}`);
} else {
  serveStdio(server);
}
