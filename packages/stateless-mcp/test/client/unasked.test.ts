import { expect, it } from 'vitest';
import { loopback, McpClient } from '../../src/client/index.ts';
import { type McpHandler, METHODS } from '../../src/protocol/index.ts';

it('CACHE-06: a change that is announced where nobody listens makes stale what was kept', async () => {
  let lists = 0;
  const handler: McpHandler = async ({ method }, { notify }) => {
    if (method === 'tools/list') return { resultType: 'complete', tools: [], ttlMs: 60_000, lists: ++lists };
    await notify({ method: 'notifications/tools/list_changed' });
    return { resultType: 'complete', content: [] };
  };
  const client = new McpClient(loopback({ handler, methods: METHODS }));
  await client.listTools();
  await client.listTools();
  expect(lists).toBe(1);
  await client.callTool('a');
  await client.listTools();
  expect(lists).toBe(2);
});

it.each([[['Rome']], ['Rome' as never], [null as never]])('arguments have names: %j is refused', async (values) => {
  const client = new McpClient(loopback(async () => expect.unreachable('was sent')));
  await expect(client.callTool('a', values)).rejects.toThrow(TypeError);
});
