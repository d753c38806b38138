// Runs the public conformance suite against the server of this folder, and judges the results. Everything that was said
// and found stays in results/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { assertConformance } from './assert-conformance.mjs';
import { EXCLUDED, REQUIRED, REVISION } from './scenarios.mjs';

const START_TIMEOUT_MS = 30_000;
const SUITE_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 15_000;

const folder = import.meta.dirname;
const results = join(folder, 'results');
const checks = join(results, 'checks');
const serverLog = join(results, 'server.log');
const suiteLog = join(results, 'suite.log');

rmSync(results, { recursive: true, force: true });
mkdirSync(checks, { recursive: true });

let outcome;
try {
  await withServer(runSuite);
  outcome = assertConformance(checks);
  // The suite takes the result of a tool that threw for one that it wanted; the server's log does not.
  if (readFileSync(serverLog, 'utf8').includes('Unexpected error')) outcome.failures.push('the server logged an error');
} catch (error) {
  outcome = { passed: 0, failures: [error.message] };
}
report(outcome);

/** Runs `use` with the URL of a server of its own process, and ends that process. */
async function withServer(use) {
  const server = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), join(folder, 'server.ts')], {
    stdio: ['ignore', 'pipe', openSync(serverLog, 'w')],
  });
  const ended = once(server, 'exit').then(([code, signal]) => code ?? signal);
  try {
    const firstLine = once(createInterface(server.stdout), 'line').then(([line]) => line);
    const url = await within(START_TIMEOUT_MS, 'starting the server', Promise.race([firstLine, ended]));
    if (hasEnded(server)) throw new Error('the server did not start');
    await use(url);
    if (hasEnded(server)) throw new Error('the server ended while it was in use');
  } finally {
    await stop(server, ended);
  }
}

/** The suite's exit code says nothing here, because scenarios that are excluded fail. */
async function runSuite(url) {
  const log = openSync(suiteLog, 'w');
  const suite = spawn(
    process.execPath,
    [
      `--import=${import.meta.resolve('./node20-shim.mjs')}`,
      fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js')),
      'server',
      `--url=${url}`,
      `--requirements=${REVISION}`,
      `--output-dir=${checks}`,
    ],
    { stdio: ['ignore', log, log] },
  );
  try {
    await within(SUITE_TIMEOUT_MS, 'the suite', once(suite, 'exit'));
  } finally {
    suite.kill('SIGKILL');
  }
}

/** A server that is asked to stop must finish: open streams of clients that are gone may not keep it. */
async function stop(server, ended) {
  if (hasEnded(server)) return;
  server.kill('SIGTERM');
  try {
    const end = await within(STOP_TIMEOUT_MS, 'stopping the server', ended);
    // Windows has no signals: there, `kill` ends the process.
    if (end !== 0 && end !== 'SIGTERM') throw new Error(`the server ended with ${end} when it was asked to stop`);
  } finally {
    server.kill('SIGKILL');
  }
}

function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

async function within(timeoutMs, what, promise) {
  let timer;
  const timeUp = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

function report({ passed, failures }) {
  if (failures.length > 0) {
    for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
    process.stdout.write(readFileSync(serverLog, 'utf8'));
    process.exitCode = 1;
  }
  process.stdout.write(`revision ${REVISION}: ${Object.keys(REQUIRED).length} scenarios are judged\n`);
  const reasons = Object.values(EXCLUDED);
  for (const reason of new Set(reasons)) {
    const count = reasons.filter((other) => other === reason).length;
    process.stdout.write(`${count} scenarios are not: ${reason}\n`);
  }
  process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
}
