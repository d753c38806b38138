import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import type { WireEndpoint } from '../endpoint.ts';
import { expectResult, textOf } from '../expectations.ts';
import { callTool, listen, notification, request } from '../messages.ts';

export const cancellationChecks: readonly WireCheck[] = [
  {
    ids: ['CANC-02', 'CANC-04', 'T-55', 'T-56'],
    title: 'a caller that leaves before its JSON answer stops the handler',
    async run(endpoint) {
      const caller = new AbortController();
      const held = endpoint.open(callTool('hold', { key: 'json' }), { Accept: 'application/json' }, caller.signal);
      const left = expect(held).rejects.toThrow();
      await untilOutcome(endpoint, 'json', 'running');
      caller.abort();
      await left;
      await untilOutcome(endpoint, 'json', 'aborted');
    },
  },
  {
    ids: ['CANC-02', 'CANC-04'],
    title: 'a caller that leaves its event stream stops the handler',
    async run(endpoint) {
      const stream = await endpoint.open(callTool('hold', { key: 'sse' }, { meta: { progressToken: 't' } }));
      await stream.next();
      stream.leave();
      await untilOutcome(endpoint, 'sse', 'aborted');
    },
  },
  {
    ids: ['CANC-05', 'T-57'],
    title: 'what a handler still sends after the caller left harms nobody',
    async run(endpoint) {
      const stream = await endpoint.open(callTool('hold', { key: 'late' }, { id: 4, meta: { progressToken: 't' } }));
      await stream.next();
      stream.leave();
      await untilOutcome(endpoint, 'late', 'aborted');
      const answer = await endpoint.post(callTool('count', { values: [1] }, { id: 4, meta: { progressToken: 't' } }));
      expect(textOf(expectResult(answer))).toBe('counted');
      expect(answer.messages).toHaveLength(2);
    },
  },
  {
    ids: ['CANC-07', 'T-52', 'T-53', 'T-54'],
    title: 'a posted cancel is accepted and cancels nothing, whatever id it names',
    async run(endpoint) {
      const held = endpoint.post(callTool('hold', { key: 'kept' }, { id: 1 }));
      await untilOutcome(endpoint, 'kept', 'running');
      for (const requestId of [1, '1', 'unknown', 99]) {
        const answer = await endpoint.post(notification('notifications/cancelled', { requestId, reason: 'test' }));
        expect(answer.status).toBe(202);
        expect(answer.text).toBe('');
      }
      await endpoint.post(callTool('release', { key: 'kept' }));
      expect(textOf(expectResult(await held))).toBe('released');
    },
  },
  {
    ids: ['CANC-08'],
    title: 'a malformed cancel is ignored',
    async run(endpoint) {
      for (const params of [undefined, {}, { requestId: null }, { requestId: { a: 1 } }, { requestId: 1, reason: 7 }]) {
        const answer = await endpoint.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
        expect(answer.status).toBe(202);
        expect(answer.text).toBe('');
      }
    },
  },
  {
    ids: ['CANC-10'],
    title: 'leaving at the moment of the answer does no harm',
    async run(endpoint) {
      for (let round = 0; round < 25; round++) {
        const stream = await endpoint.open(
          callTool('count', { values: [1, 2, 3] }, { id: 1, meta: { progressToken: 1 } }),
        );
        if (round % 2 === 0) await stream.next();
        stream.leave();
        const plain = endpoint.open(callTool('echo', { text: 'x' }, { id: 1 }));
        (await plain).leave();
      }
      expect(textOf(expectResult(await endpoint.post(callTool('echo', { text: 'alive' }))))).toBe('alive');
      expectResult(await endpoint.post(request('tools/list')));
    },
  },
  {
    ids: ['CANC-11', 'T-33'],
    title: 'on HTTP the end of a listen stream needs no cancel',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ toolsListChanged: true }));
      await stream.next();
      endpoint.drain();
      const answer = await stream.end();
      const methods = answer.messages.map((message) => message.method ?? 'response');
      expect(methods).toEqual(['notifications/subscriptions/acknowledged', 'response']);
    },
  },
];

async function untilOutcome(endpoint: WireEndpoint, key: string, outcome: string): Promise<void> {
  const deadline = performance.now() + endpoint.timeoutMs;
  let current: unknown;
  while (performance.now() < deadline) {
    current = textOf(expectResult(await endpoint.post(callTool('outcome', { key }))));
    if (current === outcome) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(current).toBe(outcome);
}
