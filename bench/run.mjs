// `npm run bench`: what things cost in processor time, here, with the official packages, and at the least.
//   --quick             few and short windows, to see where it goes; not for the record
//   --only <text>       only rows with this text in their name; not for the record
//   --profile <folder>  writes a processor profile of each contender there; not for the record
//   --json              prints everything that was measured
//   --record            writes the result to docs/performance.md
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { install } from '../scripts/prepare.mjs';
import { groups } from './rows.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string', default: '' },
    profile: { type: 'string' },
    json: { type: 'boolean' },
    record: { type: 'boolean' },
  },
});
if (options.record && (options.quick || options.only !== '' || options.profile !== undefined)) {
  throw new Error('--quick, --only and --profile are not for the record');
}
const chosen = groups
  .map((group) => ({ ...group, rows: group.rows.filter(({ name }) => name.includes(options.only)) }))
  .filter(({ rows }) => rows.length > 0);
if (chosen.length === 0) {
  const names = groups.flatMap(({ rows }) => rows.map(({ name }) => name));
  throw new Error(`--only ${options.only} fits none of: ${names.join('; ')}`);
}

install(dirname(fileURLToPath(import.meta.url)));
// These import what has just been installed.
const { chooseCores } = await import('./cores.mjs');
const { measure } = await import('./measure.mjs');
const { circumstances, record, summarise, text } = await import('./report.mjs');

const cores = chooseCores();
const say = (line) => process.stderr.write(`${line}\n`);
if (cores === undefined)
  say('Processes cannot be held on cores here, and what others do is not measured: expect noise.');
const plan = options.quick
  ? { cores, windowMs: 700, windowsEach: 2, warmUpMs: 400, maxRounds: 2 }
  : { cores, windowMs: 5000, windowsEach: 5, warmUpMs: 3000, maxRounds: 20 };
const windows = await measure(chosen, { ...plan, profiles: options.profile }, say);
const results = summarise(chosen, windows);
const about = circumstances(plan);

if (options.json) console.log(JSON.stringify({ ...about, results, windows }, undefined, 2));
else console.log(`\n${text(chosen, results, about)}`);

const isWrong = results.some(({ failures }) => failures > 0);
const isNoisy = results.some((result) => result.isDisturbed || result.windows < plan.windowsEach);
if (isWrong) process.exitCode = 1;
if (options.record && (isWrong || isNoisy)) {
  say(`Not recorded: ${isWrong ? 'some answers were wrong' : 'the machine was not quiet'}.`);
  process.exitCode = 1;
} else if (options.record) record(text(chosen, results, about));
