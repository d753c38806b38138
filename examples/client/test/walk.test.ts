import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const FILES_SERVER = join(import.meta.dirname, '../../files/src/main.ts');

function start(main: string, ...args: readonly string[]): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function outputOf(...args: readonly string[]): Promise<{ code: unknown; lines: string[]; errors: string }> {
  const child = start(MAIN, ...args);
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(child, 'close');
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(line);
  const [code] = (await ended) as unknown[];
  return { code, lines, errors };
}

async function folderOf(files: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'client-example-'));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  for (let index = 0; index < files; index++) await writeFile(join(folder, `${index}.txt`), 'A line');
  return folder;
}

it('walks through a server of its own over stdio, changes included', async () => {
  const { code, lines, errors } = await outputOf();
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(lines).toContain('list_files: {"files":["first.txt"],"total":1}');
  expect(lines).toContain('files:///first.txt: 26 characters');
  expect(lines).toContain('summarize_file: 2 messages');
  expect(lines).toContain('completion: 1 of 1 paths');
  expect(lines).toContain('refused with -32602: Resource not found');
  expect(lines).toContain('listening for resourcesListChanged');
  expect(lines).toContain('changed: notifications/resources/list_changed');
  expect(lines.at(-1)).toMatch(/^\d+ requests over stdio/);
});

it('walks through a server at a URL', async () => {
  const server = start(FILES_SERVER, '--port', '0', '--dir', await folderOf(600));
  const [greeting] = (await once(createInterface(server.stdout), 'line')) as [string];
  const url = /http:\S+/.exec(greeting)?.[0] ?? '';
  const { code, lines, errors } = await outputOf(url);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(lines).toContain('progress: 512 of 600 files searched');
  expect(lines).toContain('600 resources in 2 pages');
  expect(lines.at(-1)).toMatch(/^\d+ requests over http/);
});

it('says in one line why a server cannot be reached', async () => {
  const { code, errors } = await outputOf('http://127.0.0.1:9/mcp');
  expect(code).toBe(1);
  expect(errors).toBe('Cannot reach http://127.0.0.1:9/mcp: nothing accepts connections there (ECONNREFUSED)\n');
});
