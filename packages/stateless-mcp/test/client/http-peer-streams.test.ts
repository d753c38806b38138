import { describe, expect, it } from 'vitest';
import { deferred } from '../../src/protocol/deferred.ts';
import {
  type AnyNotification,
  ask,
  callTool,
  CONTENT,
  failureOf,
  HTTP_CLIENTS,
  expectLocalError,
  openPeer,
} from './http-peer-harness.ts';
import { type Answer, scriptedServer } from './scripted-server.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** Notifications in their order, those of the request and those of nobody apart. */
function recorder() {
  const own: AnyNotification[] = [];
  const unattributed: AnyNotification[] = [];
  return {
    own,
    unattributed,
    notify: (notification: AnyNotification) => void own.push(notification),
    other: (notification: AnyNotification) => void unattributed.push(notification),
  };
}

describe.each(HTTP_CLIENTS)('notifications over $name', (client) => {
  it('progress and logs go to their request, without what belongs to this hop', async () => {
    const server = await scriptedServer((answer, { message }) => {
      const { progressToken } = message.params._meta;
      answer.stream().notification('notifications/progress', { progressToken, progress: 1, total: 2, message: 'half' });
      answer.notification('notifications/message', { level: 'info', data: { a: 1 }, logger: 'l', _meta: { k: 'v' } });
      answer.notification('notifications/progress', { progressToken: String(progressToken), progress: 2 });
      answer.finish(CONTENT);
    });
    const peer = openPeer(client, server.url);
    const { own, unattributed, notify, other } = recorder();
    peer.on('unattributed', other);
    await callTool(peer, 'a', {}, { wantsProgress: true, notify });
    expect(own).toEqual([
      { method: 'notifications/progress', params: { progress: 1, total: 2, message: 'half' } },
      { method: 'notifications/message', params: { level: 'info', data: { a: 1 }, logger: 'l', _meta: { k: 'v' } } },
      { method: 'notifications/progress', params: { progress: 2 } },
    ]);
    expect(unattributed).toEqual([]);
  });

  it('those that belong to no request go to the listeners of the peer', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().notification('notifications/progress', { progressToken: 'foreign', progress: 1 });
      answer.notification('notifications/progress', { progress: 1 });
      answer.notification('notifications/tools/list_changed');
      answer.notification('notifications/resources/updated', { uri: 'a:b', _meta: { [SUBSCRIPTION]: 9 } });
      answer.notification('notifications/com.example/news', { progressToken: 'data here' });
      answer.finish(CONTENT);
    });
    const peer = openPeer(client, server.url);
    const { own, unattributed, notify, other } = recorder();
    const stop = peer.on('unattributed', other);
    await callTool(peer, 'a', {}, { wantsProgress: true, notify });
    expect(own).toEqual([]);
    expect(unattributed).toEqual([
      { method: 'notifications/progress', params: { progress: 1 } },
      { method: 'notifications/progress', params: { progress: 1 } },
      { method: 'notifications/tools/list_changed' },
      { method: 'notifications/resources/updated', params: { uri: 'a:b' } },
      { method: 'notifications/com.example/news', params: { progressToken: 'data here' } },
    ]);
    stop();
    await callTool(peer, 'a');
    expect(unattributed).toHaveLength(5);
  });

  it('changes go to the listen request that they name, in order, the acknowledgement first', async () => {
    const server = await scriptedServer((answer, { message }) => {
      const tag = (id: unknown) => ({ _meta: { [SUBSCRIPTION]: id } });
      answer.stream().notification('notifications/subscriptions/acknowledged', {
        ...tag(message.id),
        notifications: { toolsListChanged: true },
      });
      answer.notification('notifications/tools/list_changed', tag(message.id));
      // D12: some servers made strings of ids. Untagged ones can be of no other subscription here.
      answer.notification('notifications/resources/updated', { ...tag(String(message.id)), uri: 'a:b' });
      answer.notification('notifications/prompts/list_changed');
      answer.notification('notifications/tools/list_changed', tag(4711));
      answer.finish(tag(message.id));
    });
    const peer = openPeer(client, server.url);
    const { own, unattributed, notify, other } = recorder();
    peer.on('unattributed', other);
    await ask(peer, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { notify });
    expect(own).toEqual([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: { toolsListChanged: true } } },
      { method: 'notifications/tools/list_changed', params: {} },
      { method: 'notifications/resources/updated', params: { uri: 'a:b' } },
      { method: 'notifications/prompts/list_changed' },
    ]);
    expect(unattributed).toEqual([{ method: 'notifications/tools/list_changed', params: {} }]);
  });

  it('what is no notification of this protocol is ignored, and said in the log', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().notification('notifications/progress', { progressToken: 1, progress: 'half' });
      answer.notification('notifications/message', { data: 'no level' });
      answer.notification('notifications/resources/updated', {});
      answer.notification('tools/call', { name: 'a' });
      answer.event({ jsonrpc: '2.0', method: 'notifications/message', params: [1] });
      answer.event([]).event('text').event(7).event({});
      answer.write('data: {broken\n\n');
      answer.notification('notifications/cancelled', { requestId: 1 });
      answer.finish(CONTENT);
    });
    const peer = openPeer(client, server.url);
    const { own, unattributed, notify, other } = recorder();
    peer.on('unattributed', other);
    await callTool(peer, 'a', {}, { wantsProgress: true, notify });
    expect([...own, ...unattributed]).toEqual([]);
    expect(peer.log.entries.map(({ level }) => level)).toEqual(Array.from({ length: 10 }, () => 'debug'));
  });

  it('HTTP-12: comments are no messages, but signs of life, as every event is', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().write(': hello\n\n');
      answer.notification('notifications/message', { level: 'info', data: 1 });
      answer.finish(CONTENT);
    });
    let signs = 0;
    const { own, notify } = recorder();
    await callTool(openPeer(client, server.url), 'a', {}, { notify, alive: () => signs++ });
    expect(own).toHaveLength(1);
    expect(signs).toBeGreaterThanOrEqual(2);
  });

  it('a listener of the peer that throws hurts no request', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().notification('notifications/tools/list_changed');
      answer.finish(CONTENT);
    });
    const peer = openPeer(client, server.url);
    const thrown = deferred<unknown>();
    const [vitestsOwn] = process.listeners('uncaughtException');
    if (vitestsOwn !== undefined) process.off('uncaughtException', vitestsOwn);
    process.once('uncaughtException', thrown.resolve);
    peer.on('unattributed', () => {
      throw new Error('of a listener');
    });
    await callTool(peer, 'a');
    await expect(thrown.promise).resolves.toMatchObject({ message: 'of a listener' });
    if (vitestsOwn !== undefined) process.on('uncaughtException', vitestsOwn);
  });
});

