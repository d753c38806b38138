import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { McpClient } from '../../src/client/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { serveStream, streamPeer } from '../../src/stdio/index.ts';

it('goes on behind a full pipe that never says that it has room', async () => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool('length', { inputSchema: { type: 'object' } }, ({ text }) => String(String(text).length));
  const up = new PassThrough();
  const down = new PassThrough();
  serveStream(server, { readable: up, writable: down });
  const client = new McpClient(streamPeer({ readable: down, writable: up }));
  onTestFinished(async () => client.close());
  // Each alone fills what may wait to be written.
  const text = 'x'.repeat(300_000);
  const results = await Promise.all(Array.from({ length: 5 }, async () => client.callTool('length', { text })));
  for (const { content } of results) expect(content).toEqual([{ type: 'text', text: '300000' }]);
});
