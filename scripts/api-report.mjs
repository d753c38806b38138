// The public surface of every subpath, as text under api/. A change of it shows in the diff of a commit and is meant, or
// the test fails. `npm run api` writes the reports; run as a program, this file compares.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { library, root } from './prepare.mjs';

const manifestFile = join(library, 'package.json');
const reports = join(root, 'api');

/** Replaces the reports by those of the present build. */
export function updateApiReports() {
  extract((folder) => {
    rmSync(reports, { recursive: true, force: true });
    cpSync(folder, reports, { recursive: true });
  });
}

function compareApiReports() {
  extract((folder) => {
    if (!existsSync(reports)) throw new Error('There are no API reports: npm run api writes them.');
    const { status, stdout } = spawnSync('git', ['diff', '--no-index', '--no-color', reports, folder], {
      encoding: 'utf8',
    });
    if (status === 0) return;
    throw new Error(
      `${stdout}\nThe public API differs from api/. If that is meant, run "npm run api" and commit the result.`,
    );
  });
}

/** Makes the reports in a temporary folder and hands it to `use`. */
function extract(use) {
  const folder = mkdtempSync(join(tmpdir(), 'stateless-mcp-api-'));
  try {
    const reportFolder = join(folder, 'api');
    mkdirSync(reportFolder);
    const configurations = entryPoints().map(([name, file]) =>
      configure(name, file, reportFolder, join(folder, 'temp')),
    );
    const additionalEntryPoints = configurations.map((configuration) => configuration.mainEntryPointFilePath);
    const compilerState = CompilerState.create(configurations[0], { additionalEntryPoints });
    const unnamed = configurations.flatMap((configuration) => report(configuration, compilerState));
    refuseUnexported(unnamed, reportFolder);
    use(reportFolder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes one report. Returns the names of types that its signatures use and its entry point does not export. */
function report(configuration, compilerState) {
  const unnamed = [];
  const problems = [];
  const { succeeded } = Extractor.invoke(configuration, {
    localBuild: true,
    compilerState,
    messageCallback(message) {
      message.handled = true;
      if (message.messageId === 'ae-forgotten-export') unnamed.push(/"([^"]+)"/.exec(message.text)[1]);
      // What it says about itself (its version, files it wrote) is not about our API.
      else if (message.category !== 'console' && message.logLevel !== 'none') problems.push(message.text);
    },
  });
  if (!succeeded || problems.length > 0)
    throw new Error(`${configuration.mainEntryPointFilePath}:\n${problems.join('\n')}`);
  return unnamed;
}

/** A type of another subpath can be imported from there; one that no subpath exports cannot be named by our users. */
function refuseUnexported(names, reportFolder) {
  const text = readdirSync(reportFolder)
    .map((file) => readFileSync(join(reportFolder, file), 'utf8'))
    .join('\n');
  const exported = new Set(
    [...text.matchAll(/^export (?:abstract |declare )?[a-z]+ ([\w$]+)/gm)].map((match) => match[1]),
  );
  const hidden = [...new Set(names)].filter((name) => !exported.has(name));
  if (hidden.length > 0) {
    throw new Error(`These are part of public signatures, but no subpath exports them: ${hidden.join(', ')}.`);
  }
}

/** Pairs of report name and declaration file; the main entry is called after the folder that it is made in. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  return (
    Object.values(exports)
      // What is imported for its effect alone exports nothing.
      .filter(({ types = '' }) => types.endsWith('/index.d.ts'))
      .map(({ types }) => [basename(dirname(types)), join(library, types)])
  );
}

function configure(name, mainEntryPointFilePath, reportFolder, reportTempFolder) {
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: manifestFile,
    configObject: {
      projectFolder: library,
      mainEntryPointFilePath,
      compiler: { tsconfigFilePath: join(library, 'tsconfig.json') },
      newlineKind: 'lf',
      apiReport: { enabled: true, reportFileName: name, reportFolder, reportTempFolder },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      messages: {
        // Release tags are not used here (what a subpath exports is public), and how doc comments are written is the
        // business of reviewers.
        extractorMessageReporting: { default: { logLevel: 'none' }, 'ae-forgotten-export': { logLevel: 'warning' } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
        compilerMessageReporting: { default: { logLevel: 'error' } },
      },
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    compareApiReports();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
