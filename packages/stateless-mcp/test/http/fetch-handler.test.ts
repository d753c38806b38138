import { describe, expect, it } from 'vitest';
import { fetchHandler, type HttpOptions } from '../../src/http/index.ts';

/** How runtimes call the fetch of a default export. */
type RuntimeEntry = (request: Request, environment: unknown) => Promise<Response>;
import type { Exchange, McpHandler } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { at, callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import {
  aborted,
  deferred,
  DONE,
  elapsed,
  fetchHeaders,
  fetchRequest,
  silentLogger,
  sleep,
  within,
} from './harness.ts';
import { eventsOf } from './raw-client.ts';

const message = request('tools/list');
const quiet: HttpOptions = { logger: silentLogger };
const who: McpHandler = async (_request, { auth, http }) => ({
  ...DONE,
  who: auth?.principal ?? null,
  address: http?.address ?? null,
});

function parked(): { readonly handler: McpHandler; readonly started: Promise<Exchange> } {
  const started = deferred<Exchange>();
  return {
    started: started.promise,
    handler: async (_request, exchange) => {
      started.resolve(exchange);
      return new Promise(() => {});
    },
  };
}

const logged = { meta: { [LOG_LEVEL_KEY]: 'debug' } };

describe('a request whose signal aborts', () => {
  it('before its answer: the handler is aborted, the response settles, nothing is left', async () => {
    const { handler, started } = parked();
    const { fetch, drain } = fetchHandler(handler, quiet);
    const leaving = new AbortController();
    const response = fetch(fetchRequest(message, {}, { signal: leaving.signal }));
    const { signal } = await within(started, 1000);
    leaving.abort();
    expect(await elapsed(aborted(signal), 1000)).toBeLessThan(100);
    console.log('fault: request aborted before its answer');
    expect(await elapsed(drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
    // Code around it (middleware, timing, limits) waits for this.
    await within(response, 500);
  });

  it('during its stream: the handler is aborted', async () => {
    const started = deferred<Exchange>();
    const { fetch, drain } = fetchHandler(async (_request, exchange) => {
      void exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 1 } });
      started.resolve(exchange);
      return new Promise(() => {});
    }, quiet);
    const leaving = new AbortController();
    const response = await fetch(fetchRequest(message, {}, { signal: leaving.signal }));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    leaving.abort();
    expect(await elapsed(aborted((await started.promise).signal), 1000)).toBeLessThan(100);
    console.log('fault: request aborted during its stream');
    expect(await elapsed(drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });

  it('before it was sent: the handler sees that', async () => {
    const { handler, started } = parked();
    const { fetch, drain } = fetchHandler(handler, quiet);
    void fetch(fetchRequest(message, {}, { signal: AbortSignal.abort() }));
    await sleep(50);
    const exchange = await Promise.race([started, sleep(10)]);
    if (exchange !== undefined) expect(exchange.signal.aborted).toBe(true);
    expect(await elapsed(drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });
});

describe('a response stream', () => {
  it('that is cancelled aborts the handler', async () => {
    const started = deferred<Exchange>();
    const { fetch, drain } = fetchHandler(async (_request, exchange) => {
      void exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 1 } });
      started.resolve(exchange);
      return new Promise(() => {});
    }, quiet);
    const response = await fetch(fetchRequest(message));
    await response.body?.cancel();
    console.log('fault: response stream cancelled');
    expect((await started.promise).signal.aborted).toBe(true);
    expect(await elapsed(drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });

  it('slows down who waits, by bytes, and loses nothing', async () => {
    let produced = 0;
    const total = 2000;
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('talk', {}, async (_input, { log }) => {
      for (produced = 0; produced < total; produced++) await log('info', { line: produced, pad: 'x'.repeat(1000) });
      return 'done';
    });
    const { fetch } = fetchHandler(server, quiet);
    const response = await fetch(fetchRequest(callTool('talk', {}, logged)));
    await sleep(50);
    const before = produced;
    expect(before).toBeLessThan(200);
    await sleep(50);
    expect(produced).toBe(before);
    console.log(`fault: reader paused, producer stopped after ${before} lines`);
    const events = eventsOf(await response.text());
    expect(events).toHaveLength(total + 1);
    expect(events.slice(0, -1).map((event) => at(event, 'params', 'data', 'line'))).toEqual([...Array(total).keys()]);
  });

  it('of a reader that comes and goes keeps the order of what was not waited for', async () => {
    const more = deferred();
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('talk', {}, async (_input, { log, progress }) => {
      let step = 0;
      const say = (): void => {
        step += 1;
        void log('info', { line: step, pad: 'x'.repeat(1000) });
        void progress(step);
      };
      for (let turn = 0; turn < 100; turn++) say();
      await more.promise;
      for (let turn = 0; turn < 100; turn++) say();
      return 'done';
    });
    const { fetch } = fetchHandler(server, quiet);
    const options = { meta: { [LOG_LEVEL_KEY]: 'debug', progressToken: 'p' } };
    const response = await fetch(fetchRequest(callTool('talk', {}, options)));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    const decoder = new TextDecoder();
    for (let turn = 0; turn < 20; turn++) text += decoder.decode((await reader.read()).value);
    console.log('fault: reader took some of what was held back, then the handler went on');
    more.resolve();
    await sleep(10);
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += decoder.decode(next.value);
    const events = eventsOf(text);
    const lines = events.map((event) => at(event, 'params', 'data', 'line')).filter((line) => line !== undefined);
    const steps = events.map((event) => at(event, 'params', 'progress')).filter((step) => step !== undefined);
    expect(lines).toEqual([...lines].sort((a, b) => Number(a) - Number(b)));
    expect(steps).toEqual([...new Set(steps)].sort((a, b) => Number(a) - Number(b)));
    expect(events.at(-1)).toHaveProperty('result');
  });

  it('that nobody reads is ended after readerTimeoutMs', async () => {
    const settled = deferred();
    const { fetch, drain } = fetchHandler(
      async (_request, exchange) => {
        const data = 'x'.repeat(10_000);
        while (!exchange.signal.aborted) {
          await exchange.notify({ method: 'notifications/message', params: { level: 'info', data } });
        }
        settled.resolve();
        return DONE;
      },
      { ...quiet, readerTimeoutMs: 150 },
    );
    const response = await fetch(fetchRequest(message));
    expect(await elapsed(settled.promise, 2000)).toBeGreaterThan(100);
    console.log('fault: response stream never read');
    await expect(response.text()).rejects.toThrow();
    expect(await elapsed(drain({ graceMs: 5000 }), 1000)).toBeLessThan(100);
  });
});

describe('what is done in front', () => {
  it('parsedBody takes the place of the body, which may be used up', async () => {
    const { handle } = fetchHandler(async () => DONE, quiet);
    const used = fetchRequest(message);
    const parsedBody: unknown = await used.json();
    expect((await handle(used, { parsedBody })).status).toBe(200);
  });

  it('parsedBody is checked like a body', async () => {
    const { handle } = fetchHandler(async () => DONE, quiet);
    let deep: unknown = 1;
    for (let level = 0; level < 200_000; level++) deep = [deep];
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const parsedBody of [deep, { ...message, params: { deep } }, cyclic]) {
      const response = await handle(fetchRequest(message), { parsedBody });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: -32700 } });
    }
    for (const parsedBody of [null, [], 'text', 5]) {
      const response = await handle(fetchRequest(message), { parsedBody });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: -32600 } });
    }
  });

  it('auth and address reach the handler', async () => {
    const { handle } = fetchHandler(who, quiet);
    const response = await handle(fetchRequest(message), { auth: { principal: 'alice' }, address: '192.0.2.1' });
    expect(await response.json()).toMatchObject({ result: { who: 'alice', address: '192.0.2.1' } });
  });

  it.each([
    [
      'bindings of a Worker that happen to be called the same',
      { auth: { fetch: () => {} }, address: 5, parsedBody: undefined },
    ],
    ['the server object of Bun', { address: { address: '::', family: 'IPv6', port: 3000 }, port: 3000 }],
    ['connection info of Deno', { remoteAddr: { hostname: '192.0.2.1' }, completed: Promise.resolve() }],
    ['nothing', null],
  ])('a second argument of a runtime is not taken for it: %s', async (_what, context) => {
    const refuse = (): never => {
      throw new Error('no caller is known here');
    };
    const open = fetchHandler(who, quiet);
    const response = await (open.fetch as RuntimeEntry)(fetchRequest(message), context);
    expect(await response.json()).toMatchObject({ result: { who: null, address: null } });
    const guarded = fetchHandler(who, { ...quiet, authenticate: refuse });
    expect((await (guarded.fetch as RuntimeEntry)(fetchRequest(message), context)).status).toBe(503);
  });

  it('a body that was used up without saying so is an error, not a hang', async () => {
    const { fetch } = fetchHandler(async () => DONE, quiet);
    const used = fetchRequest(message);
    await used.text();
    const response = await within(fetch(used), 1000);
    console.log('fault: the body of the request was used up');
    expect(response.status).toBeGreaterThanOrEqual(400);
  });

  it('fetch and drain can be taken apart', async () => {
    const { fetch, drain } = fetchHandler(async () => DONE, quiet);
    expect((await fetch(fetchRequest(message))).status).toBe(200);
    await drain();
    expect((await fetch(fetchRequest(message))).status).toBe(503);
  });
});

