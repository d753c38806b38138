import express, { type Express } from 'express';
import { describe, expect, it } from 'vitest';
import { nodeListener } from '../../src/node/index.ts';
import { McpError } from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool, LOG_LEVEL_KEY, request } from '../wire/messages.ts';
import {
  aborted,
  connectTo,
  deferred,
  elapsed,
  listenOn,
  requestText,
  sendTo,
  silentLogger,
  within,
} from './harness.ts';

function makeServer(onStart: (signal: AbortSignal) => void = () => {}): McpServer {
  const server = new McpServer({ name: 'test', version: '1' });
  server.registerTool('greet', {}, (_input, { auth }) => `Hello ${auth?.principal ?? 'you'}`);
  server.registerTool('talk', {}, async (_input, { log }) => {
    await log('info', 'one');
    await log('info', 'two');
    return 'done';
  });
  server.registerTool('park', {}, async (_input, { signal }) => {
    onStart(signal);
    return new Promise(() => {});
  });
  return server;
}

const options = { allowedHosts: ['127.0.0.1'], logger: silentLogger };

/** The two ways to mount it. */
const mounts: readonly (readonly [name: string, mount: (server: McpServer) => Express])[] = [
  [
    'Express without a body parser',
    (server) => {
      const app = express();
      app.all('/mcp', nodeListener(server, options));
      return app;
    },
  ],
  [
    'Express with express.json()',
    (server) => {
      const app = express();
      app.use(express.json({ limit: '4mb' }));
      app.all('/mcp', nodeListener(server, options));
      return app;
    },
  ],
  [
    'Express with app.use and a router',
    (server) => {
      const app = express();
      const router = express.Router();
      router.use('/mcp', nodeListener(server, options));
      app.use(router);
      return app;
    },
  ],
];

describe.each(mounts)('%s', (_name, mount) => {
  it('answers calls', async () => {
    const port = await listenOn(mount(makeServer()));
    const { status, text } = await sendTo(port, callTool('greet'));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ result: { content: [{ text: 'Hello you' }] } });
  });

  it('streams', async () => {
    const port = await listenOn(mount(makeServer()));
    const client = await connectTo(port);
    void client.write(requestText(callTool('talk', {}, { meta: { [LOG_LEVEL_KEY]: 'debug' } })));
    expect(await client.untilEvents(3)).toMatchObject([{ params: { data: 'one' } }, { params: { data: 'two' } }, {}]);
    expect((await client.response()).isComplete).toBe(true);
  });

  it('passes on that the client left', async () => {
    const started = deferred<AbortSignal>();
    const port = await listenOn(mount(makeServer(started.resolve)));
    const client = await connectTo(port);
    void client.write(requestText(callTool('park')));
    const signal = await within(started.promise, 1000);
    client.socket.destroy();
    expect(await elapsed(aborted(signal), 1000)).toBeLessThan(100);
    console.log('fault: client socket destroyed behind Express');
  });

  it('answers what is not a POST, foreign hosts, and wrong headers', async () => {
    const port = await listenOn(mount(makeServer()));
    const get = await sendTo(port, undefined, { method: 'GET' });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await sendTo(port, callTool('greet'), { headers: { host: 'evil.example' } })).status).toBe(403);
    const mismatch = await sendTo(port, callTool('greet'), { headers: { 'mcp-name': 'other' } });
    expect(JSON.parse(mismatch.text)).toMatchObject({ error: { code: -32020 } });
  });

  it('refuses nesting without an end', async () => {
    const port = await listenOn(mount(makeServer()));
    for (const levels of [200, 20_000]) {
      const body = JSON.stringify(request('tools/list')).replace(
        '"params":{',
        `"params":{"deep":${'['.repeat(levels)}${']'.repeat(levels)},`,
      );
      const { status, text } = await sendTo(port, request('tools/list'), { body });
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({ error: { code: -32700 } });
    }
  });

  it('a second request on the connection works after an error', async () => {
    const port = await listenOn(mount(makeServer()));
    const client = await connectTo(port);
    for (const [message, status] of [
      [request('unknown/method'), 404],
      [callTool('greet'), 200],
    ] as const) {
      void client.write(requestText(message));
      expect((await client.response()).status).toBe(status);
    }
  });
});

it('Express: a path other than the endpoint is left to the application', async () => {
  const app = express();
  app.use('/mcp', nodeListener(makeServer(), options));
  app.get('/health', (_request, response) => void response.send('fine'));
  const port = await listenOn(app);
  expect((await sendTo(port, undefined, { method: 'GET', target: '/health' })).text).toBe('fine');
});

it('Express: authentication of the listener sees the head', async () => {
  const app = express();
  app.use(express.json());
  const listener = nodeListener(makeServer(), {
    ...options,
    authenticate: ({ headers }) => {
      if (headers.get('authorization') === 'Bearer good') return { principal: 'alice' };
      throw new McpError(401, 'Who are you?', { headers: { 'WWW-Authenticate': 'Bearer' } });
    },
  });
  app.all('/mcp', listener);
  const port = await listenOn(app);
  expect((await sendTo(port, callTool('greet'))).status).toBe(401);
  const { text } = await sendTo(port, callTool('greet'), { headers: { authorization: 'Bearer good' } });
  expect(text).toContain('Hello alice');
});

it('Express: an empty body behind express.json() is refused, at once', async () => {
  const app = express();
  app.use(express.json());
  app.all('/mcp', nodeListener(makeServer(), options));
  const port = await listenOn(app);
  const { status, text } = await within(sendTo(port, request('tools/list'), { body: '' }), 1000);
  expect(status).toBe(400);
  // Express says that there was an empty object.
  expect([-32700, -32600]).toContain((JSON.parse(text) as { error: { code: number } }).error.code);
});

it('Express: a body that something in front used up without leaving it is an error, at once', async () => {
  const app = express();
  app.use((incoming, _response, next) => {
    incoming.on('end', () => setImmediate(next));
    incoming.resume();
  });
  app.all('/mcp', nodeListener(makeServer(), options));
  const port = await listenOn(app);
  console.log('fault: middleware used the body up');
  const { status } = await within(sendTo(port, request('tools/list')), 1000);
  expect(status).toBeGreaterThanOrEqual(400);
});
