import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { at, callTool, request } from '../messages.ts';

export const featureChecks: readonly WireCheck[] = [
  {
    ids: ['FEAT-01', 'T-77', 'T-118', 'T-130'],
    title: 'what does not exist is a matter of parameters, whatever it is called',
    async run(endpoint) {
      for (const name of ['no such', 'constructor', '__proto__', 'toString']) {
        expectError(await endpoint.post(callTool(name, {}, { id: 'x' })), { code: -32602, id: 'x' });
        const prompt = await endpoint.post(request('prompts/get', { name }, { id: 'x' }));
        expectError(prompt, { code: -32602, id: 'x' });
      }
      for (const uri of ['note://missing', 'other://today', '', '__proto__']) {
        const answer = await endpoint.post(request('resources/read', { uri }, { id: 'x' }));
        expectError(answer, { code: -32602, id: 'x' });
        expect(answer.body).not.toHaveProperty('result');
      }
    },
  },
  {
    ids: ['FEAT-02'],
    title: 'arguments that do not fit, and tools that fail, are results that the model can read',
    async run(endpoint) {
      for (const message of [callTool('echo'), callTool('echo', { text: 7 }), callTool('fail')]) {
        const result = expectResult(await endpoint.post(message));
        expect(result.isError).toBe(true);
        expect(textOf(result)).toMatch(/\S/);
      }
    },
  },
  {
    ids: ['FEAT-04'],
    title: 'structured output comes with its text and fits its schema',
    async run(endpoint) {
      const { tools } = expectResult(await endpoint.post(request('tools/list')));
      for (const tool of Array.isArray(tools) ? tools : []) expect(at(tool, 'inputSchema', 'type')).toBe('object');
      const result = expectResult(await endpoint.post(callTool('sum', { values: [1, 2, 3] })));
      expect(result.structuredContent).toEqual({ sum: 6 });
      expect(JSON.parse(String(textOf(result)))).toEqual({ sum: 6 });
      const misfit = await endpoint.post(callTool('sum', { values: [] }));
      expect(expectResult(misfit)).toMatchObject({ isError: true });
      expect(misfit.text).not.toContain('none');
    },
  },
];
