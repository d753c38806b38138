import { spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const plain = ['ignore', 'inherit', 'inherit'];

/**
 * Starts one of the programs in this folder. It ends with this process.
 *
 * @param core to be held on, if one is given
 * @param streams its standard streams, as for `spawn`, and what it shall find from descriptor 4 on
 * @param profile a file for its processor profile
 */
export function startChild(file, { core, args = [], streams = plain, profile } = {}) {
  const flags =
    profile === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${dirname(profile)}`, `--cpu-prof-name=${basename(profile)}`];
  const command = [process.execPath, ...flags, fileURLToPath(new URL(file, import.meta.url)), ...args];
  const [program, ...rest] = core === undefined ? command : onCore(core, command);
  const [stdin, stdout, stderr, ...others] = streams;
  return spawn(program, rest, { stdio: [stdin, stdout, stderr, 'ipc', ...others] });
}

/** A command, held on a core. */
export function onCore(core, command) {
  return ['taskset', '-c', String(core), ...command];
}

/** The next message of a child; with `question`, the answer to it. */
export function ask(child, question) {
  return new Promise((resolve, reject) => {
    const died = (code) => reject(new Error(`"${child.spawnargs.join(' ')}" ended with exit code ${code}`));
    child.once('exit', died);
    child.once('message', (answer) => {
      child.off('exit', died);
      if (answer.error === undefined) resolve(answer);
      else reject(new Error(`${child.spawnargs.join(' ')}: ${answer.error}`));
    });
    if (question !== undefined) child.send(question);
  });
}
