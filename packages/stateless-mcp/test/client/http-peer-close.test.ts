import { describe, expect, it } from 'vitest';
import { deferred } from '../../src/protocol/deferred.ts';
import { ask, callTool, CONTENT, HTTP_CLIENTS, expectLocalError, openPeer } from './http-peer-harness.ts';
import { type Answer, scriptedServer } from './scripted-server.ts';

describe.each(HTTP_CLIENTS)('close() over $name', (client) => {
  it('ends what is open, in whatever form its answer was to come, and closes the connections', async () => {
    const server = await scriptedServer((answer, { message }) => {
      if (message.method === 'subscriptions/listen') answer.stream();
    });
    const peer = openPeer(client, server.url);
    const calls = [callTool(peer, 'a'), ask(peer, 'tools/list'), ask(peer, 'subscriptions/listen')];
    for (const call of calls) call.catch(() => undefined);
    await server.received(2);
    await peer.close();
    const errors = await Promise.all(calls.map(async (call) => expectLocalError(call, 'closed')));
    expect(errors.map(({ maybeExecuted }) => maybeExecuted)).toEqual([true, true, true]);
    expect(errors[0]?.message).toContain(server.url);
    await expect(Promise.all(server.requests.map(({ over }) => over))).resolves.toEqual([true, true, true]);
  });

  it('keeps a request from being sent whose headers are still being made', async () => {
    const server = await scriptedServer((answer) => answer.result(CONTENT));
    const headers = deferred<Record<string, string>>();
    const peer = openPeer(client, server.url, { headers: async () => headers.promise });
    const call = callTool(peer, 'a');
    call.catch(() => undefined);
    await peer.close();
    await expectLocalError(call, 'closed');
    headers.resolve({});
    await new Promise(setImmediate);
    expect(server.requests).toHaveLength(0);
  });

  it('refuses what comes after it, and may come again', async () => {
    const server = await scriptedServer((answer) => answer.result(CONTENT));
    const peer = openPeer(client, server.url);
    await callTool(peer, 'a');
    await peer.close();
    await peer.close();
    const error = await expectLocalError(callTool(peer, 'a'), 'closed');
    expect(error.maybeExecuted).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  it('happens by `await using`', async () => {
    const server = await scriptedServer(() => undefined);
    let call: Promise<unknown> | undefined;
    {
      await using peer = openPeer(client, server.url);
      call = callTool(peer, 'a');
      call.catch(() => undefined);
      await server.received(0);
    }
    await expectLocalError(call, 'closed');
  });
});

describe.each(HTTP_CLIENTS)('connections over $name', (client) => {
  const inSequence = async (script: (answer: Answer, index: number) => void): Promise<number> => {
    const server = await scriptedServer((answer, { index }) => script(answer, index));
    const peer = openPeer(client, server.url);
    for (let call = 0; call < 20; call++) await callTool(peer, 'a').catch(() => undefined);
    expect(server.requests).toHaveLength(20);
    return server.connections;
  };

  it('are used again after a JSON body', async () => {
    expect(await inSequence((answer) => answer.result(CONTENT))).toBeLessThanOrEqual(2);
  });

  it('are used again after a stream that ended', async () => {
    // The next call may come before the end of the stream does; then it needs another.
    expect(await inSequence((answer) => answer.stream().finish(CONTENT))).toBeLessThanOrEqual(4);
  });

  it('are used again after a stream that ended a little later than its result', async () => {
    const server = await scriptedServer(async (answer) => {
      answer.stream().event(answer.resultMessage(CONTENT));
      await new Promise((resolve) => setTimeout(resolve, 20));
      answer.response.end();
    });
    const peer = openPeer(client, server.url);
    for (let call = 0; call < 5; call++) {
      await callTool(peer, 'a');
      await expect(server.requests[call]?.over).resolves.toBe(false);
      // The end of the stream has left the server, and needs a moment to get here.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it('are used again after errors with a short body', async () => {
    const statuses = [401, 403, 404, 429, 500, 502, 503];
    const connections = await inSequence((answer, index) =>
      answer.send(statuses[index % statuses.length] ?? 500, { 'Content-Type': 'text/html' }, '<h1>No</h1>'),
    );
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('are used again after a redirect', async () => {
    const server = await scriptedServer((answer, { path }) => {
      if (path === '/mcp') answer.send(307, { Location: '/there' });
      else answer.result(CONTENT);
    });
    const peer = openPeer(client, server.url);
    for (let call = 0; call < 10; call++) await callTool(peer, 'a');
    expect(server.connections).toBeLessThanOrEqual(2);
  });
});

describe.each(HTTP_CLIENTS)('a full channel over $name', (client) => {
  it('stops reading, and so the server, until there is room', async () => {
    const events = 512;
    let sent = 0;
    const server = await scriptedServer(async (answer) => {
      answer.stream();
      const data = 'x'.repeat(64 * 1024);
      for (; sent < events; sent++) {
        const message = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } };
        const hasRoom = answer.response.write(`data: ${JSON.stringify(message)}\n\n`);
        if (!hasRoom) await new Promise((resolve) => answer.response.once('drain', resolve));
      }
      answer.finish(CONTENT);
    });
    const room = deferred();
    let heard = 0;
    const notify = (): Promise<void> | void => {
      heard++;
      return heard === 1 ? room.promise : undefined;
    };
    const call = callTool(openPeer(client, server.url), 'a', {}, { notify });
    // Until nothing moves any more: what the two ends of the connection hold is full.
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = sent > 0 && sent === before;
          before = sent;
          return isStill;
        },
        { interval: 200, timeout: 20_000 },
      )
      .toBe(true);
    expect(heard).toBe(1);
    expect(sent).toBeLessThan(events / 2);
    room.resolve();
    await call;
    expect(heard).toBe(events);
  });
});
