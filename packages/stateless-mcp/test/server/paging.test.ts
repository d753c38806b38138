import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { McpServer, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix, type MatrixClient } from '../matrix.ts';

const info = { name: 'paging', version: '1.0.0' };

/** Names whose order differs between code units, code points, locales and insertion. */
const awkward = [
  'b',
  'B',
  'a',
  '10',
  '9',
  'ä',
  'z',
  '~',
  'a b',
  'é',
  'e\u0301',
  '\uFF5E',
  '\u{1F600}',
  'Ω',
  '__proto__',
];

function serverWith(names: readonly string[], pageSize?: number): McpServer {
  const server = new McpServer(info, pageSize === undefined ? {} : { pageSize });
  for (const name of names) server.registerTool(name, {}, () => '');
  return server;
}

interface Page {
  readonly names: readonly string[];
  readonly cursor: string | undefined;
}

async function page(client: MatrixClient, cursor?: string): Promise<Page> {
  const { tools, nextCursor } = await client.result('tools/list', cursor === undefined ? {} : { cursor });
  return { names: (tools as { name: string }[]).map(({ name }) => name), cursor: nextCursor as string | undefined };
}

/** Walks all pages and lets something happen between them. */
async function walk(client: MatrixClient, between: (index: number) => void = () => {}): Promise<readonly Page[]> {
  const pages = [await page(client)];
  for (let { cursor } = pages[0] as Page; cursor !== undefined; cursor = pages.at(-1)?.cursor) {
    between(pages.length);
    pages.push(await page(client, cursor));
    if (pages.length > 200) throw new Error('the list has no end');
  }
  return pages;
}

/** By code units, as `<` compares. */
function sorted(names: Iterable<string>): readonly string[] {
  return [...names].sort((a, b) => (a < b ? -1 : 1));
}

