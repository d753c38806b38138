import { describe, it } from 'vitest';
import { runCheck } from './check.ts';
import { wireChecks } from './checks/index.ts';

describe('on the wire', () => {
  for (const check of wireChecks) {
    it(`${check.ids.join(', ')}: ${check.title}`, () => runCheck(check));
  }
});
