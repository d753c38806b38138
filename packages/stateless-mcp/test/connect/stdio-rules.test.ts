import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { loopback, McpClient } from '../../src/client/index.ts';
import { connect } from '../../src/connect/index.ts';
import type { McpHandler } from '../../src/protocol/index.ts';
import { temporaryFolder } from '../stdio/client-harness.ts';
import { recordingLogger } from '../recording-logger.ts';

const SERVER = fileURLToPath(new URL('./hello-server.ts', import.meta.url));

async function connected(...args: readonly string[]): Promise<McpClient> {
  const client = await connect(
    { command: process.execPath, args: ['--import', 'tsx', SERVER, ...args], logger: recordingLogger() },
    { logger: recordingLogger() },
  );
  onTestFinished(async () => client.close());
  return client;
}

it('STDIO-04: writes requests and notifications to standard input, and nothing else', async () => {
  const transcript = join(temporaryFolder(), 'input');
  const client = await connected('--record', transcript);
  await client.callTool('hello', { text: 'two\nlines' });
  const left = client.callTool('wait', {}, { signal: AbortSignal.timeout(100) });
  await expect(left).rejects.toMatchObject({ code: 'aborted' });
  await client.close();
  const lines = readFileSync(transcript, 'utf8').split('\n');
  expect(lines.pop()).toBe('');
  const messages = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(messages.map(({ method }) => method)).toEqual([
    'server/discover',
    'tools/call',
    'tools/call',
    'notifications/cancelled',
  ]);
  for (const message of messages) {
    expect(message).toMatchObject({ jsonrpc: '2.0', params: expect.any(Object) as object });
    expect(message).not.toHaveProperty('result');
  }
});

it('SUB-17: a stream ends with its process, and a new process is asked anew', async () => {
  const client = await connected();
  const before: string[] = [];
  const first = await client.listen({ toolsListChanged: true }, { onChange: ({ method }) => void before.push(method) });
  await expect(client.callTool('die')).rejects.toMatchObject({ code: 'closed', maybeExecuted: true, exitCode: 7 });
  await expect(first.closed).rejects.toMatchObject({ code: 'closed' });

  let changed = (_method: string): void => {};
  const change = new Promise<string>((resolve) => {
    changed = resolve;
  });
  await using second = await client.listen({ toolsListChanged: true }, { onChange: ({ method }) => changed(method) });
  expect(second.honored).toEqual({ toolsListChanged: true });
  await client.callTool('announce');
  expect(await change).toBe('notifications/tools/list_changed');
  expect(before).toEqual([]);
  expect(client.explain().process?.starts).toBe(2);
});

it('HDR-16: where there are no headers, their annotations hide no tool', async () => {
  const inputSchema = { type: 'object', properties: { size: { type: 'number', 'x-mcp-header': 'Size' } } };
  const handler: McpHandler = async () => ({ resultType: 'complete', tools: [{ name: 'sized', inputSchema }] });
  const { tools } = await new McpClient(loopback(handler)).listTools();
  expect(tools).toEqual([{ name: 'sized', inputSchema }]);
});

it('SEC-12: on standard streams nobody is verified, and credentials come from the environment', async () => {
  const client = await connect({
    command: process.execPath,
    args: ['--import', 'tsx', SERVER],
    env: { HELLO_KEY: 'from the environment' },
  });
  onTestFinished(async () => client.close());
  const { content } = await client.callTool('whoami');
  expect(content).toEqual([{ type: 'text', text: '{"key":"from the environment"}' }]);
});
