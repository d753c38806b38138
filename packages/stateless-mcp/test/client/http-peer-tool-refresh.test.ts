import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { HEADER_MISMATCH, type Tool } from '../../src/protocol/index.ts';
import {
  ask,
  callTool,
  CONTENT,
  HTTP_CLIENTS,
  type HttpClient,
  expectLocalError,
  openPeer,
  expectRemoteError,
  type TestPeer,
} from './http-peer-harness.ts';
import { type Answer, type Received, scriptedServer, type ScriptedServer } from './scripted-server.ts';

const forecast: Tool = {
  name: 'forecast',
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
};

interface Mismatching extends Pick<ScriptedServer, 'requests' | 'received'> {
  readonly peer: TestPeer;
  readonly methods: () => readonly string[];
}

/** Refuses calls that do not mirror their region, as the specification says, and hands out `tools/list` as it is told. */
async function mismatching(
  client: HttpClient,
  list: (answer: Answer, request: Received) => void | Promise<void> = (answer) => answer.result({ tools: [forecast] }),
): Promise<Mismatching> {
  const server = await scriptedServer(async (answer, request) => {
    if (request.message.method === 'tools/list') return list(answer, request);
    if (request.headers['mcp-param-region'] !== undefined) return answer.result(CONTENT);
    return refuse(answer);
  });
  return {
    requests: server.requests,
    received: server.received,
    peer: openPeer(client, server.url),
    methods: () => server.requests.map(({ message }) => message.method),
  };
}

function refuse(answer: Answer): void {
  answer.error(HEADER_MISMATCH, 'Header mismatch: Mcp-Param-Region: expected "eu", got no header', { status: 400 });
}

describe.each(HTTP_CLIENTS)('a refused header over $name', (client) => {
  it('HDR-21: leads to reading the tools again and to one more attempt under a new id', async () => {
    const { peer, requests, methods } = await mismatching(client);
    await expect(callTool(peer, 'forecast', { region: 'eu' })).resolves.toMatchObject(CONTENT);
    expect(methods()).toEqual(['tools/call', 'tools/list', 'tools/call']);
    expect(requests[2]?.headers['mcp-param-region']).toBe('eu');
    expect(requests[2]?.message.params).toEqual(requests[0]?.message.params);
    expect(new Set(requests.map(({ message }) => message.id)).size).toBe(3);
  });

  it('HDR-21: reads every page, because the tool may be on any', async () => {
    const { peer, requests, methods } = await mismatching(client, (answer, { message }) => {
      const pages = [undefined, '', 'last'];
      const page = pages.indexOf(message.params.cursor as string | undefined);
      // The empty string is a cursor too.
      answer.result({ tools: page === 2 ? [forecast] : [], nextCursor: pages[page + 1] });
    });
    await callTool(peer, 'forecast', { region: 'eu' });
    expect(methods()).toEqual(['tools/call', 'tools/list', 'tools/list', 'tools/list', 'tools/call']);
    expect(requests.slice(1, 4).map(({ message }) => message.params.cursor)).toEqual([undefined, '', 'last']);
  });

  it('HDR-21: ends at a cursor that comes again', async () => {
    const { peer, methods } = await mismatching(client, (answer) => {
      answer.result({ tools: [forecast], nextCursor: 'again' });
    });
    await callTool(peer, 'forecast', { region: 'eu' });
    expect(methods()).toEqual(['tools/call', 'tools/list', 'tools/list', 'tools/call']);
  });

  it('HDR-21: is read again once for all calls that are under way', async () => {
    const { peer, methods } = await mismatching(client);
    const calls = Array.from({ length: 5 }, async () => callTool(peer, 'forecast', { region: 'eu' }));
    await Promise.all(calls);
    expect(methods().filter((method) => method === 'tools/list')).toHaveLength(1);
    expect(methods().filter((method) => method === 'tools/call')).toHaveLength(10);
  });

  it('HDR-21: a call that was sent before the tools were read, and is refused afterwards, only tries again', async () => {
    const held: Answer[] = [];
    const server = await scriptedServer((answer, { message, headers }) => {
      if (message.method === 'tools/list') answer.result({ tools: [forecast] });
      else if (headers['mcp-param-region'] !== undefined) answer.result(CONTENT);
      else if (message.params.name === 'forecast' && held.length === 0) held.push(answer);
      else refuse(answer);
    });
    const peer = openPeer(client, server.url);
    const early = callTool(peer, 'forecast', { region: 'eu' });
    await server.received(0);
    await callTool(peer, 'forecast', { region: 'us' });
    for (const answer of held) refuse(answer);
    await early;
    const methods = server.requests.map(({ message }) => message.method);
    expect(methods).toEqual(['tools/call', 'tools/call', 'tools/list', 'tools/call', 'tools/call']);
  });

  it('HDR-21: that is refused again is an error, whatever the list says about how long it is valid', async () => {
    const server = await scriptedServer((answer, { message }) => {
      if (message.method === 'tools/list') answer.result({ tools: [forecast], ttlMs: 0, cacheScope: 'private' });
      else refuse(answer);
    });
    const error = await expectRemoteError(callTool(openPeer(client, server.url), 'forecast', { region: 'eu' }), -32020);
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining('Mcp-Param-Region') as string });
    expect(server.requests.map(({ message }) => message.method)).toEqual(['tools/call', 'tools/list', 'tools/call']);
  });

  it('is not read again for other methods', async () => {
    const server = await scriptedServer(refuse);
    await expectRemoteError(ask(openPeer(client, server.url), 'prompts/get', { name: 'summary' }), -32020);
    expect(server.requests).toHaveLength(1);
  });

  it('is raised as it was when the tools cannot be read, and the log says why', async () => {
    const { peer, methods } = await mismatching(client, (answer) => answer.send(500));
    await expectRemoteError(callTool(peer, 'forecast', { region: 'eu' }), -32020);
    expect(methods()).toEqual(['tools/call', 'tools/list']);
    expect(peer.log.entries.map(({ level }) => level)).toEqual(['warn']);
  });

  it('tells the caller nothing of what the list brings on its way', async () => {
    const { peer } = await mismatching(client, (answer, { message }) => {
      answer.stream().notification('notifications/message', { level: 'info', data: 'listing' });
      answer.notification('notifications/progress', { progressToken: message.id, progress: 1 });
      answer.finish({ tools: [forecast] });
    });
    const heard: unknown[] = [];
    await callTool(peer, 'forecast', { region: 'eu' }, { wantsProgress: true, notify: (one) => void heard.push(one) });
    expect(heard).toEqual([]);
  });
});

