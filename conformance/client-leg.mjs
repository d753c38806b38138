import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertConformance } from './assert-conformance.mjs';
import { CLIENT, REVISION } from './scenarios.mjs';
import { runSuite } from './suite.mjs';

/** A client that is done and does not end is at fault as well. */
const CLIENT_TIMEOUT_MS = 15_000;
const SUITE_TIMEOUT_MS = 30_000;
const SCENARIOS_AT_ONCE = 2;

/** What the suite says of a client, and nowhere else than on its error stream. */
const COMPLAINT = /^Client (?:exited with code|timed out).*/m;

/** For a shell, which must not stay between the suite and the client that it ends when its time is up. */
const client = [
  ...(process.platform === 'win32' ? [] : ['exec']),
  ...[process.execPath, '--import', import.meta.resolve('tsx'), join(import.meta.dirname, 'client.ts')].map(
    (part) => `"${part}"`,
  ),
].join(' ');

/**
 * Runs the suite against the client of this folder, once for each scenario: only then do the client's exit code and its
 * time count.
 *
 * @param {string} results the folder to write to
 * @param {readonly string[]} offered
 */
export async function testClient(results, offered) {
  const checks = join(results, 'checks');
  mkdirSync(checks, { recursive: true });
  const complaints = [];
  const scenarios = Object.keys(CLIENT.required).values();
  const work = async () => {
    for (const scenario of scenarios) {
      const complaint = await testScenario(scenario, checks, join(results, `${scenario}.log`));
      if (complaint !== undefined) complaints.push(`${scenario}: ${complaint}`);
    }
  };
  await Promise.all(Array.from({ length: SCENARIOS_AT_ONCE }, work));
  const { passed, failures } = assertConformance(CLIENT, offered, checks, '');
  return { passed, failures: [...complaints, ...failures] };
}

/** @returns what is wrong beside the checks */
async function testScenario(scenario, checks, log) {
  const code = await runSuite(
    [
      'client',
      `--command=${client}`,
      `--scenario=${scenario}`,
      `--spec-version=${REVISION}`,
      '--force',
      `--timeout=${CLIENT_TIMEOUT_MS}`,
      `--output-dir=${checks}`,
    ],
    { log, timeoutMs: SUITE_TIMEOUT_MS },
  );
  return COMPLAINT.exec(readFileSync(log, 'utf8'))?.[0] ?? (code === 0 ? undefined : `the suite ended with ${code}`);
}
