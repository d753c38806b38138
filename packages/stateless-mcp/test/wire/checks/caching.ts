import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult } from '../expectations.ts';
import { at, request } from '../messages.ts';
import { everyResult } from '../sweeps.ts';

const cacheable = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];

export const cachingChecks: readonly WireCheck[] = [
  {
    ids: ['CACHE-01', 'CACHE-02', 'DISC-06'],
    title: 'what may be cached carries hints, what may not carries none',
    async run(endpoint) {
      for (const { method, result } of await everyResult(endpoint)) {
        if (!cacheable.includes(method)) {
          expect(result, method).not.toHaveProperty('ttlMs');
          expect(result, method).not.toHaveProperty('cacheScope');
          continue;
        }
        const { ttlMs, cacheScope } = result;
        expect(Number.isInteger(ttlMs) && Number(ttlMs) >= 0, `${method}: ttlMs ${String(ttlMs)}`).toBe(true);
        expect(['public', 'private'], method).toContain(cacheScope);
      }
    },
  },
  {
    ids: ['CACHE-02'],
    title: 'all pages of a list have the same scope',
    server: 'paged',
    async run(endpoint) {
      const first = expectResult(await endpoint.post(request('tools/list')));
      expect(first).toMatchObject({ cacheScope: 'public', ttlMs: 60_000 });
      let page = first;
      while (typeof page.nextCursor === 'string') {
        page = expectResult(await endpoint.post(request('tools/list', { cursor: page.nextCursor })));
        expect(page.cacheScope).toBe('public');
        expect(Number.isInteger(page.ttlMs)).toBe(true);
      }
      expect(page).not.toBe(first);
    },
  },
  {
    ids: ['CACHE-08'],
    title: 'a public list is still behind the guard, and a tool that was seen still needs its scope',
    server: 'guarded',
    async run(endpoint) {
      const alice = { Authorization: 'Bearer alice' };
      const bob = { Authorization: 'Bearer bob' };
      const listed = expectResult(await endpoint.post(request('tools/list'), alice));
      expect(listed.cacheScope).toBe('public');
      expect((await endpoint.post(request('tools/list'))).status).toBe(401);
      const call = request('tools/call', { name: 'admin', arguments: {} });
      expectResult(await endpoint.post(call, alice));
      expect((await endpoint.post(call, bob)).status).toBe(403);
    },
  },
  {
    ids: ['CACHE-10'],
    title: 'tools are always listed in the same order',
    async run(endpoint) {
      const names = async (id: number): Promise<readonly unknown[]> => {
        const { tools } = expectResult(await endpoint.post(request('tools/list', {}, { id })));
        return Array.isArray(tools) ? tools.map((tool) => at(tool, 'name')) : [];
      };
      const first = await names(1);
      expect(first).toEqual([...first].sort());
      for (const id of [2, 3, 4]) expect(await names(id)).toEqual(first);
    },
  },
  {
    ids: ['FEAT-01', 'T-129'],
    title: 'a cursor that is not one of this list is refused',
    server: 'paged',
    async run(endpoint) {
      const { nextCursor } = expectResult(await endpoint.post(request('tools/list')));
      for (const cursor of ['', 'no such cursor', `${String(nextCursor)}x`, '__proto__', 'é']) {
        expectError(await endpoint.post(request('tools/list', { cursor }, { id: 'c' })), { code: -32602, id: 'c' });
      }
      expectError(await endpoint.post(request('tools/list', { cursor: 7 })), { code: -32602 });
      expectError(await endpoint.post(request('prompts/list', { cursor: String(nextCursor) })), { code: -32602 });
    },
  },
];
