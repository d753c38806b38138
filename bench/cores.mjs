// On Linux, processes are held on one core each, and what others do on these cores is measured. Elsewhere neither can be
// had, and the benchmark says so.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** `/proc` counts in these; the kernel's interface fixes it. */
const microsecondsPerTick = 10_000;

/** Two cores that this process may run on, for what is measured and for the load; `undefined` if processes cannot be held. */
export function chooseCores() {
  if (process.platform !== 'linux' || spawnSync('taskset', ['--version']).status !== 0) return undefined;
  const [, list] = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'));
  const allowed = list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return allowed.length < 2 ? undefined : { measured: allowed[0], load: allowed[1] };
}

/** Microseconds for which a core has been busy, with whatever: processes, the kernel, and what a hypervisor took away. */
export function busyMicroseconds(core) {
  const line = readFileSync('/proc/stat', 'utf8').match(new RegExp(`^cpu${core} .*$`, 'm'))[0];
  const [, user, nice, system, , , irq, softirq, steal] = line.split(/\s+/).map(Number);
  return (user + nice + system + irq + softirq + steal) * microsecondsPerTick;
}

/** Processor time of the processes that this one has started and that have ended. */
export function childMicroseconds() {
  const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(13, 15).map(Number);
  return (user + system) * microsecondsPerTick;
}
