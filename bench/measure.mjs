// Measures every row for every contender in many short windows, in turn, so that whatever disturbs the machine for a while
// disturbs all of them alike.
import { join } from 'node:path';
import { ask } from './child.mjs';
import { busyMicroseconds } from './cores.mjs';
import { kinds } from './kinds.mjs';
import { contenders } from './rows.mjs';

/** Of one core's time. In a window with more, caches and turns belonged to others, and the numbers do too. */
const maxForeignShare = 0.1;

/**
 * Resolves with all windows: `{ row, contender, round, answers, failures, seconds, cpuMicroseconds, cpuMicrosecondsEach,
 * foreignShare }`, the last one `undefined` where it cannot be measured.
 */
export async function measure(groups, plan, say) {
  const windows = [];
  for (const group of groups) windows.push(...(await measureGroup(group, plan, say)));
  return windows;
}

async function measureGroup({ kind, title, rows }, plan, say) {
  const { cores, windowMs, windowsEach, warmUpMs, maxRounds, profiles } = plan;
  const started = await Promise.all(
    contenders.map((contender) => {
      const profile = profiles && join(profiles, `${kind}-${contender}.cpuprofile`);
      return kinds[kind](contender, { cores, profile });
    }),
  );
  try {
    const cells = rows.flatMap((row) =>
      contenders.map((contender, index) => ({ row, contender, processes: started[index] })),
    );
    say(`${title}: warming up`);
    for (const { row, processes } of cells) await measureWindow(processes, row.work, warmUpMs, cores);

    const windows = [];
    const isWanting = ({ row, contender }) =>
      windows.filter((one) => one.row === row.name && one.contender === contender && isQuiet(one)).length < windowsEach;
    // Windows that were disturbed are measured again, as long as that makes sense.
    for (let round = 1; round <= maxRounds && cells.some(isWanting); round++) {
      const wanting = cells.filter(isWanting);
      say(`${title}: round ${round}, ${wanting.length} windows`);
      for (const { row, contender, processes } of wanting) {
        const window = await measureWindow(processes, row.work, windowMs, cores);
        windows.push({ row: row.name, contender, round, ...window });
      }
    }
    return windows;
  } finally {
    for (const processes of started) for (const child of new Set(Object.values(processes))) child?.disconnect();
  }
}

export function isQuiet({ foreignShare }) {
  return foreignShare === undefined || foreignShare <= maxForeignShare;
}

async function measureWindow({ measured, driver, other }, work, durationMs, cores) {
  await ask(driver, { work });
  const before = await takeStock();
  const result = await ask(driver, { durationMs });
  const after = await takeStock();
  const since = (key) => after[key] - before[key];
  const cpuMicroseconds = since('cpuMicroseconds');
  return {
    cpuMicroseconds,
    cpuMicrosecondsEach: cpuMicroseconds / result.answers,
    ...result,
    foreignShare: cores && foreignShare(),
  };

  /** Of the more disturbed core: one side that is held up leaves the other idle, and then that works differently. */
  function foreignShare() {
    const onMeasured = since('measuredCore') - cpuMicroseconds;
    const onLoad = since('loadCore') - since('otherMicroseconds');
    return Math.max(0, onMeasured, onLoad) / (result.seconds * 1e6);
  }

  /** Processor time of both sides so far, and of both cores. */
  async function takeStock() {
    const { cpuMicroseconds } = await ask(measured, {});
    const otherMicroseconds = other === undefined ? 0 : (await ask(other, {})).cpuMicroseconds;
    if (cores === undefined) return { cpuMicroseconds };
    return {
      cpuMicroseconds,
      otherMicroseconds,
      measuredCore: busyMicroseconds(cores.measured),
      loadCore: busyMicroseconds(cores.load),
    };
  }
}
