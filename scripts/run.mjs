// What `npm start`, `npm test` and the other scripts of the workspace do. Plain Node without dependencies, because in a
// fresh clone nothing is installed yet.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, install, root } from './prepare.mjs';
import { runProcess } from './run-process.mjs';

const commands = {
  start,
  async test(names) {
    const { test } = await import('./test.mjs');
    return test(names);
  },
  async build() {
    build();
  },
  format: (args) => tool('oxfmt', 'bin/oxfmt', args),
  lint(args) {
    // Rules that know types read the library's declarations where examples and tests import it by name.
    build();
    return tool('oxlint', 'bin/oxlint', args);
  },
  async api() {
    build();
    const { updateApiReports } = await import('./api-report.mjs');
    updateApiReports();
  },
  requirements: (args) => runProcess(process.execPath, [existing('scripts/requirements.mjs'), ...args]),
  bench(args) {
    build();
    return runProcess(process.execPath, [existing('bench/run.mjs'), ...args]);
  },
};

const [name = '', ...args] = process.argv.slice(2);
try {
  if (!Object.hasOwn(commands, name)) {
    throw new Error(`unknown command "${name}": use one of ${Object.keys(commands).join(', ')}.`);
  }
  install();
  const code = await commands[name](args);
  if (code !== undefined) process.exitCode = code;
} catch (error) {
  process.stderr.write(`npm run ${name}: ${error.message}\n`);
  process.exitCode = 1;
}

/** Serves the example in this very process, so that signals, standard streams and exit code are its own. */
async function start(args) {
  build();
  const main = existing('examples/files/src/main.ts');
  const { register } = await import('tsx/esm/api');
  register();
  process.argv = [process.argv[0], main, ...args];
  await import(pathToFileURL(main).href);
}

function tool(packageName, bin, args) {
  return runProcess(process.execPath, [join(root, 'node_modules', packageName, bin), ...args]);
}

function existing(path) {
  const file = join(root, path);
  if (!existsSync(file)) throw new Error(`${path} does not exist.`);
  return file;
}
