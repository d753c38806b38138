// Looks at the library as those see it who install it: packs it, installs the tarball into an empty folder, and there
// imports, requires, compiles against and bundles every subpath. Ends at the first thing that is wrong.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { library, root } from './prepare.mjs';

const manifest = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'));
const subpaths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
const specifiers = subpaths.map((path) => path.replace('.', manifest.name));
// These run wherever there is Fetch; the others stand on modules of Node.
const neutralSubpaths = ['protocol', 'schema', 'server', 'client', 'bus', 'http', 'testing'];
const neutralSpecifiers = neutralSubpaths.map((name) => `${manifest.name}/${name}`);

const folder = mkdtempSync(join(tmpdir(), 'stateless-mcp-package-'));
try {
  const tarball = pack();
  tool('publint/src/cli.js', ['run', tarball, '--strict']);
  tool('@arethetypeswrong/cli/dist/index.js', [
    tarball,
    '--profile',
    'esm-only',
    '--no-definitely-typed',
    '--no-emoji',
  ]);
  const consumer = installTarball(tarball);
  load(consumer);
  compile(consumer);
  await bundleForRuntimes(consumer);
  tool('knip/bin/knip.js', ['--no-progress']);
  // Again without the tests, because what only they import is no dependency of the library.
  tool('knip/bin/knip.js', [
    '--no-progress',
    '--production',
    '--dependencies',
    '--workspace',
    'packages/stateless-mcp',
  ]);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack() {
  const output = run('npm', ['pack', '--json', '--pack-destination', folder], library);
  const [{ filename, files, size }] = JSON.parse(output);
  const unexpected = files
    .map((file) => file.path)
    .filter((path) => !/^(dist\/.+\.(js|d\.ts)|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/.test(path));
  if (unexpected.length > 0) throw new Error(`the package contains what it should not: ${unexpected.join(', ')}.`);
  for (const needed of ['README.md', 'LICENSE']) {
    if (!files.some((file) => file.path === needed)) throw new Error(`the package has no ${needed}.`);
  }
  console.log(`packed ${files.length} files, ${Math.round(size / 1000)} kB`);
  return join(folder, filename);
}

function installTarball(tarball) {
  const consumer = join(folder, 'consumer');
  mkdirSync(consumer);
  write(consumer, 'package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  run('npm', ['install', tarball, ...options], consumer);
  return consumer;
}

/** `require` is what CommonJS programs have; Node resolves it to the same ES modules, so both must see the same names. */
function load(consumer) {
  write(
    consumer,
    'load.cjs',
    // The guard would take standard output away from this program.
    `for (const specifier of ${JSON.stringify(specifiers.filter((specifier) => !specifier.endsWith('/guard')))}) {
       const required = Object.keys(require(specifier));
       import(specifier).then((imported) => {
         const names = Object.keys(imported).filter((name) => name !== 'module.exports');
         if (names.some((name) => !required.includes(name))) throw new Error(specifier + ' differs between import and require');
         console.log('loads by import and require: ' + specifier + ' (' + names.length + ' names)');
       });
     }`,
  );
  console.log(run(process.execPath, ['load.cjs'], consumer).trimEnd());
}

/** The declarations must hold in strangers' projects, without skipLibCheck: one for Node, one for a Fetch runtime. */
function compile(consumer) {
  const node = { module: 'node16', lib: ['es2023'], types: ['node'] };
  const fetch = {
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
    types: [],
  };
  compileWith('a Node project (moduleResolution node16)', specifiers, node);
  compileWith('a Fetch project (moduleResolution bundler)', neutralSpecifiers, fetch);

  function compileWith(project, imported, options) {
    const common = { target: 'es2023', strict: true, noEmit: true, typeRoots: [join(root, 'node_modules', '@types')] };
    write(
      consumer,
      'tsconfig.json',
      JSON.stringify({ compilerOptions: { ...common, ...options }, files: ['consumer.ts'] }),
    );
    write(
      consumer,
      'consumer.ts',
      imported.map((name, index) => `export * as path${index} from '${name}';`).join('\n'),
    );
    tool('typescript/bin/tsc', ['-p', consumer]);
    console.log(`compiles in ${project}`);
  }
}

async function bundleForRuntimes(consumer) {
  for (const [runtime, platform, conditions] of [
    ['browser', 'browser', ['browser']],
    ['workerd', 'neutral', ['workerd', 'worker', 'browser']],
  ]) {
    const sizes = [];
    // There the main entry is another one.
    for (const name of [manifest.name, ...neutralSpecifiers]) {
      const result = await bundle({
        stdin: { contents: `export * from '${name}'`, resolveDir: consumer },
        bundle: true,
        minify: true,
        format: 'esm',
        target: 'es2022',
        platform,
        conditions,
        mainFields: ['module', 'main'],
        write: false,
        logLevel: 'silent',
      }).catch((error) => {
        throw new Error(`${name} cannot be bundled for ${runtime}: ${error.message}`);
      });
      if (result.warnings.length > 0) throw new Error(`${name} for ${runtime}: ${result.warnings[0].text}`);
      sizes.push(
        `${name.slice(manifest.name.length)} ${(gzipSync(result.outputFiles[0].contents).length / 1000).toFixed(1)} kB`,
      );
    }
    console.log(`bundles for ${runtime} (minified, gzip): ${sizes.join(', ')}`);
  }
}

function tool(script, args) {
  return run(process.execPath, [join(root, 'node_modules', script), ...args], root);
}

/** Runs a program and returns its standard output, which is shown only when it fails: what passed needs no page of text. */
function run(command, args, cwd) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: command === 'npm' && process.platform === 'win32',
    timeout: 60_000,
  });
  if (error !== undefined) throw new Error(`${command} ${args.join(' ')}: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed (exit code ${status}):\n${stdout}${stderr}`);
  return stdout;
}

function write(directory, name, text) {
  writeFileSync(join(directory, name), `${text}\n`);
}