describe.each(HTTP_CLIENTS)('giving up while the tools are read again over $name', (client) => {
  /** A call that waits for a list, which waits for the test. */
  async function waiting(signal?: AbortSignal) {
    const lists: Answer[] = [];
    const server = await mismatching(client, (answer) => void lists.push(answer));
    const call = callTool(server.peer, 'forecast', { region: 'eu' }, signal === undefined ? {} : { signal });
    call.catch(() => undefined);
    const list = await server.received(1);
    return { ...server, lists, call, list };
  }

  it('settles at once, says that nothing was carried out, and ends the reading', async () => {
    const leaver = new AbortController();
    const { call, list } = await waiting(leaver.signal);
    leaver.abort(new Error('enough'));
    const error = await expectLocalError(call, 'aborted');
    expect(error).toMatchObject({ maybeExecuted: false, phase: 'call', cause: { message: 'enough' } });
    await expect(list.over).resolves.toBe(true);
    expect(getEventListeners(leaver.signal, 'abort')).toHaveLength(0);
  });

  it('takes nothing away from other calls', async () => {
    const leaver = new AbortController();
    const { peer, call, lists } = await waiting(leaver.signal);
    const other = callTool(peer, 'forecast', { region: 'us' });
    leaver.abort();
    await expectLocalError(call, 'aborted');
    const timer = setInterval(() => {
      for (const answer of lists.splice(0)) answer.result({ tools: [forecast] });
    }, 5);
    await expect(other).resolves.toMatchObject(CONTENT);
    clearInterval(timer);
  });

  it('close() ends it with `closed`', async () => {
    const { peer, call } = await waiting();
    await peer.close();
    const error = await expectLocalError(call, 'closed');
    expect(error.maybeExecuted).toBe(false);
  });
});