describeMatrix('pages of lists', (connect) => {
  it('without pageSize there is one page, in the order of code units', async () => {
    const client = await connect(serverWith(awkward));
    expect(await page(client)).toEqual({ names: sorted(awkward), cursor: undefined });
  });

  it.each([1, 2, 4, 5, 14, 15, 16, 1000])('pages of %i have all entries once, in the same order', async (pageSize) => {
    const client = await connect(serverWith(awkward, pageSize));
    const pages = await walk(client);
    expect(pages.flatMap(({ names }) => names)).toEqual(sorted(awkward));
    expect(pages.map(({ names }) => names.length).slice(0, -1)).toEqual(
      Array.from({ length: pages.length - 1 }, () => pageSize),
    );
    expect(pages).toHaveLength(Math.ceil(awkward.length / pageSize));
  });

  it('an empty list is one empty page', async () => {
    const server = new McpServer(info, { pageSize: 2, capabilities: { tools: {} } });
    expect(await page(await connect(server))).toEqual({ names: [], cursor: undefined });
  });

  it('all four lists are paged', async () => {
    const server = new McpServer(info, { pageSize: 1 });
    for (const name of ['a', 'b']) {
      server.registerTool(name, {}, () => '');
      server.registerPrompt(name, {}, () => '');
      server.registerResource(name, `${name}:///1`, {}, () => '');
      server.registerResource(name, new ResourceTemplate(`${name}:///{id}`), {}, () => '');
    }
    const client = await connect(server);
    for (const [method, member] of Object.entries({
      'tools/list': 'tools',
      'prompts/list': 'prompts',
      'resources/list': 'resources',
      'resources/templates/list': 'resourceTemplates',
    })) {
      const first = await client.result(method);
      const second = await client.result(method, { cursor: first.nextCursor });
      expect([first[member], second[member], second.nextCursor]).toMatchObject([
        [{ name: 'a' }],
        [{ name: 'b' }],
        undefined,
      ]);
    }
  });

  it('a cursor outlives its entry, and changes on both sides of it', async () => {
    const server = new McpServer(info, { pageSize: 2 });
    const handles = new Map(['b', 'd', 'f', 'h'].map((name) => [name, server.registerTool(name, {}, () => '')]));
    const client = await connect(server);
    const { names, cursor } = await page(client);
    expect(names).toEqual(['b', 'd']);
    handles.get('d')?.remove();
    handles.get('f')?.disable();
    for (const name of ['a', 'c', 'e', 'g']) server.registerTool(name, {}, () => '');
    expect((await page(client, cursor)).names).toEqual(['e', 'g']);
  });

  it('a cursor works on another instance, whatever its page size', async () => {
    const { cursor } = await page(await connect(serverWith(['a', 'b', 'c', 'd'], 2)));
    expect((await page(await connect(serverWith(['a', 'b', 'c', 'd'], 1)), cursor)).names).toEqual(['c']);
    expect((await page(await connect(serverWith(['a', 'b', 'c', 'd'])), cursor)).names).toEqual(['c', 'd']);
  });

  it('a cursor behind everything is an empty last page', async () => {
    const { cursor } = await page(await connect(serverWith(['y', 'z'], 1)));
    expect(await page(await connect(serverWith(['a'], 1)), cursor)).toEqual({ names: [], cursor: undefined });
  });

  it('pages never repeat or skip what exists throughout, whatever is registered and removed meanwhile', async () => {
    const name = fc.stringMatching(/^[a-c]{1,3}$/);
    const changes = fc.array(fc.record({ add: fc.boolean(), name }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name, { maxLength: 12 }),
        fc.uniqueArray(name, { maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(changes, { maxLength: 20 }),
        async (kept, coming, pageSize, rounds) => {
          const server = new McpServer(info, { pageSize, capabilities: { tools: {} } });
          const stable = new Set(kept);
          for (const each of stable) server.registerTool(each, {}, () => '');
          const passing = new Map<string, { remove(): void }>();
          const change = (add: boolean, each: string): void => {
            if (stable.has(each)) return;
            if (add && !passing.has(each))
              passing.set(
                each,
                server.registerTool(each, {}, () => ''),
              );
            if (add) return;
            passing.get(each)?.remove();
            passing.delete(each);
          };
          for (const each of coming) change(true, each);
          const client = await connect(server);
          const pages = await walk(client, (index) => {
            for (const { add, name: each } of rounds[index - 1] ?? []) change(add, each);
          });
          const seen = pages.flatMap(({ names }) => names);
          expect(seen).toEqual(sorted(new Set(seen)));
          expect(seen.filter((each) => stable.has(each))).toEqual(sorted(stable));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describeMatrix('cursors', (connect) => {
  it('FEAT-01: of another list are −32602', async () => {
    const server = new McpServer(info, { pageSize: 1 });
    const list = () => ({ resources: [{ uri: 'x:///1', name: 'x' }], nextCursor: 'more' });
    for (const name of ['a', 'b']) {
      server.registerTool(name, {}, () => '');
      server.registerPrompt(name, {}, () => '');
      server.registerResource(name, new ResourceTemplate(`${name}:///{id}`, { list }), {}, () => '');
    }
    const client = await connect(server);
    const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
    const cursors = await Promise.all(methods.map(async (method) => (await client.result(method)).nextCursor));
    for (const [index, method] of methods.entries()) {
      for (const [other, cursor] of cursors.entries()) {
        const { message } = await client.request(method, { cursor });
        expect(message.error?.code).toBe(other === index ? undefined : -32602);
      }
    }
  });

  it('FEAT-01: that no list gave out are −32602', async () => {
    const client = await connect(serverWith(['a', 'b', 'c'], 1));
    const { cursor = '' } = await page(client);
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
    const bogus: unknown[] = [
      '',
      'garbage',
      '\u0000',
      'ä',
      cursor.slice(1),
      `${cursor}AAAA`,
      'A'.repeat(100_000),
      encode('tools/list'),
      encode([]),
      encode(['tools/list']),
      encode(['tools/list', 7]),
      encode(['tools/list', null]),
      encode(['tools/list', 'a', 'b', 'c']),
      encode(['tools/list', 'a', null]),
      encode({ 0: 'tools/list', 1: 'a', length: 2 }),
      encode(['prompts/list', 'a']),
      Buffer.from([0xff, 0xfe]).toString('base64'),
      null,
      7,
      true,
      {},
      [cursor],
    ];
    for (const each of bogus) {
      const { message } = await client.request('tools/list', { cursor: each });
      expect(message.error?.code, JSON.stringify(each).slice(0, 80)).toBe(-32602);
    }
  });

  it('are refused where there are no pages too', async () => {
    const client = await connect(serverWith(['a']));
    expect((await client.error('tools/list', { cursor: 'garbage' })).code).toBe(-32602);
  });

  it('any text is −32602 or a page, never anything else', async () => {
    const client = await connect(serverWith(['a', 'b'], 1));
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.base64String(), fc.json());
    await fc.assert(
      fc.asyncProperty(text, async (cursor) => {
        const { message } = await client.request('tools/list', { cursor });
        expect(message.error?.code ?? -32602).toBe(-32602);
      }),
      { numRuns: 100 },
    );
  });
});
