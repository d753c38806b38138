import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { at, callTool, CAPABILITIES_KEY, CLIENT_INFO_KEY, listen, request } from '../messages.ts';

export const statelessnessChecks: readonly WireCheck[] = [
  {
    ids: ['ST-01', 'META-07', 'T-24'],
    title: 'nothing is remembered from an earlier request of the connection',
    async run(endpoint) {
      const connection = endpoint.overOneConnection();
      const declared = { meta: { [CAPABILITIES_KEY]: { sampling: {} } } };
      expectResult(await connection.post(callTool('sample', {}, declared)));
      expectError(await connection.post(callTool('sample')), { code: -32021, status: 400 });
      expectResult(await connection.post(callTool('sample', {}, declared)));
      const bare = await connection.post(request('tools/list', {}, { meta: { [CAPABILITIES_KEY]: undefined } }));
      expectError(bare, { code: -32602, status: 400 });
    },
  },
  {
    ids: ['ST-03', 'T-24'],
    title: 'callers who share a connection are told apart by what each request says',
    async run(endpoint) {
      const connection = endpoint.overOneConnection();
      for (const name of ['first', 'second', undefined, 'first']) {
        const clientInfo = name === undefined ? undefined : { name, version: '1' };
        const answer = await connection.post(callTool('client', {}, { meta: { [CLIENT_INFO_KEY]: clientInfo } }));
        expect(textOf(expectResult(answer))).toBe(name ?? 'nobody');
      }
    },
  },
  {
    ids: ['ST-02'],
    title: 'a cursor works on every connection',
    server: 'paged',
    async run(endpoint) {
      const names: unknown[] = [];
      let cursor: unknown;
      do {
        const page = expectResult(
          await endpoint.overOneConnection().post(request('tools/list', typeof cursor === 'string' ? { cursor } : {})),
        );
        names.push(...toolNames(page));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(names).toEqual(['tool-1', 'tool-2', 'tool-3', 'tool-4', 'tool-5']);
    },
  },
  {
    ids: ['ST-04'],
    title: 'state is found by its handle, on every connection',
    async run(endpoint) {
      const open = async (): Promise<string> =>
        String(textOf(expectResult(await endpoint.post(callTool('counter_open')))));
      const add = async (handle: string): Promise<unknown> =>
        textOf(expectResult(await endpoint.overOneConnection().post(callTool('counter_add', { handle }))));
      const [one, other] = [await open(), await open()];
      expect(await add(one)).toBe('1');
      expect(await add(one)).toBe('2');
      expect(await add(other)).toBe('1');
    },
  },
  {
    ids: ['ST-05', 'T-05'],
    title: 'many callers with the same id at the same time each get their own answer',
    async run(endpoint) {
      const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
      const answers = await Promise.all(
        texts.map((text) => endpoint.post(callTool('echo', { text }, { id: 1, meta: { progressToken: 1 } }))),
      );
      expect(answers.map((answer) => textOf(expectResult(answer)))).toEqual(texts);
    },
  },
  {
    ids: ['ST-07', 'T-43'],
    title: 'listen streams with the same id share nothing',
    async run(endpoint) {
      const tools = await endpoint.open(listen({ toolsListChanged: true }, { id: 7 }));
      const prompts = await endpoint.open(listen({ promptsListChanged: true }, { id: 7 }));
      await Promise.all([tools.next(), prompts.next()]);
      await endpoint.post(callTool('change', { what: 'tools' }));
      expect(await tools.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
      tools.leave();
      await endpoint.post(callTool('change', { what: 'prompts' }));
      expect(await prompts.next()).toMatchObject({ method: 'notifications/prompts/list_changed' });
      await prompts.quiet(50);
      prompts.leave();
    },
  },
  {
    ids: ['ST-08', 'T-128'],
    title: 'lists are the same on every connection and after any call',
    async run(endpoint) {
      const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
      const readAll = (): Promise<readonly unknown[]> =>
        Promise.all(methods.map(async (method) => expectResult(await endpoint.post(request(method)))));
      const before = await readAll();
      const connection = endpoint.overOneConnection();
      await connection.post(callTool('echo', { text: 'x' }));
      await connection.post(request('resources/read', { uri: 'note://today' }));
      const again = await Promise.all(
        methods.map(async (method) => expectResult(await connection.post(request(method)))),
      );
      expect(again).toEqual(before);
      expect(await readAll()).toEqual(before);
    },
  },
  {
    ids: ['ST-09', 'RM-07', 'T-84'],
    title: 'there is no session: none is minted, and one that is claimed means nothing',
    async run(endpoint) {
      for (const headers of [{}, { 'Mcp-Session-Id': 'abc' }]) {
        for (const message of [request('server/discover'), callTool('echo', { text: 'x' }), listen({})]) {
          const answer = await endpoint.post(message, headers);
          expectResult(answer);
          expect(answer.headers).not.toHaveProperty('mcp-session-id');
        }
      }
    },
  },
];

function toolNames(page: unknown): readonly unknown[] {
  const tools = at(page, 'tools');
  return Array.isArray(tools) ? tools.map((tool) => at(tool, 'name')) : [];
}
