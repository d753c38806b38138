import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fetchHandler } from '../../src/http/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import {
  aborted,
  connectTo,
  deferred,
  elapsed,
  fetchRequest,
  requestText,
  sendTo,
  silentLogger,
  sleep,
  within,
} from './harness.ts';
import { eventsOf } from './raw-client.ts';

interface Talk {
  readonly signal: AbortSignal;
}

function makeServer(onStart: (talk: Talk) => void = () => {}): McpServer {
  const server = new McpServer({ name: 'test', version: '1' });
  server.registerTool('greet', {}, (_input, { auth }) => `Hello ${auth?.principal ?? 'you'}`);
  server.registerTool('talk', {}, async (_input, { log, signal }) => {
    onStart({ signal });
    await log('info', 'one');
    await sleep(20);
    await log('info', 'two');
    return 'done';
  });
  server.registerTool('park', {}, async (_input, { log, signal }) => {
    onStart({ signal });
    await log('info', 'parked');
    return new Promise(() => {});
  });
  return server;
}

const logged = { meta: { [LOG_LEVEL_KEY]: 'debug' } };

function makeApp(server: McpServer): Hono {
  const handler = fetchHandler(server, { logger: silentLogger });
  const app = new Hono();
  app.all('/mcp', (context) => handler.fetch(context.req.raw));
  return app;
}

async function onNode(app: Hono): Promise<number> {
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe('Hono', () => {
  it('answers calls and streams', async () => {
    const app = makeApp(makeServer());
    const response = await app.fetch(fetchRequest(callTool('greet')));
    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'Hello you' }] } });
    const stream = await app.fetch(fetchRequest(callTool('talk', {}, logged)));
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(eventsOf(await stream.text())).toHaveLength(3);
  });

  it('answers what is not a POST', async () => {
    const response = await makeApp(makeServer()).fetch(new Request('http://localhost/mcp'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('may have read the body and verified the caller already', async () => {
    const handler = fetchHandler(makeServer(), { logger: silentLogger });
    const app = new Hono();
    app.post('/mcp', async (context) => {
      const parsedBody: unknown = await context.req.json();
      return handler.handle(context.req.raw, { parsedBody, auth: { principal: 'alice' } });
    });
    const response = await app.fetch(fetchRequest(callTool('greet')));
    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'Hello alice' }] } });
  });

  it('works behind middleware that changes the headers of answers', async () => {
    const handler = fetchHandler(makeServer(), { logger: silentLogger, allowedOrigins: ['https://app.example.com'] });
    const app = new Hono();
    app.use(cors({ origin: 'https://app.example.com' }));
    app.all('/mcp', (context) => handler.fetch(context.req.raw));
    const response = await app.fetch(fetchRequest(callTool('greet'), { origin: 'https://app.example.com' }));
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
  });
});

describe('Hono on @hono/node-server', () => {
  it('answers calls', async () => {
    const port = await onNode(makeApp(makeServer()));
    const { status, headers, text } = await sendTo(port, callTool('greet'));
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(JSON.parse(text)).toMatchObject({ result: { content: [{ text: 'Hello you' }] } });
  });

  it('streams event by event', async () => {
    const client = await connectTo(await onNode(makeApp(makeServer())));
    void client.write(requestText(callTool('park', {}, logged)));
    expect(await client.untilEvents(1)).toMatchObject([{ params: { data: 'parked' } }]);
    expect(client.partial()?.headers.get('x-accel-buffering')).toBe('no');
    expect(client.partial()?.headers.get('cache-control')).toBe('no-store, no-transform');
  });

  it.each([
    ['an event stream', logged],
    ['a JSON answer', {}],
  ])('passes on that the client of %s left', async (_form, options) => {
    const started = deferred<Talk>();
    const client = await connectTo(await onNode(makeApp(makeServer(started.resolve))));
    void client.write(requestText(callTool('park', {}, options)));
    const { signal } = await within(started.promise, 1000);
    if (options === logged) await client.untilEvents(1);
    client.socket.destroy();
    expect(await elapsed(aborted(signal), 1000)).toBeLessThan(100);
    console.log('fault: client socket destroyed behind Hono');
  });

  it('refuses a body over the limit and no JSON, and goes on', async () => {
    const port = await onNode(makeApp(makeServer()));
    const message = request('tools/list');
    const large = await sendTo(port, message, { body: 'x'.repeat(5 * 1024 * 1024) });
    expect(large.status).toBe(413);
    expect((await sendTo(port, message, { body: '{' })).status).toBe(400);
    expect((await sendTo(port, message)).status).toBe(200);
  });

  it('completes streams when it drains', async () => {
    const server = new McpServer({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    const handler = fetchHandler(server, { logger: silentLogger });
    const app = new Hono();
    app.all('/mcp', (context) => handler.fetch(context.req.raw));
    const client = await connectTo(await onNode(app));
    void client.write(requestText(request('subscriptions/listen', { notifications: { toolsListChanged: true } })));
    await client.untilEvents(1);
    await within(handler.drain(), 1000);
    expect((await client.untilEvents(2))[1]).toHaveProperty('result');
    expect((await client.response()).isComplete).toBe(true);
  });
});
