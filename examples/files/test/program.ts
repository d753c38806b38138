import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const MAIN = join(import.meta.dirname, '../src/main.ts');

/** A finished process. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly process: ChildProcess;
  /** What it has written to its standard output, as soon as that matches. */
  printed(pattern: RegExp): Promise<string>;
  readonly outcome: Promise<Outcome>;
}

/** Starts the server as `npm start` does, for the time of one test. */
export function startProgram(...args: readonly string[]): Program {
  return run(process.execPath, ['--import', 'tsx', MAIN, ...args]);
}

export async function runShell(script: string): Promise<Outcome> {
  return run('bash', ['-euo', 'pipefail', '-c', script]).outcome;
}

function run(command: string, args: readonly string[]): Program {
  const child = spawn(command, args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const outcome = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const printed = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(stdout)) {
      const isOver = await Promise.race([once(child.stdout, 'data').then(() => false), outcome.then(() => true)]);
      if (isOver && !pattern.test(stdout))
        throw new Error(`${command} ended without printing ${String(pattern)}: ${stderr}`);
    }
    return stdout;
  };
  return { process: child, printed, outcome };
}
