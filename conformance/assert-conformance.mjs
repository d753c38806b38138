import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXCLUDED, REQUIRED } from './scenarios.mjs';

/** How the suite names the folder of a scenario: with the time at which it started. */
const RESULT_FOLDER = /^server-(?<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

const ACCEPTED_STATUSES = new Set(['SUCCESS', 'INFO']);

/**
 * Judges what the suite has written, more strictly than its exit code does: a warning, a skipped check, a scenario that
 * did not run, one with fewer successes than before and one that nobody has decided about are failures too.
 *
 * @param {string} folder of the results
 * @returns {{ passed: number, failures: string[] }} the number of successful checks, and what is wrong
 */
export function assertConformance(folder) {
  const checksOf = readResults(folder);
  const failures = [];
  let passed = 0;
  for (const [scenario, leastSuccesses] of Object.entries(REQUIRED)) {
    const checks = checksOf.get(scenario);
    if (checks === undefined) {
      failures.push(`${scenario}: did not run to its end`);
      continue;
    }
    const successes = checks.filter((check) => check.status === 'SUCCESS').length;
    passed += successes;
    for (const { status, id, name, errorMessage, description } of checks) {
      if (ACCEPTED_STATUSES.has(status)) continue;
      failures.push(`${scenario}: ${status} of ${id} (${name}): ${errorMessage ?? description}`);
    }
    if (successes < leastSuccesses) {
      failures.push(`${scenario}: ${successes} checks succeeded, and ${leastSuccesses} have before`);
    }
  }
  for (const scenario of checksOf.keys()) {
    if (Object.hasOwn(REQUIRED, scenario) || Object.hasOwn(EXCLUDED, scenario)) continue;
    failures.push(`${scenario}: is new in the suite; scenarios.mjs must require it or exclude it`);
  }
  for (const scenario of Object.keys(EXCLUDED)) {
    if (!checksOf.has(scenario)) failures.push(`${scenario}: is excluded in scenarios.mjs, and did not run anyway`);
  }
  return { passed, failures };
}

/** The checks of every scenario that was run to its end: only then does the suite write them. */
function readResults(folder) {
  const checksOf = new Map();
  for (const name of readdirSync(folder)) {
    const scenario = RESULT_FOLDER.exec(name)?.groups.scenario;
    const file = join(folder, name, 'checks.json');
    if (scenario !== undefined && existsSync(file)) checksOf.set(scenario, JSON.parse(readFileSync(file, 'utf8')));
  }
  return checksOf;
}
