// `npm run bench`: what a request costs in processor time, here, with the official server, and at the least.
//   --quick    few and short windows, to see where it goes; not for the record
//   --json     prints everything that was measured
//   --record   writes the result to docs/performance.md
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { install } from '../scripts/prepare.mjs';

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, record: { type: 'boolean' } },
});
if (options.quick && options.record) throw new Error('--quick is not for the record');

install(dirname(fileURLToPath(import.meta.url)));
// These import what has just been installed.
const { chooseCores } = await import('./cores.mjs');
const { measure } = await import('./measure.mjs');
const { circumstances, record, remarks, summarise, table } = await import('./report.mjs');

const cores = chooseCores();
const say = (text) => process.stderr.write(`${text}\n`);
if (cores === undefined)
  say('Processes cannot be held on cores here, and what others do is not measured: expect noise.');
const plan = options.quick
  ? { cores, windowMs: 2000, windowsEach: 3, warmUpMs: 1000 }
  : { cores, windowMs: 5000, windowsEach: 5, warmUpMs: 3000 };
const windows = await measure(plan, say);
const rows = summarise(windows);
const about = circumstances(plan);

if (options.json) console.log(JSON.stringify({ ...about, rows, windows }, undefined, 2));
else console.log(['', table(rows), '', ...remarks(rows), '', ...Object.values(about).flat()].join('\n'));

const isWrong = rows.some(({ failures }) => failures > 0);
const isNoisy = rows.some((row) => row.isDisturbed || row.windows < plan.windowsEach);
if (isWrong) process.exitCode = 1;
if (options.record && (isWrong || isNoisy)) {
  say(`Not recorded: ${isWrong ? 'some answers were wrong' : 'the machine was not quiet'}.`);
  process.exitCode = 1;
} else if (options.record) record(rows, about);