describe.each(HTTP_CLIENTS)('the end of a stream over $name', (client) => {
  it.each([
    ['without an event', (answer: Answer) => answer.stream().response.end()],
    ['after a notification', (answer: Answer) => answer.stream().event({ method: 'notifications/x' }).response.end()],
    ['in the middle of its result', (answer: Answer) => answer.stream().write('data: {"jsonrpc":').response.end()],
  ])('STRM-08: %s loses the request: it may have been carried out', async (_, script) => {
    const server = await scriptedServer((answer) => void script(answer));
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'closed');
    expect(error).toMatchObject({ maybeExecuted: true, phase: 'call' });
    expect(server.requests).toHaveLength(1);
  });

  it('STRM-08: a cut connection loses the request, and asking again is a new one', async () => {
    const server = await scriptedServer((answer, { index }) => {
      answer.stream().notification('notifications/message', { level: 'info', data: 1 });
      if (index === 0) answer.cut();
      else answer.finish(CONTENT);
    });
    const peer = openPeer(client, server.url);
    const error = await expectLocalError(callTool(peer, 'a'), 'closed');
    expect(error).toMatchObject({ maybeExecuted: true, phase: 'call' });
    expect(error.cause).toBeDefined();
    await callTool(peer, 'a');
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.message.id).not.toBe(server.requests[0]?.message.id);
  });

  it('says what was left out of a stream that had no result', async () => {
    const server = await scriptedServer((answer, { message }) => {
      const tooDeep = `${'['.repeat(200)}${']'.repeat(200)}`;
      answer.stream().write(`data: {"jsonrpc":"2.0","id":${String(message.id)},"result":{"content":${tooDeep}}}\n\n`);
      answer.response.end();
    });
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'closed');
    expect(error.message).toContain('nests deeper than 128 levels');
  });

  it('a result whose last empty line is missing is a result', async () => {
    const server = await scriptedServer((answer) => {
      answer
        .stream()
        .write(`data: ${JSON.stringify(answer.resultMessage(CONTENT))}`)
        .response.end();
    });
    await expect(callTool(openPeer(client, server.url), 'a')).resolves.toMatchObject(CONTENT);
  });

  it('an error of the server ends it too', async () => {
    const server = await scriptedServer((answer, { message }) => {
      answer.stream().event({ jsonrpc: '2.0', id: message.id, error: { code: -32603, message: 'oops' } });
    });
    await expect(failureOf(callTool(openPeer(client, server.url), 'a'))).resolves.toMatchObject({
      code: -32603,
      message: 'oops',
    });
  });

  it('is there when its caller cannot take what it brings', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().notification('notifications/message', { level: 'info', data: 1 });
    });
    const notify = async (): Promise<void> => Promise.reject(new Error('of the caller'));
    const error = await failureOf(callTool(openPeer(client, server.url), 'a', {}, { notify }));
    expect(error).toMatchObject({ cause: { message: 'of the caller' } });
    await expect(server.requests[0]?.over).resolves.toBe(true);
  });

  it('is not waited for once the result is here, and what still comes is nobody’s', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().event(answer.resultMessage(CONTENT));
      answer.notification('notifications/message', { level: 'info', data: 'late' });
    });
    const { own, notify } = recorder();
    await callTool(openPeer(client, server.url), 'a', {}, { notify });
    expect(own).toEqual([]);
    // A stream that stays open is left behind.
    await expect(server.requests[0]?.over).resolves.toBe(true);
  });
});
