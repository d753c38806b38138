// Compares docs/requirements.md with the tests that name its rows.
//
//   npm run requirements                 fails on an unproven row, an unknown ID, an outdated column
//   npm run requirements -- --update     rewrites the column of tests first
//
// A test names rows at the start of its title, `it('HTTP-08, RM-07: …')`; a table of wire checks has `ids: ['HTTP-08']`.
// Names like T-83 (traps) are free.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const documentPath = join(root, 'docs', 'requirements.md');

/** Groups whose rows have to be proven or to say why not. The others only report. */
const provenGroups = new Set([
  'JR',
  'ST',
  'META',
  'VER',
  'DISC',
  'CAP',
  'STRM',
  'CANC',
  'SUB',
  'HTTP',
  'HDR',
  'RM',
  'CACHE',
  'SEC',
]);

const rowPattern = /^\| (?<id>[A-Z]+-\d+) \|.*\| (?<state>[^|]*?) \|(?<tests>[^|]*)\|$/;
const statePattern = /^(?:done|(?:later|n\/a): \S.*)$/;
const idListPattern = /[A-Z]+-\d+(?:,\s*[A-Z]+-\d+)*/.source;
// A string literal that begins with IDs and a colon is a title, whichever function it is handed to (`it`, `it.each(…)`).
const titlePattern = new RegExp(`(['"\`])(${idListPattern}):`, 'g');
const checkPattern = /\bids: \[([^\]]*)\]/g;
const trapPattern = /^T-\d+$/;
// Two digits, as all rows have: `UTF-8: …` and `SHA-256: …` are titles about something else.
const requirementPattern = /^[A-Z]+-\d\d$/;

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function isTest(path) {
  const parts = relative(root, path).split(sep);
  const name = parts.at(-1);
  if (parts[0] === 'conformance' || parts[0] === 'interop') return /\.(mjs|ts)$/.test(name);
  if (parts[2] === 'src') return name.endsWith('.test.ts');
  if (parts[2] !== 'test') return false;
  return name.endsWith('.test.ts') || (parts.includes('checks') && name.endsWith('.ts'));
}

/** Map from requirement ID to the files that prove it. */
function scanTests() {
  const proofs = new Map();
  const folders = ['packages', 'examples', 'conformance', 'interop'].map((name) => join(root, name));
  for (const path of folders.flatMap(filesBelow).filter(isTest).sort()) {
    const text = readFileSync(path, 'utf8');
    const lists = [
      ...Array.from(text.matchAll(titlePattern), (match) => match[2]),
      ...Array.from(text.matchAll(checkPattern), (match) => match[1].replace(/['"\s]/g, '')),
    ];
    for (const id of lists.flatMap((list) => list.split(/,\s*/)).filter((id) => requirementPattern.test(id))) {
      if (trapPattern.test(id)) continue;
      const files = proofs.get(id) ?? new Set();
      proofs.set(id, files.add(relative(root, path).split(sep).join('/')));
    }
  }
  return proofs;
}

function parseRow(line) {
  const match = rowPattern.exec(line);
  if (match === null) return undefined;
  const { id, state, tests } = match.groups;
  return { id, state, tests: tests.trim() };
}

function withTests(line, files) {
  const cells = line.slice(0, -1);
  return `${cells.slice(0, cells.lastIndexOf('|'))}| ${files === '' ? '' : `${files} `}|`;
}

const proofs = scanTests();
const testsOf = (id) => [...(proofs.get(id) ?? [])].join(', ');
const lines = readFileSync(documentPath, 'utf8').split('\n');

if (process.argv.includes('--update')) {
  const updated = lines.map((line) => {
    const row = parseRow(line);
    return row === undefined ? line : withTests(line, testsOf(row.id));
  });
  lines.splice(0, lines.length, ...updated);
  writeFileSync(documentPath, lines.join('\n'));
}

const failures = [];
const warnings = [];
const seen = new Set();
for (const line of lines) {
  if (!/^\| [A-Z]+-\d+ /.test(line)) continue;
  const row = parseRow(line);
  if (row === undefined) {
    failures.push(`not a row of the table: ${line}`);
    continue;
  }
  const { id, state } = row;
  const tests = testsOf(id);
  if (seen.has(id)) failures.push(`${id}: listed twice`);
  seen.add(id);
  if (!statePattern.test(state)) failures.push(`${id}: state "${state}" is not done, later: reason or n/a: reason`);
  if (state === 'done' && tests === '' && provenGroups.has(id.split('-')[0])) {
    failures.push(`${id}: no test names it and no reason is given`);
  }
  if (state.startsWith('later') && tests !== '') warnings.push(`${id}: "${state}", but proven by ${tests}`);
  if (row.tests !== tests)
    failures.push(`${id}: the column of tests is out of date (npm run requirements -- --update)`);
  console.log(`${id.padEnd(9)} ${state.padEnd(34)} ${tests}`);
}
for (const [id, files] of proofs) {
  if (!seen.has(id)) failures.push(`${id}: named in ${[...files].join(', ')}, unknown in docs/requirements.md`);
}

for (const warning of warnings) console.warn(`warning: ${warning}`);
for (const failure of failures) console.error(`error: ${failure}`);
console.log(`${seen.size} requirements, ${[...proofs.keys()].filter((id) => seen.has(id)).length} named by tests`);
if (failures.length > 0) process.exitCode = 1;
