// What the windows say, as numbers and as text.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { contenders, isQuiet } from './measure.mjs';
import { operationNames } from './requests.mjs';

const targetRatio = 1.5;
const labels = { floor: 'floor (bare `node:http`)', ours: 'stateless-mcp', official: 'official server' };

/** One row per operation and contender. Times are the least over the windows: noise only ever adds. */
export function summarise(windows) {
  const rows = operationNames.flatMap((operation) =>
    contenders.map((contender) => {
      const own = windows.filter((one) => one.operation === operation && one.contender === contender);
      const quiet = own.filter(isQuiet);
      const kept = quiet.length > 0 ? quiet : own;
      const times = kept.map(({ cpuMicroseconds, answers }) => cpuMicroseconds / answers);
      const least = Math.min(...times);
      return {
        operation,
        contender,
        cpuMicrosecondsPerAnswer: least,
        spread: Math.max(...times) / least - 1,
        answersPerSecond: Math.max(...kept.map(({ answers, seconds }) => answers / seconds)),
        windows: kept.length,
        discarded: own.length - kept.length,
        isDisturbed: quiet.length === 0,
        failures: own.reduce((total, { failures }) => total + failures, 0),
      };
    }),
  );
  const timeOf = (operation, contender) =>
    rows.find((row) => row.operation === operation && row.contender === contender).cpuMicrosecondsPerAnswer;
  return rows.map((row) => ({
    ...row,
    toFloor: row.cpuMicrosecondsPerAnswer / timeOf(row.operation, 'floor'),
    toOfficial: row.cpuMicrosecondsPerAnswer / timeOf(row.operation, 'official'),
  }));
}

/** As a Markdown table, which terminals show well enough. */
export function table(rows) {
  const header = ['operation', 'server', 'CPU per request', '× floor', '× official', 'spread', 'requests/s'];
  const lines = rows.map((row) => [
    `\`${row.operation}\``,
    labels[row.contender],
    `${row.cpuMicrosecondsPerAnswer.toFixed(1)} µs`,
    row.toFloor.toFixed(2),
    row.toOfficial.toFixed(2),
    `${(row.spread * 100).toFixed(0)} %`,
    Math.round(row.answersPerSecond).toLocaleString('en'),
  ]);
  const widths = header.map((name, column) => Math.max(name.length, ...lines.map((line) => line[column].length)));
  const isNumber = (column) => column >= 2;
  const pad = (line) =>
    line.map((cell, column) => (isNumber(column) ? cell.padStart(widths[column]) : cell.padEnd(widths[column])));
  const rule = widths.map((width, column) => (isNumber(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [pad(header), rule, ...lines.map(pad)].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** What a reader must know beside the table. */
export function remarks(rows) {
  const { toFloor } = rows.find(({ operation, contender }) => operation === 'tools/call' && contender === 'ours');
  const discarded = rows.reduce((total, row) => total + row.discarded, 0);
  const disturbed = rows.filter(({ isDisturbed }) => isDisturbed);
  const failures = rows.reduce((total, row) => total + row.failures, 0);
  return [
    `A call costs ${toFloor.toFixed(2)} × the floor; the target is at most ${targetRatio} (${toFloor <= targetRatio ? 'met' : 'missed'}).`,
    ...(discarded > 0
      ? [`${discarded} windows were discarded, because others used one of the cores for more than 10 % of them.`]
      : []),
    ...disturbed.map(
      ({ operation, contender }) =>
        `Disturbed: no window of ${operation}, ${contender} was quiet, so that all were counted.`,
    ),
    ...(failures > 0 ? [`${failures} answers were wrong: these numbers mean nothing.`] : []),
  ];
}

/** What was measured on, and when. */
export function circumstances({ cores, windowMs, windowsEach }) {
  const [{ model }] = cpus();
  const versions = ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod'].map(
    (name) => `${name} ${versionOf(new URL(`node_modules/${name}/package.json`, import.meta.url))}`,
  );
  return {
    date: new Date().toISOString().slice(0, 10),
    versions: [
      `stateless-mcp ${versionOf(new URL('../packages/stateless-mcp/package.json', import.meta.url))}${commit()}`,
      ...versions,
    ],
    machine: `${model.trim()}, ${cpus().length} cores, ${type()} ${release().split('-', 1)[0]}, Node ${process.version}`,
    method: `at least ${windowsEach} windows of ${windowMs / 1000} s each; ${cores === undefined ? 'processes not held on cores' : 'server and load each held on a core of their own'}`,
  };
}

/** Writes the record into the document, between the two marks. */
export function record(rows, { date, versions, machine, method }) {
  const file = new URL('../docs/performance.md', import.meta.url);
  const [before, , after] = readFileSync(file, 'utf8').split(/(?<=<!-- record -->\n)([^]*)(?=<!-- end of record -->)/);
  const facts = [
    `- Date: ${date}`,
    `- Versions: ${versions.join(', ')}`,
    `- Machine: ${machine}`,
    `- Method: ${method}`,
  ];
  writeFileSync(file, `${before}\n${table(rows)}\n\n${remarks(rows).join('\n')}\n\n${facts.join('\n')}\n\n${after}`);
}

function versionOf(manifest) {
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

/** Which state of the sources it was, where they are a checkout. */
function commit() {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd, encoding: 'utf8' });
  return status === 0 ? ` (${stdout.trim()})` : '';
}
