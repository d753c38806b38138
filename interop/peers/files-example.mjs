import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const START_TIMEOUT_MS = 30_000;

const main = join(import.meta.dirname, '../../examples/files/src/main.ts');
const program = ['--import', import.meta.resolve('tsx'), main];

/**
 * Starts the example as its users do, as a process of its own.
 *
 * @param {string} dir the folder to serve
 * @returns where it is reached; `stop` asks it to end and resolves with its exit code
 */
export async function startFilesExample(dir) {
  const child = spawn(process.execPath, [...program, '--dir', dir, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const stop = async () => {
    child.kill('SIGTERM');
    return ended;
  };
  try {
    const signal = AbortSignal.timeout(START_TIMEOUT_MS);
    const greeting = once(createInterface(child.stdout), 'line', { signal }).then(([line]) => line);
    const url = /http:\S+/.exec(await Promise.race([greeting, ended]))?.[0];
    if (url === undefined) throw new Error('the files example did not start');
    return { url, stop };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/**
 * The example for a client that starts it and speaks with it over standard streams.
 *
 * @param {string} dir the folder to serve
 */
export function filesExampleCommand(dir) {
  return { command: process.execPath, args: [...program, '--dir', dir, '--stdio'] };
}
