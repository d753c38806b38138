import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../src/protocol/deferred.ts';
import type { HttpFetch } from '../../src/http/index.ts';
import { LocalError } from '../../src/protocol/index.ts';
import { ask, callTool, CONTENT, HTTP_CLIENTS, expectLocalError, openPeer } from './http-peer-harness.ts';
import { type Script, scriptedServer } from './scripted-server.ts';

/** Whether a promise settles without waiting for anything outside of this process. */
async function settlesAtOnce(outcome: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
  };
  outcome.then(settled, settled);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  return isSettled;
}

const beginning = '{"jsonrpc":"2.0","id":1,"result":';

/** Where a request can be when its caller leaves, and what the server has done until then. */
const STAGES: readonly (readonly [string, Script])[] = [
  ['before the head of the answer', () => undefined],
  ['after the head', ({ response }) => response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders()],
  [
    'in a JSON body',
    (answer) => {
      answer.response.writeHead(200, { 'Content-Type': 'application/json' });
      answer.write(beginning);
    },
  ],
  ['before the first event', (answer) => void answer.stream()],
  ['in an event', (answer) => void answer.stream().write(`data: ${beginning}`)],
  [
    'in the body of an error',
    ({ response }) => void response.writeHead(502, { 'Content-Type': 'text/html' }).write('<'),
  ],
  ['in the body of a 401', ({ response }) => void response.writeHead(401, { 'Content-Type': 'text/html' }).write('<')],
  ['in the body of a redirect', ({ response }) => void response.writeHead(307, { Location: '/' }).write('<')],
];

describe.each(HTTP_CLIENTS)('giving up over $name', (client) => {
  it.each(STAGES)('CANC-03, CANC-09: %s settles at once and closes the connection', async (_, script) => {
    const server = await scriptedServer(script);
    const { signal, abort } = controller();
    const outcome = callTool(openPeer(client, server.url), 'slow', {}, { signal });
    outcome.catch(() => undefined);
    const { over } = await server.received(0);
    // Whether the bytes are here already is left to chance: both must do.
    abort(new Error('enough'));
    expect(await settlesAtOnce(outcome)).toBe(true);
    const error = await expectLocalError(outcome, 'aborted');
    expect(error).toMatchObject({ phase: 'call', maybeExecuted: true, cause: { message: 'enough' } });
    await expect(over).resolves.toBe(true);
    expect(server.requests).toHaveLength(1);
    await noListeners(signal);
  });

  it.each(STAGES.slice(3, 5))('CANC-09: %s, when what was sent is here', async (_, script) => {
    const server = await scriptedServer((answer, request) => {
      void script(answer, request);
    });
    const { signal, abort } = controller();
    const heard = deferred();
    const outcome = callTool(openPeer(client, server.url), 'slow', {}, { signal, alive: () => heard.resolve() });
    outcome.catch(() => undefined);
    const { over } = await server.received(0);
    await Promise.race([heard.promise, new Promise((resolve) => setTimeout(resolve, 50))]);
    abort();
    expect(await settlesAtOnce(outcome)).toBe(true);
    await expect(over).resolves.toBe(true);
    await noListeners(signal);
  });

  it('CANC-09: from a notification, nothing that came with it is delivered any more', async () => {
    const server = await scriptedServer((answer) => {
      const log = (data: number): string =>
        `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })}\n\n`;
      answer.stream().write(`${log(1)}${log(2)}${log(3)}data: ${JSON.stringify(answer.resultMessage(CONTENT))}\n\n`);
    });
    const { signal, abort } = controller();
    let heard = 0;
    const notify = (): void => {
      heard++;
      abort();
    };
    await expectLocalError(callTool(openPeer(client, server.url), 'slow', {}, { signal, notify }), 'aborted');
    await expect(server.requests[0]?.over).resolves.toBe(true);
    expect(heard).toBe(1);
    await noListeners(signal);
  });

  it('CANC-09: while a full channel is waited for', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().notification('notifications/message', { level: 'info', data: 1 });
    });
    const { signal, abort } = controller();
    const isFull = deferred();
    const notify = async (): Promise<void> => {
      isFull.resolve();
      return new Promise(() => undefined);
    };
    const outcome = callTool(openPeer(client, server.url), 'slow', {}, { signal, notify });
    outcome.catch(() => undefined);
    await isFull.promise;
    abort();
    expect(await settlesAtOnce(outcome)).toBe(true);
    await expectLocalError(outcome, 'aborted');
    await expect(server.requests[0]?.over).resolves.toBe(true);
    await noListeners(signal);
  });

  it('a signal that has aborted already keeps the request from being sent', async () => {
    const server = await scriptedServer((answer) => answer.result(CONTENT));
    const signal = AbortSignal.abort(new Error('too late'));
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a', {}, { signal }), 'aborted');
    expect(error).toMatchObject({ maybeExecuted: false, cause: { message: 'too late' } });
    expect(server.requests).toHaveLength(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('while the headers are being made, nothing is sent, then or later', async () => {
    const server = await scriptedServer((answer) => answer.result(CONTENT));
    const headers = deferred<Record<string, string>>();
    const peer = openPeer(client, server.url, { headers: async () => headers.promise });
    const { signal, abort } = controller();
    const outcome = callTool(peer, 'a', {}, { signal });
    outcome.catch(() => undefined);
    abort();
    expect(await settlesAtOnce(outcome)).toBe(true);
    await expect(expectLocalError(outcome, 'aborted')).resolves.toMatchObject({ maybeExecuted: false });
    headers.resolve({});
    await ask(peer, 'tools/call', { name: 'b' });
    expect(server.requests.map(({ message }) => message.params.name)).toEqual(['b']);
    await noListeners(signal);
  });

  it('CANC-12, T-59: a limit of time as the reason is the error, with what is known here', async () => {
    const server = await scriptedServer(() => undefined);
    const { signal, abort } = controller();
    const outcome = callTool(openPeer(client, server.url), 'slow', {}, { signal });
    outcome.catch(() => undefined);
    const { over } = await server.received(0);
    abort(new LocalError('timeout', 'No sign of life for 5 ms', { timer: 'idle' }));
    const error = await expectLocalError(outcome, 'timeout');
    expect(error).toMatchObject({ message: 'No sign of life for 5 ms', timer: 'idle', maybeExecuted: true });
    await expect(over).resolves.toBe(true);
  });

  it('after the answer changes nothing, and leaves no listener behind', async () => {
    const server = await scriptedServer((answer, { index }) => {
      if (index % 2 === 0) answer.result(CONTENT);
      else answer.stream().finish(CONTENT);
    });
    const peer = openPeer(client, server.url);
    const { signal, abort } = controller();
    for (let call = 0; call < 20; call++) await callTool(peer, 'a', {}, { signal });
    await noListeners(signal);
    abort();
    await callTool(peer, 'a');
    expect(server.requests).toHaveLength(21);
  });

  it('SUB-12: ends a listen request', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream().notification('notifications/subscriptions/acknowledged', { notifications: {} });
    });
    const { signal, abort } = controller();
    const acknowledged = deferred();
    const listen = ask(
      openPeer(client, server.url),
      'subscriptions/listen',
      { notifications: {} },
      { signal, notify: () => acknowledged.resolve() },
    );
    listen.catch(() => undefined);
    await acknowledged.promise;
    abort();
    await expectLocalError(listen, 'aborted');
    await expect(server.requests[0]?.over).resolves.toBe(true);
    expect(server.requests).toHaveLength(1);
  });
});

