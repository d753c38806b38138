// What the windows say, as numbers and as text.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isQuiet } from './measure.mjs';
import { contenders } from './rows.mjs';

/** One result per row and contender. Times are the least over the windows: noise only ever adds. */
export function summarise(groups, windows) {
  const results = groups.flatMap(({ rows }) =>
    rows.flatMap(({ name }) =>
      contenders.map((contender) => {
        const own = windows.filter((one) => one.row === name && one.contender === contender);
        const quiet = own.filter(isQuiet);
        const kept = quiet.length > 0 ? quiet : own;
        const times = kept.map(({ cpuMicrosecondsEach }) => cpuMicrosecondsEach);
        const least = Math.min(...times);
        return {
          row: name,
          contender,
          cpuMicrosecondsEach: least,
          spread: Math.max(...times) / least - 1,
          answersPerSecond: Math.max(...kept.map(({ answers, seconds }) => answers / seconds)),
          windows: kept.length,
          discarded: own.length - kept.length,
          isDisturbed: quiet.length === 0,
          failures: own.reduce((total, { failures }) => total + failures, 0),
        };
      }),
    ),
  );
  const timeOf = (row, contender) => resultOf(results, row, contender).cpuMicrosecondsEach;
  return results.map((result) => ({
    ...result,
    ratio: {
      floor: result.cpuMicrosecondsEach / timeOf(result.row, 'floor'),
      official: result.cpuMicrosecondsEach / timeOf(result.row, 'official'),
    },
  }));
}

/** All of it in Markdown, which terminals show well enough. */
export function text(groups, results, { date, versions, machine, method }) {
  return [
    ...groups.map((group) => `### ${group.title}\n\n${table(group, results)}`),
    remarks(groups, results).join('\n'),
    [`- Date: ${date}`, `- Versions: ${versions.join(', ')}`, `- Machine: ${machine}`, `- Method: ${method}`].join(
      '\n',
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function table({ rows, labels, perSecond }, results) {
  const header = ['operation', 'by', 'CPU each', '× floor', '× official', 'spread'];
  const lines = rows.flatMap(({ name }) =>
    contenders.map((contender) => {
      const { cpuMicrosecondsEach, ratio, spread, answersPerSecond } = resultOf(results, name, contender);
      return [
        name,
        labels[contender],
        timeText(cpuMicrosecondsEach),
        ratio.floor.toFixed(2),
        ratio.official.toFixed(2),
        `${(spread * 100).toFixed(0)} %`,
        ...(perSecond === undefined ? [] : [Math.round(answersPerSecond).toLocaleString('en')]),
      ];
    }),
  );
  if (perSecond !== undefined) header.push(perSecond);
  const widths = header.map((name, column) => Math.max(name.length, ...lines.map((line) => line[column].length)));
  const isNumber = (column) => column >= 2;
  const pad = (line) =>
    line.map((cell, column) => (isNumber(column) ? cell.padStart(widths[column]) : cell.padEnd(widths[column])));
  const rule = widths.map((width, column) => (isNumber(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [pad(header), rule, ...lines.map(pad)].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** What a reader must know beside the tables. */
function remarks(groups, results) {
  const discarded = results.reduce((total, result) => total + result.discarded, 0);
  const disturbed = results
    .filter(({ isDisturbed }) => isDisturbed)
    .map(({ row, contender }) => `${row} (${contender})`);
  const failures = results.reduce((total, result) => total + result.failures, 0);
  return [
    ...groups.flatMap(({ rows }) => rows.filter(({ target }) => target !== undefined)).map(toTarget),
    ...(discarded > 0
      ? [`- ${discarded} windows were discarded, because others used one of the cores for more than 10 % of them.`]
      : []),
    ...(disturbed.length > 0
      ? [`- Disturbed in every window, so that all were counted: ${disturbed.join('; ')}.`]
      : []),
    ...(failures > 0 ? [`- ${failures} answers were wrong: these numbers mean nothing.`] : []),
  ];

  function toTarget({ name, target: { to, atMost } }) {
    const ratio = resultOf(results, name, 'ours').ratio[to];
    const outcome = ratio <= atMost ? 'met' : 'missed';
    return `- ${name}: ${ratio.toFixed(2)} × ${to}; the target is at most ${atMost.toFixed(2)} (${outcome}).`;
  }
}

/** What was measured on, and when. */
export function circumstances({ cores, windowMs, windowsEach }) {
  const [{ model }] = cpus();
  const installed = ['server', 'client', 'node'].map((name) => `@modelcontextprotocol/${name}`);
  const versions = [...installed, 'zod'].map(
    (name) => `${name} ${versionOf(new URL(`node_modules/${name}/package.json`, import.meta.url))}`,
  );
  return {
    date: new Date().toISOString().slice(0, 10),
    versions: [
      `stateless-mcp ${versionOf(new URL('../packages/stateless-mcp/package.json', import.meta.url))}${commit()}`,
      ...versions,
    ],
    machine: `${model.trim()}, ${cpus().length} cores, ${type()} ${release().split('-', 1)[0]}, Node ${process.version}`,
    method: `at least ${windowsEach} windows of ${windowMs / 1000} s each; ${cores === undefined ? 'processes not held on cores' : 'what is measured and the load each held on a core of their own'}`,
  };
}

/** Writes the record into the document, between the two marks. */
export function record(markdown) {
  const file = new URL('../docs/performance.md', import.meta.url);
  const [before, , after] = readFileSync(file, 'utf8').split(/(?<=<!-- record -->\n)([^]*)(?=<!-- end of record -->)/);
  writeFileSync(file, `${before}\n${markdown}\n\n${after}`);
}

function timeText(microseconds) {
  return microseconds < 1000 ? `${microseconds.toFixed(1)} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
}

function resultOf(results, row, contender) {
  return results.find((result) => result.row === row && result.contender === contender);
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
