import { describe, expect, it } from 'vitest';
import { McpClient } from '../../src/client/index.ts';
import { LIST_PROMPTS, LIST_RESOURCES, LIST_TOOLS } from '../../src/protocol/index.ts';
import { rejection, scriptedPeer, type ScriptedPeer } from './scripted-peer.ts';

/** Serves pages by cursor; the first one has none. */
function listOf(...pages: ReadonlyArray<readonly [string | undefined, object]>): {
  readonly client: McpClient;
  readonly peer: ScriptedPeer;
} {
  const byCursor = new Map(pages);
  const peer = scriptedPeer(({ params }) => ({ ...byCursor.get(params.cursor as string | undefined) }));
  return { client: new McpClient(peer), peer };
}

const named = (...names: readonly string[]): object => ({ tools: names.map((name) => ({ name })) });

describe('page by page', () => {
  it('comes as the server cuts it, with the hints of each page', async () => {
    const { client } = listOf(
      [undefined, { ...named('a'), nextCursor: '', ttlMs: 9000, cacheScope: 'public' }],
      ['', { ...named('b', 'c') }],
    );
    const pages: unknown[] = [];
    for await (const page of client.pages(LIST_TOOLS)) pages.push(page);
    expect(pages).toMatchObject([
      { tools: [{ name: 'a' }], nextCursor: '', ttlMs: 9000, cacheScope: 'public' },
      { tools: [{ name: 'b' }, { name: 'c' }], ttlMs: 0, cacheScope: 'private' },
    ]);
  });

  it('asks for a page when it is wanted, and for no more', async () => {
    const peer = scriptedPeer((_, index) => ({ prompts: [{ name: String(index) }], nextCursor: String(index) }));
    const client = new McpClient(peer);
    const pages = client.pages(LIST_PROMPTS);
    expect(peer.requests).toHaveLength(0);
    const seen: number[] = [];
    for await (const { prompts } of pages) {
      seen.push(peer.requests.length);
      if (prompts[0]?.name === '1') break;
    }
    expect(seen).toEqual([1, 2]);
    expect(peer.requests).toHaveLength(2);
  });

  it('keeps nothing and uses nothing that was kept', async () => {
    const { client, peer } = listOf([undefined, { ...named('a'), ttlMs: 9000 }]);
    await client.listTools();
    for await (const _ of client.pages(LIST_TOOLS));
    for await (const _ of client.pages(LIST_TOOLS));
    expect(peer.requests).toHaveLength(3);
  });

  it('ends with the same errors as a whole list', async () => {
    const loop = new McpClient(scriptedPeer(() => ({ resources: [], nextCursor: 'x' })));
    const seen: unknown[] = [];
    const error = await rejection(
      (async () => {
        for await (const page of loop.pages(LIST_RESOURCES)) seen.push(page);
      })(),
    );
    expect(error).toMatchObject({ code: 'invalid_answer' });
    expect(seen).toHaveLength(2);

    const endless = scriptedPeer((_, index) => ({ resources: [], nextCursor: String(index) }));
    const tooMany = await rejection(
      (async () => {
        for await (const _ of new McpClient(endless, { maxPages: 2 }).pages(LIST_RESOURCES));
      })(),
    );
    expect(tooMany).toMatchObject({ code: 'too_large' });
  });

  it('takes the options of a request for each of its pages', async () => {
    const { client, peer } = listOf([undefined, { ...named('a'), nextCursor: 'x' }], ['x', { ...named('b') }]);
    const leaving = new AbortController();
    const pages = client.pages(LIST_TOOLS, { signal: leaving.signal, meta: { 'com.example/trace': 't' } });
    const iterator = pages[Symbol.asyncIterator]();
    await iterator.next();
    leaving.abort();
    expect(await rejection(iterator.next())).toMatchObject({ code: 'aborted' });
    expect(peer.requests).toHaveLength(1);
    expect(peer.requests[0]?.params._meta).toMatchObject({ 'com.example/trace': 't' });
  });
});
