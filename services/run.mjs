// Runs the tests of this folder, which start services that npm does not install, and end them again.
import { runNodeTests } from '../scripts/run-node-tests.mjs';
import { findNginx } from './nginx.mjs';

/** As build tools say it: what is needed is not here. */
const SKIPPED = 77;

if (findNginx() === undefined) {
  process.stdout.write('nginx is not installed: how servers work behind it is not tested\n');
  process.exitCode = SKIPPED;
} else {
  await runNodeTests(import.meta.dirname);
}
