import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REVISION } from './scenarios.mjs';

const command = [
  `--import=${import.meta.resolve('./node20-shim.mjs')}`,
  fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js')),
];

/**
 * Runs the suite; what it says goes to the end of a file.
 *
 * @param {string[]} args
 * @param {{ log: string, timeoutMs: number }} options
 * @returns its exit code; `null` if its time was up
 */
export async function runSuite(args, { log, timeoutMs }) {
  const output = openSync(log, 'a');
  const suite = spawn(process.execPath, [...command, ...args], {
    stdio: ['ignore', output, output],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  closeSync(output);
  const [code] = await once(suite, 'exit');
  return code;
}

/** The names of all scenarios of the revision, those that the suite does not count included. */
export function listScenarios() {
  const { stdout } = spawnSync(process.execPath, [...command, 'list', `--requirements=${REVISION}`], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  const offered = { server: [], client: [] };
  let counted;
  for (const line of stdout.split('\n')) {
    const heading = /^(Server|Client|Run) /.exec(line)?.[1];
    // Behind the last heading, every name says whom it is for.
    if (heading !== undefined) counted = heading.toLowerCase();
    const { name, leg = counted } = /^ +- (?<name>\S+)(?: \[(?<leg>\w+)\])?$/.exec(line)?.groups ?? {};
    if (name !== undefined) offered[leg].push(name);
  }
  return offered;
}
