import { describe, expect, it } from 'vitest';
import { mutations } from '../mutation/mutations.ts';
import { runMutated } from './check.ts';
import { wireChecks } from './checks/index.ts';

/** Long enough for a server that does what it should; a wait for what never comes is cut here. */
const TIMEOUT_MS = 1500;

describe.concurrent('a server that violates', () => {
  for (const mutation of mutations) {
    it(`${mutation.id} is noticed: ${mutation.name}`, async () => {
      const checks = wireChecks.filter((check) => check.ids.includes(mutation.id));
      let changes = 0;
      for (const check of checks) {
        const run = await runMutated(check, mutation, TIMEOUT_MS);
        expect(run.proxyFailures).toEqual([]);
        changes += run.changes;
        if (run.failure !== undefined && run.changes > 0) return;
      }
      expect.fail(`unproven: ${checks.length} checks name ${mutation.id}, ${changes} changes were made, all passed`);
    });
  }
});
