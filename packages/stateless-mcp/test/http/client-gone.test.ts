import { describe, expect, it } from 'vitest';
import type { Exchange, McpHandler } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import { aborted, deferred, DONE, elapsed, requestHead, requestText, serveNode, sleep, within } from './harness.ts';

/** A handler that tells of its exchange and settles when it is told to. */
function parkedHandler(): {
  readonly handler: McpHandler;
  readonly started: Promise<Exchange>;
  readonly settle: () => void;
} {
  const started = deferred<Exchange>();
  const end = deferred();
  return {
    started: started.promise,
    settle: () => end.resolve(),
    handler: async (_request, exchange) => {
      started.resolve(exchange);
      await end.promise;
      return DONE;
    },
  };
}

describe('a client that leaves', () => {
  it('aborts the handler of a JSON answer within 100 ms and frees the exchange', async () => {
    const { handler, started } = parkedHandler();
    const { connect, listener } = await serveNode(handler);
    const client = await connect();
    void client.write(requestText(request('tools/list')));
    const { signal } = await within(started, 2000);
    expect(signal.aborted).toBe(false);

    client.socket.destroy();
    const took = await elapsed(aborted(signal), 1000);
    console.log(`fault: client socket destroyed before its JSON answer, handler aborted after ${took.toFixed(1)} ms`);
    expect(took).toBeLessThan(100);
    // The handler has not settled: the exchange is not waiting for it.
    expect(await elapsed(listener.drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });

  it('aborts the handler of an event stream within 100 ms, and nothing is written afterwards', async () => {
    let contextSignal: AbortSignal | undefined;
    let sentAfterwards = 0;
    const left = deferred();
    const finished = deferred();
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('talk', {}, async (_input, { log, signal }) => {
      contextSignal = signal;
      await log('info', 'first');
      await left.promise;
      for (; sentAfterwards < 1000; sentAfterwards++) await log('info', 'x'.repeat(1000));
      finished.resolve();
      return 'nobody reads this';
    });
    const { connect, listener } = await serveNode(server);
    const client = await connect();
    void client.write(requestText(callTool('talk', {}, { meta: { [LOG_LEVEL_KEY]: 'debug' } })));
    await client.untilEvents(1);

    client.socket.destroy();
    const took = await elapsed(aborted(contextSignal as unknown as AbortSignal), 1000);
    console.log(`fault: client socket destroyed after 1 event, handler aborted after ${took.toFixed(1)} ms`);
    expect(took).toBeLessThan(100);
    expect(await elapsed(listener.drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
    // Nothing holds a handler up that talks to nobody.
    left.resolve();
    await within(finished.promise, 2000);
    expect(sentAfterwards).toBe(1000);
  });

  it('ends a listen stream, whose subscription is given back', async () => {
    const server = new McpServer(
      { name: 'test', version: '1' },
      { capabilities: { tools: { listChanged: true } }, maxSubscriptions: 1 },
    );
    const { connect, send, listener } = await serveNode(server);
    const listen = request('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const client = await connect();
    void client.write(requestText(listen));
    await client.untilEvents(1);
    expect((await send(listen)).status).toBe(503);

    client.socket.destroy();
    console.log('fault: client socket destroyed with an open listen stream');
    await sleep(100);
    const next = await connect();
    void next.write(requestText(listen));
    expect((await next.untilEvents(1))[0]).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
    next.socket.destroy();
    await sleep(50);
    expect(await elapsed(listener.drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });

  it('is noticed when it resets the connection, too', async () => {
    const { handler, started } = parkedHandler();
    const { connect, listener } = await serveNode(handler);
    const client = await connect();
    void client.write(requestText(request('tools/list')));
    const { signal } = await within(started, 2000);
    client.socket.resetAndDestroy();
    const took = await elapsed(aborted(signal), 1000);
    console.log(`fault: connection reset, handler aborted after ${took.toFixed(1)} ms`);
    expect(took).toBeLessThan(100);
    expect(await elapsed(listener.drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });

  it('may throw away an answer whose handler settles after it', async () => {
    const { handler, started, settle } = parkedHandler();
    const { connect, send } = await serveNode(handler);
    const client = await connect();
    void client.write(requestText(request('tools/list')));
    const exchange = await within(started, 2000);
    client.socket.destroy();
    await within(aborted(exchange.signal), 1000);
    settle();
    await sleep(20);
    console.log('fault: handler settled after its client had left');
    expect(
      exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 'late' } }),
    ).toBeUndefined();
    expect((await send(request('tools/list'))).status).toBe(200);
  });

  it('never reaches the handler when it leaves in the middle of its body', async () => {
    let calls = 0;
    const { connect, send, listener } = await serveNode(async () => {
      calls += 1;
      return DONE;
    });
    const message = request('tools/list');
    const client = await connect();
    await client.write(requestHead(message, 5000) + JSON.stringify(message).slice(0, 50));
    client.socket.destroy();
    console.log('fault: client socket destroyed after 50 bytes of 5000');
    await sleep(50);
    expect(calls).toBe(0);
    expect((await send(message)).status).toBe(200);
    expect(await elapsed(listener.drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });
});

describe('a client that closes its sending side', () => {
  it('gets the answer to a request that is answered at once', async () => {
    const { connect } = await serveNode(async () => DONE);
    const client = await connect();
    client.socket.end(requestText(request('tools/list')));
    const { status, text } = await client.response();
    console.log('fault: FIN right behind the request');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ result: DONE });
  });

  // On HTTP closing the connection is how a call is cancelled, and a closed sending side is the first that is seen of it.
  it('counts as gone when the call takes longer', async () => {
    const { handler, started } = parkedHandler();
    const { connect, listener } = await serveNode(handler);
    const client = await connect();
    client.socket.end(requestText(request('tools/list')));
    const { signal } = await within(started, 2000);
    const took = await elapsed(aborted(signal), 1000);
    console.log(`fault: FIN behind the request of a long call, aborted after ${took.toFixed(1)} ms`);
    await within(client.ended, 1000);
    expect(await elapsed(listener.drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });

  it('in the middle of a body leaves nothing hanging', async () => {
    let calls = 0;
    const { connect, listener } = await serveNode(async () => {
      calls += 1;
      return DONE;
    });
    const message = request('tools/list');
    const client = await connect();
    client.socket.end(requestHead(message, 5000) + JSON.stringify(message).slice(0, 50));
    await within(client.ended, 2000);
    console.log('fault: FIN after 50 bytes of 5000');
    expect(calls).toBe(0);
    expect(await elapsed(listener.drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });
});
