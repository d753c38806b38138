import { spawn } from 'node:child_process';
import { root } from './prepare.mjs';

/**
 * Runs a program with our standard streams and resolves with its exit code. It gets a process group of its own: when its
 * time is up, or when we are told to stop, all that it started is ended with it.
 */
export function runProcess(command, args, { cwd = root, env = process.env, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const windows = process.platform === 'win32';
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'], detached: !windows });
    const end = (signal) => {
      try {
        if (windows) child.kill(signal);
        else process.kill(-child.pid, signal);
      } catch {
        // It has ended in the meantime.
      }
    };
    const interrupt = () => end('SIGINT');
    const terminate = () => end('SIGTERM');
    process.on('SIGINT', interrupt).on('SIGTERM', terminate);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            process.stderr.write(`\nstill running after ${timeoutMs / 1000} s: ended\n`);
            end('SIGKILL');
          }, timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      process.off('SIGINT', interrupt).off('SIGTERM', terminate);
    };
    child.once('error', (error) => {
      settle();
      reject(new Error(`${command} could not be started: ${error.message}`));
    });
    child.once('close', (code) => {
      settle();
      resolve(code ?? 1);
    });
  });
}
