import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, type McpClient } from 'stateless-mcp';
import { expect, it, onTestFinished } from 'vitest';

const SERVER = ['--import', import.meta.resolve('tsx'), join(import.meta.dirname, '../src/server.ts')];

async function expectQuickstart(client: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['add', 'count_down']);
  expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
  const steps: unknown[] = [];
  const { content } = await client.callTool(
    'count_down',
    { from: 3 },
    { onProgress: ({ message }) => void steps.push(message) },
  );
  expect(content).toEqual([{ type: 'text', text: 'Lift-off' }]);
  expect(steps).toEqual(['2 left', '1 left', '0 left']);
  expect((await client.readResource('quickstart://greeting')).contents).toMatchObject([{ text: 'Hello' }]);
}

it('is served over stdio, and what it prints goes to the error stream', async () => {
  const printed: string[] = [];
  const client = await connect({ command: process.execPath, args: SERVER, stderr: (line) => printed.push(line) });
  onTestFinished(async () => client.close());
  await expectQuickstart(client);
  expect(client.explain().ignoredLines).toBe(0);
  expect(printed).toEqual([expect.stringContaining('This line goes to the error stream')]);
});

it('is served over HTTP from the same file', async () => {
  const server = spawn(process.execPath, [...SERVER, '--http'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PORT: '0' },
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [line] = (await once(createInterface(server.stderr), 'line')) as [string];
  const client = await connect(/http:\S+/.exec(line)?.[0] ?? '');
  onTestFinished(async () => client.close());
  await expectQuickstart(client);
});
