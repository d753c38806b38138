// Starts processes that import something and end. What they cost is what is measured: from their first moment to the one
// when everything is imported.
import { spawnSync } from 'node:child_process';
import { answering } from './answering.mjs';
import { onCore } from './child.mjs';
import { childMicroseconds } from './cores.mjs';

/** In one window: their times differ little. */
const maxProcesses = 5;
const [contender, core] = process.argv.slice(2);
let imports;

answering(async ({ work, durationMs }) => {
  if (work !== undefined) {
    imports = work[contender].map((module) => `await import(${JSON.stringify(module)});`).join('\n');
    return {};
  }
  if (durationMs !== undefined) return run(durationMs);
  // Their ends are part of it, so that nobody takes those for the work of others.
  return { cpuMicroseconds: core === undefined ? 0 : childMicroseconds() };
});

function run(durationMs) {
  const startedAt = performance.now();
  const times = [];
  do times.push(importOnce());
  while (times.length < maxProcesses && performance.now() - startedAt < durationMs);
  const median = times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];
  const seconds = (performance.now() - startedAt) / 1000;
  return { answers: times.length, failures: 0, seconds, cpuMicrosecondsEach: median };
}

/** Its end is not waited for: a process that is killed costs the machine less, and what it did is known by then. */
function importOnce() {
  const code = `${imports}
    const { user, system } = process.cpuUsage();
    (await import('node:fs')).writeSync(1, String(user + system));
    process.kill(process.pid, 'SIGKILL');`;
  const command = [process.execPath, '--input-type=module', '--eval', code];
  const [program, ...args] = core === undefined ? command : onCore(core, command);
  const { stdout, stderr } = spawnSync(program, args, { cwd: import.meta.dirname, encoding: 'utf8' });
  if (!/^\d+$/.test(stdout)) throw new Error(stderr);
  return Number(stdout);
}