describe('a body', () => {
  const streamed = (
    pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>,
  ): Request => {
    const init = { method: 'POST', headers: fetchHeaders(message), body: new ReadableStream({ pull }), duplex: 'half' };
    return new Request('http://localhost/mcp', init);
  };

  it('without end is refused at the limit', async () => {
    const { fetch } = fetchHandler(async () => DONE, { ...quiet, maxBodyBytes: 100_000 });
    let pulled = 0;
    const response = await fetch(
      streamed((controller) => {
        pulled += 10_000;
        controller.enqueue(new Uint8Array(10_000));
      }),
    );
    console.log(`fault: a body without end, ${pulled} bytes were taken`);
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(200_000);
  });

  it('that stops is refused after bodyTimeoutMs', async () => {
    const { fetch, drain } = fetchHandler(async () => DONE, { ...quiet, bodyTimeoutMs: 100 });
    const response = await within(fetch(streamed(() => new Promise(() => {}))), 2000);
    console.log('fault: a body that stops');
    expect(response.status).toBe(408);
    expect(await elapsed(drain(), 1000)).toBeLessThan(100);
  });

  it('that breaks off leaves nothing hanging', async () => {
    const { fetch, drain } = fetchHandler(async () => DONE, quiet);
    const response = await within(fetch(streamed((controller) => controller.error(new Error('gone')))), 1000);
    console.log('fault: a body that breaks off');
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await elapsed(drain(), 1000)).toBeLessThan(100);
  });

  it('may be missing', async () => {
    const { fetch } = fetchHandler(async () => DONE, quiet);
    const response = await fetch(
      new Request('http://localhost/mcp', { method: 'POST', headers: fetchHeaders(message) }),
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32700 } });
  });
});
