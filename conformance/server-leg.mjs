import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { assertConformance } from './assert-conformance.mjs';
import { REVISION, SERVER } from './scenarios.mjs';
import { runSuite } from './suite.mjs';

const START_TIMEOUT_MS = 30_000;
const SUITE_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 15_000;

/**
 * Runs the suite against the server of this folder.
 *
 * @param {string} results the folder to write to
 * @param {readonly string[]} offered
 */
export async function testServer(results, offered) {
  const checks = join(results, 'checks');
  const log = join(results, 'suite.log');
  const serverLog = join(results, 'server.log');
  mkdirSync(checks, { recursive: true });
  await withServer(serverLog, async (url) => {
    const args = ['server', `--url=${url}`, `--requirements=${REVISION}`, `--output-dir=${checks}`];
    // Any other exit code says nothing here, because scenarios that are excluded fail.
    const code = await runSuite(args, { log, timeoutMs: SUITE_TIMEOUT_MS });
    if (code === null) throw new Error('the suite did not come to its end');
  });
  const { passed, failures } = assertConformance(SERVER, offered, checks, 'server-');
  // The suite takes the result of a tool that threw for one that it wanted; the server's log does not.
  if (readFileSync(serverLog, 'utf8').includes('Unexpected error')) failures.push('the server logged an error');
  return { passed, failures };
}

/** Runs `use` with the URL of a server of its own process, and ends that process. */
async function withServer(log, use) {
  const file = join(import.meta.dirname, 'server.ts');
  const server = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), file], {
    stdio: ['ignore', 'pipe', openSync(log, 'w')],
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
