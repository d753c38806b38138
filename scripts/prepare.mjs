// Brings a checkout to the point where its code can run: dependencies installed, library built. Each is done only when
// something it depends on changed, so that the second `npm start` begins at once.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const library = join(root, 'packages', 'stateless-mcp');

const buildStamp = join(root, 'node_modules', '.cache', 'stateless-mcp-build');

/** Runs `npm ci`, by default for the workspace, unless what is installed matches the lock file. */
export function install(folder = root) {
  if (isInstalled(folder)) return;
  say(`installing dependencies (npm ci) in ${folder === root ? 'the workspace' : relative(root, folder)}`);
  // On Windows npm is a script that only a shell can start.
  run('npm', ['ci', '--no-audit', '--no-fund'], folder, process.platform === 'win32');
}

/** The same for a folder with a package of its own, because its dependencies are too heavy for the workspace. */
export function installApart(folder) {
  if (existsSync(join(root, folder, 'package.json'))) install(join(root, folder));
}

/** Compiles the library into its dist/ unless that was made from the same sources. */
export function build() {
  const sources = digestOfSources();
  if (readText(buildStamp) === sources && readText(join(library, 'dist', 'protocol', 'index.js')) !== undefined) return;
  say('building the library (tsc)');
  // What a deleted source once compiled to must not be shipped, so nothing old stays.
  rmSync(join(library, 'dist'), { recursive: true, force: true });
  rmSync(buildStamp, { force: true });
  run(process.execPath, [join(root, 'node_modules', 'tsc7', 'bin', 'tsc'), '-p', library], root);
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, sources);
}

/**
 * Whether node_modules holds what the lock file says. npm keeps its own record of what it installed; comparing contents
 * and not times makes this right after `git checkout` and after `npm install` alike.
 */
function isInstalled(folder) {
  const wanted = readText(join(folder, 'package-lock.json'));
  const present = readText(join(folder, 'node_modules', '.package-lock.json'));
  if (wanted === undefined)
    throw new Error(`${relative(root, folder)} has no package-lock.json: run npm install there and commit it.`);
  if (present === undefined) return false;
  const installed = JSON.parse(present).packages;
  return Object.entries(JSON.parse(wanted).packages).every(([path, entry]) => {
    if (!path.includes('node_modules/')) return true;
    const found = installed[path];
    // Optional packages of other platforms are in the lock file and never in the folder.
    return found === undefined
      ? entry.optional === true || entry.devOptional === true
      : found.version === entry.version;
  });
}

function digestOfSources() {
  const hash = createHash('sha256');
  const files = readdirSync(join(library, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const file of [
    join(root, 'package-lock.json'),
    join(root, 'tsconfig.base.json'),
    join(library, 'tsconfig.json'),
    ...files,
  ]) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function run(command, args, cwd, shell = false) {
  // Both write for people, and the standard output of `npm start` belongs to the program that is started.
  const result = spawnSync(command, args, { cwd, shell, stdio: ['ignore', 2, 2] });
  if (result.error !== undefined) throw new Error(`${command} could not be started: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed (exit code ${result.status}).`);
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
