// Makes calls again and again, as many at a time as there are callers. `{ work }` opens them and checks their first
// answers; `{ durationMs }` runs them for so long, waits for the last answers, and closes.
import { answering } from './answering.mjs';

/**
 * @param open makes `{ calls, close }` for some work: each of the functions `calls` makes one call and resolves with
 *   whether the answer was right
 */
export function drive(open) {
  let opened;
  answering(async ({ work, durationMs }) => {
    if (work !== undefined) {
      opened = await open(work);
      return {};
    }
    return durationMs === undefined ? undefined : run(opened, durationMs);
  });
}

async function run({ calls, close }, durationMs) {
  const startedAt = performance.now();
  const counts = await Promise.all(calls.map((call) => repeat(call, startedAt + durationMs)));
  const seconds = (performance.now() - startedAt) / 1000;
  await close();
  const sum = (key) => counts.reduce((total, count) => total + count[key], 0);
  return { answers: sum('answers'), failures: sum('failures'), seconds };
}

async function repeat(call, until) {
  let answers = 0;
  let failures = 0;
  do {
    if (!(await call())) failures += 1;
    answers += 1;
  } while (performance.now() < until);
  return { answers, failures };
}
