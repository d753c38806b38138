import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts one of the programs in this folder, held on a core if one is given. It ends with this process. */
export function startChild(file, core) {
  const command = [process.execPath, fileURLToPath(new URL(file, import.meta.url))];
  if (core !== undefined) command.unshift('taskset', '-c', String(core));
  const [program, ...args] = command;
  return spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** The next message of a child; with `message`, the answer to it. */
export function ask(child, message) {
  return new Promise((resolve, reject) => {
    const died = (code) => reject(new Error(`${child.spawnargs.at(-1)} ended with exit code ${code}`));
    child.once('exit', died);
    child.once('message', (answer) => {
      child.off('exit', died);
      if (answer.error === undefined) resolve(answer);
      else reject(new Error(answer.error));
    });
    if (message !== undefined) child.send(message);
  });
}
