import { describe, expect, it } from 'vitest';
import { fetchHandler, type HttpOptions } from '../../src/http/index.ts';
import type { McpEndpoint, McpHandler } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { at, callTool, LOG_LEVEL_KEY, mirroredHeaders, request } from '../wire/messages.ts';
import { deferred, DONE, eventually, requestText, serveNode, silentLogger, sleep } from './harness.ts';
import { eventsOf } from './raw-client.ts';

const EXACT_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** What has arrived of one answer. */
interface Arriving {
  readonly status: number;
  header(name: string): string | undefined;
  text(): string;
  readonly ended: Promise<void>;
}

type Send = (message: unknown, headers?: Readonly<Record<string, string | null>>) => Promise<Arriving>;

/** The two bindings as one. Resolves when the head of the answer is there. */
const bindings: readonly (readonly [
  name: string,
  serve: (endpoint: McpEndpoint | McpHandler, options?: HttpOptions) => Promise<Send>,
])[] = [
  [
    'node',
    async (endpoint, options) => {
      const { connect } = await serveNode(endpoint, options);
      return async (message, headers = {}) => {
        const client = await connect();
        void client.write(requestText(message, { headers }));
        await client.until(() => client.partial() !== undefined);
        return {
          status: client.partial()?.status ?? 0,
          header: (name) => client.partial()?.headers.get(name),
          text: () => client.partial()?.text ?? '',
          ended: client.until(() => client.partial()?.isComplete === true),
        };
      };
    },
  ],
  [
    'Fetch',
    async (endpoint, options) => {
      const { fetch } = fetchHandler(endpoint, { logger: silentLogger, ...options });
      return async (message, changes = {}) => {
        const headers = new Headers();
        for (const [name, value] of [...Object.entries(mirroredHeaders(message)), ...Object.entries(changes)]) {
          if (typeof value === 'string') headers.set(name, value);
          else headers.delete(name);
        }
        const body = JSON.stringify(message);
        const response = await fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
        let text = '';
        const decoder = new TextDecoder();
        const ended = (async () => {
          for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
        })();
        return {
          status: response.status,
          header: (name) => response.headers.get(name) ?? undefined,
          text: () => text,
          ended,
        };
      };
    },
  ],
];

/** Says nothing until it is told to finish. */
function silentHandler(): { readonly handler: McpHandler; readonly finish: () => void } {
  const end = deferred();
  return {
    finish: () => end.resolve(),
    handler: async () => {
      await end.promise;
      return DONE;
    },
  };
}

