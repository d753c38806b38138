// Runs the tests of this folder, in which this library talks to peers that others have written.
import { runNodeTests } from '../scripts/run-node-tests.mjs';

await runNodeTests(import.meta.dirname);
