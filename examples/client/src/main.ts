import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, LocalError, RemoteError } from 'stateless-mcp';
import { walk } from './walk.ts';

// With a URL: the server there. Without: one of our own over stdio, with a folder that may be changed.
const [url] = process.argv.slice(2);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  if (url === undefined) await tourOfOwnServer();
  else await tourOf(url);
} catch (error) {
  if (!(error instanceof LocalError || error instanceof RemoteError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function tourOf(target: string): Promise<void> {
  await using client = await connect(target);
  await walk(client, { print });
}

async function tourOfOwnServer(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'client-example-'));
  try {
    await writeFile(join(dir, 'first.txt'), 'What is in the first file\n');
    const server = join(import.meta.dirname, '../../files/src/main.ts');
    const args = ['--import', import.meta.resolve('tsx'), server, '--stdio', '--dir', dir];
    await using client = await connect({ command: process.execPath, args, stderr: 'inherit' });
    await walk(client, { print, change: async () => writeFile(join(dir, 'second.txt'), 'The second file\n') });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
