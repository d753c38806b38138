import { describe, expect, it } from 'vitest';
import { mutations } from '../mutation/mutations.ts';
import { runMutated, WIRE_TIMEOUT_MS } from './check.ts';
import { wireChecks } from './checks/index.ts';
import { WaitExpired } from './exchange.ts';

/** For what never comes. */
const SHORT_TIMEOUT_MS = 1500;

describe.concurrent('a server that violates', () => {
  for (const mutation of mutations) {
    it(`${mutation.id} is noticed: ${mutation.name}`, async () => {
      const checks = wireChecks.filter((check) => check.ids.includes(mutation.id));
      const timeoutMs = mutation.seenByWaiting ? SHORT_TIMEOUT_MS : WIRE_TIMEOUT_MS;
      let changes = 0;
      for (const check of checks) {
        const run = await runMutated(check, mutation, timeoutMs);
        expect(run.proxyFailures).toEqual([]);
        changes += run.changes;
        const isNoticed = run.failure !== undefined && run.changes > 0;
        if (isNoticed && (mutation.seenByWaiting || !(run.failure instanceof WaitExpired))) return;
      }
      expect.fail(
        `unproven: ${checks.length} checks name ${mutation.id}, ${changes} changes were made, none was noticed`,
      );
    });
  }
});

describe.concurrent('a proxy that changes nothing', () => {
  for (const check of wireChecks) {
    it(`is not noticed: ${check.title}`, async () => {
      const run = await runMutated(check, { id: 'none', name: 'nothing' }, WIRE_TIMEOUT_MS);
      if (run.failure !== undefined) throw run.failure;
      expect(run).toMatchObject({ changes: 0, proxyFailures: [] });
    });
  }
});
