// The steps of `npm test`, cheapest first. `npm test -- unit api` runs the named ones.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, installApart, root } from './prepare.mjs';
import { runProcess } from './run-process.mjs';

const stepTimeoutMs = 5 * 60_000;
const skipsAreFailures = process.env.MCP_TEST_NO_SKIP === '1';

/** Exit code of a check that cannot be made here. */
const SKIPPED = 77;

/** A step resolves with how many checks passed and failed. Those marked `source` read the sources alone; the others need the build. */
const steps = [
  { name: 'format', source: true, run: () => check('node_modules/oxfmt/bin/oxfmt', '--check') },
  { name: 'build', run: () => ({ passed: 1, failed: 0 }) },
  { name: 'lint', run: () => check('node_modules/oxlint/bin/oxlint') },
  { name: 'types', run: checkTypes },
  { name: 'unit', source: true, run: () => vitest('unit') },
  { name: 'behaviour', run: () => vitest('behaviour') },
  { name: 'package', run: () => check('scripts/package.mjs') },
  { name: 'api', run: () => check('scripts/api-report.mjs') },
  { name: 'requirements', source: true, run: () => check('scripts/requirements.mjs') },
  { name: 'conformance', run: () => checkApart('conformance') },
  { name: 'interop', run: () => checkApart('interop') },
  { name: 'services', run: () => check('services/run.mjs') },
];

/** Runs the steps until one fails, prints what happened, and resolves with the exit code. */
export async function test(names) {
  const unknown = names.find((name) => !steps.some((step) => step.name === name));
  if (unknown !== undefined) {
    throw new Error(`there is no step "${unknown}": use some of ${steps.map((step) => step.name).join(', ')}.`);
  }
  const chosen = names.length === 0 ? steps : steps.filter((step) => names.includes(step.name));
  const results = [];
  for (const step of chosen) {
    process.stdout.write(`\n=== ${step.name} ===\n`);
    const startedAt = performance.now();
    const result = await settle(step);
    results.push({ name: step.name, seconds: (performance.now() - startedAt) / 1000, ...result });
    if (result.failed > 0) break;
  }
  return summarise(results, chosen.slice(results.length));
}

async function settle(step) {
  try {
    if (step.source !== true) build();
    return await step.run();
  } catch (error) {
    process.stdout.write(`${error.message}\n`);
    return { passed: 0, failed: 1 };
  }
}

function summarise(results, notRun) {
  process.stdout.write('\n');
  for (const { name, seconds, passed, failed } of results) {
    const outcome = failed > 0 ? `${failed} failed` : passed > 0 ? 'ok' : 'skipped';
    process.stdout.write(
      `${name.padEnd(14)}${seconds.toFixed(1).padStart(7)} s   ${String(passed).padStart(5)} passed   ${outcome}\n`,
    );
  }
  if (notRun.length > 0) process.stdout.write(`not run: ${notRun.map((step) => step.name).join(', ')}\n`);
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  process.stdout.write(`${'all'.padEnd(14)}${sum('seconds').toFixed(1).padStart(7)} s\n\n`);
  // Continuous integration reads this line: it stays alone and keeps its form.
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed\n`);
  return sum('failed') > 0 ? 1 : 0;
}

async function check(script, ...args) {
  const file = join(root, script);
  if (!existsSync(file)) throw new Error(`${script} does not exist.`);
  const code = await runProcess(process.execPath, [file, ...args], { timeoutMs: stepTimeoutMs });
  if (code === 0) return { passed: 1, failed: 0 };
  return { passed: 0, failed: code === SKIPPED && !skipsAreFailures ? 0 : 1 };
}

function checkTypes() {
  // Their sources belong to the same check, and see the types of what they install.
  for (const folder of ['conformance', 'interop']) installApart(folder);
  return check('node_modules/tsc7/bin/tsc', '-p', 'tsconfig.json');
}

function checkApart(folder) {
  installApart(folder);
  return check(`${folder}/run.mjs`);
}

async function vitest(project) {
  const report = join(root, 'temp', `vitest-${project}.json`);
  rmSync(report, { force: true });
  const code = await runProcess(
    process.execPath,
    [
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      `--project=${project}`,
      '--allowOnly=false',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    { timeoutMs: stepTimeoutMs },
  );
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const skipped = skipsAreFailures
    ? testResults
        .flatMap((file) => file.assertionResults)
        .filter((one) => one.status !== 'passed' && one.status !== 'failed')
    : [];
  for (const { fullName } of skipped) process.stdout.write(`skipped, which is a failure here: ${fullName}\n`);
  const failed = numFailedTests + skipped.length;
  return { passed: numPassedTests, failed: code === 0 ? failed : Math.max(1, failed) };
}
