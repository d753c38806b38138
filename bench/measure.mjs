// Measures every operation of every contender in many short windows, in turn, so that whatever disturbs the machine for a
// while disturbs all of them alike.
import { ask, startChild } from './child.mjs';
import { busyMicroseconds } from './cores.mjs';
import { operationNames } from './requests.mjs';

export const contenders = ['floor', 'ours', 'official'];

/** Of one core's time. In a window with more, caches and turns belonged to others, and the numbers do too. */
const maxForeignShare = 0.1;
/** Windows that were disturbed are measured again, as long as that makes sense. */
const maxRounds = 4;

/**
 * Resolves with all windows: `{ operation, contender, round, answers, failures, seconds, cpuMicroseconds, foreignShare }`,
 * the last one `undefined` where it cannot be measured.
 */
export async function measure({ cores, windowMs, windowsEach, warmUpMs }, say) {
  const load = startChild('load.mjs', cores?.load);
  const children = contenders.map((name) => startChild(`contenders/${name}.mjs`, cores?.server));
  try {
    const servers = await Promise.all(children.map(async (child) => ({ child, url: (await ask(child)).url })));
    const cells = operationNames.flatMap((operation) =>
      contenders.map((contender, index) => ({ operation, contender, server: servers[index] })),
    );
    say(`warming up (${(cells.length * warmUpMs) / 1000} s)`);
    for (const { operation, server } of cells) await measureWindow(load, server, operation, warmUpMs, cores);

    const windows = [];
    const isWanting = ({ operation, contender }) => quietWindows(windows, operation, contender).length < windowsEach;
    for (let round = 1; round <= windowsEach * maxRounds && cells.some(isWanting); round++) {
      const wanting = cells.filter(isWanting);
      say(`round ${round}: ${wanting.length} windows of ${windowMs / 1000} s`);
      for (const { operation, contender, server } of wanting) {
        windows.push({
          operation,
          contender,
          round,
          ...(await measureWindow(load, server, operation, windowMs, cores)),
        });
      }
    }
    return windows;
  } finally {
    for (const child of [load, ...children]) child.disconnect();
  }
}

export function isQuiet({ foreignShare }) {
  return foreignShare === undefined || foreignShare <= maxForeignShare;
}

function quietWindows(windows, operation, contender) {
  return windows.filter((one) => one.operation === operation && one.contender === contender && isQuiet(one));
}

async function measureWindow(load, { child, url }, operation, durationMs, cores) {
  await ask(load, { url, operation });
  const before = await takeStock(child, cores);
  const { answers, failures, seconds, loadCpuMicroseconds } = await ask(load, { durationMs });
  const after = await takeStock(child, cores);
  const cpuMicroseconds = after.cpuMicroseconds - before.cpuMicroseconds;
  return { answers, failures, seconds, cpuMicroseconds, foreignShare: cores && foreignShare() };

  /** Of the more disturbed core: a load that is held up leaves the server idle, and then it works differently. */
  function foreignShare() {
    const onServer = after.serverCore - before.serverCore - cpuMicroseconds;
    const onLoad = after.loadCore - before.loadCore - loadCpuMicroseconds;
    return Math.max(0, onServer, onLoad) / (seconds * 1e6);
  }
}

/** Processor time of the server so far, and of both cores. */
async function takeStock(child, cores) {
  const { cpuMicroseconds } = await ask(child, {});
  if (cores === undefined) return { cpuMicroseconds };
  return {
    cpuMicroseconds,
    serverCore: busyMicroseconds(cores.server),
    loadCore: busyMicroseconds(cores.load),
  };
}
