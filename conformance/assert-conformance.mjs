import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How the suite names the folder of a scenario: with the time at which it started. */
const RESULT_FOLDER = /^(?<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

const ACCEPTED_STATUSES = new Set(['SUCCESS', 'INFO']);

/**
 * Judges what the suite has written, more strictly than its exit code does: a warning, a skipped check, a scenario that
 * did not run, one with fewer successes than before and one that nobody has decided about are failures too.
 *
 * @param {typeof import('./scenarios.mjs').CLIENT} expected
 * @param {readonly string[]} offered the scenarios that the suite has for this revision
 * @param {string} folder of the results
 * @param {string} prefix of the names in it
 * @returns {{ passed: number, failures: string[] }} the number of successful checks, and what is wrong
 */
export function assertConformance({ required, excluded, inapplicable }, offered, folder, prefix) {
  const checksOf = readResults(folder, prefix);
  const failures = [];
  let passed = 0;
  for (const [scenario, leastSuccesses] of Object.entries(required)) {
    const checks = checksOf.get(scenario);
    if (checks === undefined) {
      failures.push(`${scenario}: did not run to its end`);
      continue;
    }
    const successes = checks.filter((check) => check.status === 'SUCCESS').length;
    passed += successes;
    for (const { status, id, name, errorMessage, description } of checks) {
      if (ACCEPTED_STATUSES.has(status) || (status === 'SKIPPED' && inapplicable.includes(name))) continue;
      failures.push(`${scenario}: ${status} of ${id} (${name}): ${errorMessage ?? description}`);
    }
    if (successes < leastSuccesses) {
      failures.push(`${scenario}: ${successes} checks succeeded, and ${leastSuccesses} have before`);
    }
  }
  for (const scenario of offered) {
    if (Object.hasOwn(required, scenario) || Object.hasOwn(excluded, scenario)) continue;
    failures.push(`${scenario}: is new in the suite; scenarios.mjs must require it or exclude it`);
  }
  for (const scenario of [...Object.keys(required), ...Object.keys(excluded)]) {
    if (!offered.includes(scenario)) failures.push(`${scenario}: is in scenarios.mjs, and not in the suite`);
  }
  return { passed, failures };
}

/** The checks of every scenario that was run to its end: only then does the suite write them. */
function readResults(folder, prefix) {
  const checksOf = new Map();
  for (const name of readdirSync(folder)) {
    const scenario = RESULT_FOLDER.exec(name)?.groups.scenario;
    const file = join(folder, name, 'checks.json');
    if (scenario?.startsWith(prefix) !== true || !existsSync(file)) continue;
    checksOf.set(scenario.slice(prefix.length), JSON.parse(readFileSync(file, 'utf8')));
  }
  return checksOf;
}
