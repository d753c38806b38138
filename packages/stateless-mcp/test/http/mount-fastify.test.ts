import { fastify, type FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeListener } from '../../src/node/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import { aborted, connectTo, deferred, elapsed, requestText, sendTo, silentLogger, within } from './harness.ts';

function makeServer(onStart: (signal: AbortSignal) => void = () => {}): McpServer {
  const server = new McpServer({ name: 'test', version: '1' });
  server.registerTool('greet', {}, () => 'Hello');
  server.registerTool('talk', {}, async (_input, { log }) => {
    await log('info', 'one');
    return 'done';
  });
  server.registerTool('park', {}, async (_input, { signal }) => {
    onStart(signal);
    return new Promise(() => {});
  });
  return server;
}

const options = { allowedHosts: ['127.0.0.1'], logger: silentLogger };

const mounts: readonly (readonly [name: string, mount: (app: FastifyInstance, server: McpServer) => void])[] = [
  [
    'Fastify with its own body parser',
    (app, server) => {
      const listener = nodeListener(server, options);
      app.all('/mcp', (incoming, reply) => {
        reply.hijack();
        listener(incoming.raw, reply.raw, incoming.body);
      });
    },
  ],
  [
    'Fastify with the body left to the listener',
    (app, server) => {
      const listener = nodeListener(server, options);
      app.register(async (scope) => {
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
        scope.all('/mcp', (incoming, reply) => {
          reply.hijack();
          listener(incoming.raw, reply.raw);
        });
      });
    },
  ],
];

async function served(mount: (app: FastifyInstance, server: McpServer) => void, server: McpServer): Promise<number> {
  const app = fastify({ forceCloseConnections: true });
  mount(app, server);
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void app.close());
  return (app.server.address() as AddressInfo).port;
}

describe.each(mounts)('%s', (_name, mount) => {
  it('answers calls', async () => {
    const port = await served(mount, makeServer());
    const { status, text } = await sendTo(port, callTool('greet'));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ result: { content: [{ text: 'Hello' }] } });
  });

  it('streams', async () => {
    const client = await connectTo(await served(mount, makeServer()));
    void client.write(requestText(callTool('talk', {}, { meta: { [LOG_LEVEL_KEY]: 'debug' } })));
    expect(await client.untilEvents(2)).toMatchObject([{ params: { data: 'one' } }, { result: {} }]);
    expect((await client.response()).isComplete).toBe(true);
  });

  it('passes on that the client left', async () => {
    const started = deferred<AbortSignal>();
    const client = await connectTo(await served(mount, makeServer(started.resolve)));
    void client.write(requestText(callTool('park')));
    const signal = await within(started.promise, 1000);
    client.socket.destroy();
    expect(await elapsed(aborted(signal), 1000)).toBeLessThan(100);
    console.log('fault: client socket destroyed behind Fastify');
  });

  it('answers GET, foreign hosts, and deep nesting', async () => {
    const port = await served(mount, makeServer());
    const get = await sendTo(port, undefined, {
      method: 'GET',
      headers: { 'content-type': null, 'content-length': null },
    });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await sendTo(port, callTool('greet'), { headers: { host: 'evil.example' } })).status).toBe(403);
    const message = request('tools/list');
    const deep = `"params":{"deep":${'['.repeat(200)}${']'.repeat(200)},`;
    const { status, text } = await sendTo(port, message, { body: JSON.stringify(message).replace('"params":{', deep) });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32700 } });
  });

  it('keeps a connection', async () => {
    const client = await connectTo(await served(mount, makeServer()));
    for (let turn = 0; turn < 3; turn++) {
      void client.write(requestText(callTool('greet')));
      expect((await client.response()).status).toBe(200);
    }
  });
});

it('Fastify with its own body parser: null is a message like others, and none', async () => {
  const port = await served(mounts[0]?.[1] as (typeof mounts)[number][1], makeServer());
  const { status, text } = await sendTo(port, request('tools/list'), { body: 'null' });
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({ error: { code: -32600 } });
});

it('Fastify with the body left to the listener: the limits are those of the listener', async () => {
  const mount = mounts[1]?.[1] as (typeof mounts)[number][1];
  const port = await served(mount, makeServer());
  const message = callTool('greet', { text: 'x'.repeat(2 * 1024 * 1024) });
  // More than Fastify's own limit of 1 MiB.
  expect((await sendTo(port, message)).status).toBe(200);
  const broken = await sendTo(port, message, { body: '{' });
  expect(JSON.parse(broken.text)).toMatchObject({ error: { code: -32700 } });
});
