import { expect } from 'vitest';
import type { JsonObject } from '../../../src/protocol/json.ts';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { callTool, CAPABILITIES_KEY } from '../messages.ts';

export const capabilityChecks: readonly WireCheck[] = [
  {
    ids: ['CAP-02'],
    title: 'a handler that needs a capability does not run for callers without it',
    async run(endpoint) {
      expectError(await endpoint.post(callTool('sample')), { code: -32021 });
      expect(textOf(expectResult(await endpoint.post(callTool('outcome', { key: 'sample' }))))).toBe('none');
    },
  },
  {
    ids: ['CAP-03', 'T-22', 'T-23'],
    title: 'the error names what is missing, in the shape of client capabilities, and nothing else',
    async run(endpoint) {
      const missing = async (name: string, capabilities: JsonObject): Promise<unknown> => {
        const meta = { [CAPABILITIES_KEY]: capabilities };
        return expectError(await endpoint.post(callTool(name, {}, { id: 'c', meta })), { code: -32021, id: 'c' });
      };
      expect(await missing('sample', {})).toMatchObject({ data: { requiredCapabilities: { sampling: {} } } });
      const both = { requiredCapabilities: { sampling: {}, elicitation: { url: {} } } };
      expect(await missing('ask', {})).toHaveProperty('data', both);
      const urlOnly = { requiredCapabilities: { elicitation: { url: {} } } };
      expect(await missing('ask', { sampling: {} })).toHaveProperty('data', urlOnly);
      expect(await missing('ask', { sampling: {}, elicitation: {} })).toHaveProperty('data', urlOnly);
      expect(await missing('ask', { sampling: {}, elicitation: { form: {} } })).toHaveProperty('data', urlOnly);
    },
  },
  {
    ids: ['CAP-04'],
    title: 'that error has status 400',
    async run(endpoint) {
      expectError(await endpoint.post(callTool('sample')), { code: -32021, status: 400 });
    },
  },
  {
    ids: ['CAP-08', 'T-127'],
    title: 'capabilities that nobody knows are tolerated',
    async run(endpoint) {
      const capabilities = { sampling: { tools: {}, more: 1 }, teleport: { range: [1, 2] }, experimental: { x: {} } };
      const answer = await endpoint.post(callTool('sample', {}, { meta: { [CAPABILITIES_KEY]: capabilities } }));
      expect(textOf(expectResult(answer))).toBe('sampled');
    },
  },
];
