import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { eventually, within } from '../http/harness.ts';
import type { FixtureOptions } from './fixtures/serve-fixture.ts';
import { LineClient } from './line-client.ts';

export interface ServerChild {
  readonly client: LineClient;
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** What it wrote to standard error. */
  readonly stderr: () => string;
  /** Waits until it has written this to standard error. */
  said(text: string): Promise<void>;
  /** Resolves with exit code and signal once it is gone and everything it wrote was read. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** A fixture in a process of its own, which has begun to serve. */
export async function startServer(
  fixture: 'stdio-server' | 'unguarded-server',
  options: FixtureOptions = {},
  { reads = true }: { readonly reads?: boolean } = {},
): Promise<ServerChild> {
  const path = fileURLToPath(new URL(`fixtures/${fixture}.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', path, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, reads ? 'close' : 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  const client = new LineClient(child.stdout, child.stdin, reads);
  const said = async (text: string): Promise<void> => {
    await eventually(() => stderr.includes(text), 15_000).catch(() => {
      throw new Error(`it never said "${text}" but: …${stderr.slice(-1000)}`);
    });
  };
  await said('serving');
  return { client, process: child, stderr: () => stderr, said, exited: within(exited, 25_000) };
}
