import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const FILE_TIMEOUT_MS = 180_000;

/** Runs the tests of a folder that need the test runner of Node, and sets the exit code. */
export async function runNodeTests(folder) {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.test.mjs'))
    .map((name) => join(folder, name));
  let passed = 0;
  let failed = 0;
  const tests = run({ files, timeout: FILE_TIMEOUT_MS })
    .on('test:pass', ({ details, skip, todo }) => {
      if (details.type === 'suite') return;
      // Nothing may be left out here: what does not run has not passed.
      if (skip === undefined && todo === undefined) passed += 1;
      else failed += 1;
    })
    .on('test:fail', ({ details }) => {
      // A suite can fail by itself, when what it prepares or clears away does.
      if (details.type !== 'suite' || details.error.failureType !== 'subtestsFailed') failed += 1;
    })
    .on('end', () => {
      if (passed === 0) failed = Math.max(1, failed);
    });
  for await (const text of tests.compose(spec)) process.stdout.write(text);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}