describe.each(bindings)('%s', (_name, serve) => {
  it('a JSON answer says its length, and is no stream', async () => {
    const send = await serve(async () => ({ ...DONE, text: '日本' }));
    const answer = await send(request('tools/list'));
    await answer.ended;
    expect(answer.header('content-type')).toBe('application/json');
    expect(answer.header('content-length')).toBe(String(Buffer.byteLength(answer.text())));
    expect(answer.header('transfer-encoding')).toBeUndefined();
  });

  it('HTTP-10: an event stream has exactly the headers it needs, and no event ids', async () => {
    const handler: McpHandler = async (_request, exchange) => {
      await exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 'a\nb\r\u2028c' } });
      return DONE;
    };
    const send = await serve(handler);
    const answer = await send(request('tools/list'));
    await answer.ended;
    expect(answer.status).toBe(200);
    for (const [name, value] of Object.entries(EXACT_HEADERS)) expect(answer.header(name)).toBe(value);
    for (const name of ['mcp-session-id', 'content-length', 'set-cookie', 'etag']) {
      expect(answer.header(name)).toBeUndefined();
    }
    const lines = answer.text().split('\n');
    expect(lines.filter((line) => line !== '' && !line.startsWith('data: '))).toEqual([]);
    expect(eventsOf(answer.text())).toMatchObject([{ params: { data: 'a\nb\r\u2028c' } }, { result: DONE }]);
  });

  it('the first event arrives at once, not with the second', async () => {
    const end = deferred();
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('slow', {}, async (_input, { progress }) => {
      await progress(1, 2, 'half');
      await end.promise;
      return 'done';
    });
    const send = await serve(server);
    const started = performance.now();
    const answer = await send(callTool('slow', {}, { meta: { progressToken: 'p' } }));
    await eventually(() => eventsOf(answer.text()).length > 0);
    expect(eventsOf(answer.text())).toMatchObject([{ params: { progressToken: 'p', progress: 1, message: 'half' } }]);
    expect(performance.now() - started).toBeLessThan(500);
    end.resolve();
    await answer.ended;
    expect(eventsOf(answer.text())).toHaveLength(2);
  });

  it('HTTP-11: becomes a stream after upgradeAfterMs of silence, and stays alive by comments', async () => {
    const { handler, finish } = silentHandler();
    const send = await serve(handler, { upgradeAfterMs: 60, keepAliveMs: 40 });
    const started = performance.now();
    const answer = await send(request('tools/list'));
    const upgraded = performance.now() - started;
    expect(upgraded).toBeGreaterThan(50);
    expect(upgraded).toBeLessThan(500);
    for (const [name, value] of Object.entries(EXACT_HEADERS)) expect(answer.header(name)).toBe(value);
    await eventually(() => answer.text().split('\n\n').length > 4);
    finish();
    await answer.ended;
    const frames = answer.text().split('\n\n').slice(0, -1);
    expect(frames.slice(0, -1).every((frame) => frame === ':')).toBe(true);
    expect(frames.length - 1).toBeLessThanOrEqual((performance.now() - started) / 40);
    expect(eventsOf(answer.text())).toMatchObject([{ result: DONE }]);
  });

  it.each([
    ['application/json'],
    [null],
    ['*/*'],
    ['text/*'],
    ['application/json, text/event-stream;q=0'],
    ['text/event-stream-x'],
  ])('never becomes a stream for Accept: %s', async (accept) => {
    const { handler, finish } = silentHandler();
    const send = await serve(handler, { upgradeAfterMs: 30, keepAliveMs: 20 });
    setTimeout(finish, 120);
    const answer = await send(request('tools/list'), { accept });
    await answer.ended;
    expect(answer.header('content-type')).toBe('application/json');
    expect(JSON.parse(answer.text())).toMatchObject({ result: DONE });
  });

  it.each([['text/event-stream'], ['application/json , TEXT/EVENT-STREAM; q=0.5'], ['text/event-stream;q=1,*/*']])(
    'becomes one for Accept: %s',
    async (accept) => {
      const { handler, finish } = silentHandler();
      const send = await serve(handler, { upgradeAfterMs: 30 });
      setTimeout(finish, 120);
      const answer = await send(request('tools/list'), { accept });
      expect(answer.header('content-type')).toBe('text/event-stream');
      await answer.ended;
    },
  );

  it('logs for a client that takes no stream are dropped, the result arrives', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('talk', {}, async (_input, { log, progress }) => {
      await log('info', 'hello');
      await progress(1);
      return 'done';
    });
    const send = await serve(server);
    const message = callTool('talk', {}, { meta: { [LOG_LEVEL_KEY]: 'debug', progressToken: 1 } });
    const answer = await send(message, { accept: 'application/json' });
    await answer.ended;
    expect(answer.header('content-type')).toBe('application/json');
    expect(JSON.parse(answer.text())).toMatchObject({ result: { content: [{ text: 'done' }] } });
  });

  it('progress that nobody asked for does not make a stream', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('work', {}, async (_input, { progress }) => {
      await progress(1);
      return 'done';
    });
    const send = await serve(server);
    const answer = await send(callTool('work'));
    await answer.ended;
    expect(answer.header('content-type')).toBe('application/json');
  });

  it('a quiet listen stream is open at once, stays alive, and is a stream whatever Accept says', async () => {
    const server = new McpServer({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    const send = await serve(server, { keepAliveMs: 40 });
    const listen = request('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 7 });
    const answer = await send(listen, { accept: 'application/json' });
    for (const [name, value] of Object.entries(EXACT_HEADERS)) expect(answer.header(name)).toBe(value);
    await eventually(() => answer.text().split('\n\n').length > 3);
    const frames = answer.text().split('\n\n').slice(0, -1);
    expect(frames[0]).toMatch(/^data: .*acknowledged/);
    expect(frames.slice(1).every((frame) => frame === ':')).toBe(true);
    server.registerTool('new', {}, () => 'x');
    await eventually(() => eventsOf(answer.text()).length > 1);
    expect(at(eventsOf(answer.text())[1], 'method')).toBe('notifications/tools/list_changed');
  });

  it('signs of life are not sent while there are others', async () => {
    const handler: McpHandler = async (_request, exchange) => {
      for (let turn = 0; turn < 10; turn++) {
        await exchange.notify({ method: 'notifications/message', params: { level: 'info', data: turn } });
        await sleep(20);
      }
      return DONE;
    };
    const send = await serve(handler, { keepAliveMs: 150 });
    const answer = await send(request('tools/list'));
    await answer.ended;
    expect(answer.text()).not.toMatch(/^:/m);
    expect(eventsOf(answer.text())).toHaveLength(11);
  });
});
