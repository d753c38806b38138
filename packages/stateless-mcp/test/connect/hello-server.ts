import { createWriteStream } from 'node:fs';
import { McpServer } from '../../src/server/index.ts';
import { serveStdio } from '../../src/stdio/serve-stdio.ts';

const [option, transcript] = process.argv.slice(2);
if (option === '--record' && transcript !== undefined) {
  const file = createWriteStream(transcript);
  process.stdin.on('data', (chunk) => file.write(chunk));
}

const server = new McpServer(
  { name: 'connected', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true } } },
);
server.registerTool('hello', {}, () => 'Hello');
server.registerTool('wait', {}, async (_, { signal }) => {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return 'gave up';
});
server.registerTool('die', {}, () => process.exit(7));
server.registerTool('announce', {}, () => {
  server.notify.toolsChanged();
  return 'announced';
});
server.registerTool('whoami', {}, (_, { auth }) => JSON.stringify({ auth, key: process.env.HELLO_KEY }));
serveStdio(server);