describe('giving up with an HTTP client that does not look at its signal', () => {
  it('sends nothing once its caller has left', async () => {
    const headers = deferred<Record<string, string>>();
    let sent = 0;
    const fetch: HttpFetch = async () => {
      sent++;
      return { status: 202, headers: new Headers(), body: null };
    };
    const options = { fetch, headers: async () => headers.promise };
    const peer = openPeer({ name: 'deaf', make: () => undefined }, 'http://127.0.0.1/mcp', options);
    const { signal, abort } = controller();
    const outcome = callTool(peer, 'a', {}, { signal });
    abort();
    await expectLocalError(outcome, 'aborted');
    headers.resolve({});
    await new Promise(setImmediate);
    expect(sent).toBe(0);
  });

  it('CANC-09, CANC-10: settles at once; what it brings later is nobody’s', async () => {
    const server = await scriptedServer((answer) => answer.result(CONTENT));
    const asked = deferred();
    const answered = deferred();
    const read = deferred();
    const log = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
    async function* body(): AsyncGenerator<Uint8Array> {
      try {
        yield new TextEncoder().encode(`data: ${log}\n\n`);
        yield new TextEncoder().encode(`data: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n\n`);
      } finally {
        read.resolve();
      }
    }
    const fetch: HttpFetch = async () => {
      asked.resolve();
      await answered.promise;
      return { status: 200, headers: new Headers({ 'content-type': 'text/event-stream' }), body: body() };
    };
    const peer = openPeer({ name: 'deaf', make: () => undefined }, server.url, { fetch });
    const { signal, abort } = controller();
    let heard = 0;
    const outcome = callTool(peer, 'a', {}, { signal, notify: () => void heard++ });
    outcome.catch(() => undefined);
    await asked.promise;
    abort();
    expect(await settlesAtOnce(outcome)).toBe(true);
    await expectLocalError(outcome, 'aborted');
    answered.resolve();
    await read.promise;
    expect(heard).toBe(0);
  });
});

function controller(): { readonly signal: AbortSignal; readonly abort: (reason?: unknown) => void } {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  return { signal: leaving.signal, abort: (reason) => leaving.abort(reason) };
}

/** Whoever listens may let go a turn after its promise has settled. */
async function noListeners(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
}
