// Runs the public conformance suite against the server and the client of this folder, and judges the results. Everything
// that was said and found stays in results/.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { testClient } from './client-leg.mjs';
import { CLIENT, REVISION, SERVER } from './scenarios.mjs';
import { testServer } from './server-leg.mjs';
import { listScenarios } from './suite.mjs';

const results = join(import.meta.dirname, 'results');
rmSync(results, { recursive: true, force: true });

const offered = listScenarios();
const outcomes = [await testLeg('server', SERVER, testServer), await testLeg('client', CLIENT, testClient)];
const sum = (count) => outcomes.reduce((total, outcome) => total + count(outcome), 0);
process.stdout.write(`${sum(({ passed }) => passed)} passed, ${sum(({ failures }) => failures.length)} failed\n`);
process.exitCode = outcomes.some(({ failures }) => failures.length > 0) ? 1 : 0;

async function testLeg(leg, { required, excluded }, test) {
  const folder = join(results, leg);
  mkdirSync(folder, { recursive: true });
  const outcome = await test(folder, offered[leg]).catch((error) => ({ passed: 0, failures: [error.message] }));
  for (const failure of outcome.failures) process.stdout.write(`FAILED ${failure}\n`);
  if (outcome.failures.length > 0) showLogs(folder);

  process.stdout.write(`${leg}, revision ${REVISION}: ${Object.keys(required).length} scenarios are judged\n`);
  const reasons = Object.values(excluded);
  for (const reason of new Set(reasons)) {
    const count = reasons.filter((other) => other === reason).length;
    process.stdout.write(`${count} scenarios are not: ${reason}\n`);
  }
  return outcome;
}

function showLogs(folder) {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.log') || name === 'suite.log') continue;
    process.stdout.write(`--- ${name}\n${readFileSync(join(folder, name), 'utf8')}`);
  }
}
