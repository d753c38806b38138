import { expect, it } from 'vitest';
import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, type AuthInfo } from '../../src/protocol/index.ts';
import { McpServer, type RequestContext } from '../../src/server/index.ts';
import { type Connect, describeMatrix, type RequestOptions } from '../matrix.ts';
import { type RecordingLogger, recordingLogger } from '../recording-logger.ts';

const info = { name: 'context', version: '1.0.0' };

/** Calls a tool that answers with what it sees. */
async function see(connect: Connect, look: (context: RequestContext) => unknown, options: RequestOptions = {}) {
  const server = new McpServer(info);
  server.registerTool('look', { outputSchema: {} }, (_input, context) => ({ seen: look(context) ?? null }));
  const result = await (await connect(server)).result('tools/call', { name: 'look' }, options);
  return (result.structuredContent as { seen: unknown }).seen;
}

describeMatrix('the context of a handler', (connect, carrier) => {
  it('can be destructured, in parameters and later', async () => {
    const meta = { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' };
    const server = new McpServer(info);
    server.registerTool(
      'look',
      {},
      async (_input, { signal, closing, auth, http, client, meta: own, wantsProgress, progress, log }) => {
        await progress(1);
        await log('info', 'hello');
        return JSON.stringify([
          signal.aborted,
          closing.aborted,
          auth?.principal,
          typeof http,
          client.capabilities,
          'io.modelcontextprotocol/protocolVersion' in own,
          wantsProgress,
        ]);
      },
    );
    const options = { meta, auth: { principal: 'alice' } };
    const answer = await (await connect(server)).request('tools/call', { name: 'look' }, options);
    expect(answer.notifications).toHaveLength(2);
    const http = carrier === 'http' ? 'object' : 'undefined';
    expect(answer.message.result?.content).toEqual([
      { type: 'text', text: `[false,false,"alice","${http}",{},true,true]` },
    ]);
  });

  it('has the caller that was verified, whole, or nobody', async () => {
    const auth: AuthInfo = { principal: 'alice', scopes: ['a'], clientId: 'c', expiresAt: 4e12, claims: { tenant: 7 } };
    expect(await see(connect, (context) => context.auth, { auth })).toEqual(auth);
    expect(await see(connect, (context) => context.auth)).toBeNull();
  });

  it('META-07: knows what the client can do for this one request', async () => {
    const meta = { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { url: {} }, 'com.example': 1 } };
    const server = new McpServer(info);
    server.registerTool('look', {}, (_input, { client }) => JSON.stringify(client.capabilities));
    const client = await connect(server);
    const call = async (options?: RequestOptions) => client.result('tools/call', { name: 'look' }, options);
    expect(await call({ meta })).toMatchObject({ content: [{ text: '{"elicitation":{"url":{}},"com.example":1}' }] });
    expect(await call()).toMatchObject({ content: [{ text: '{}' }] });
  });

  it('knows the client as it describes itself', async () => {
    const description = { name: 'inspector', version: '2.0.0', title: 'Inspector' };
    const meta = { [CLIENT_INFO_META_KEY]: description };
    expect(await see(connect, ({ client }) => client.info, { meta })).toEqual(description);
    expect(await see(connect, ({ client }) => client.info)).toBeNull();
  });

  it.each([null, 7, 'inspector', [], {}, { name: 'x' }, { name: 'x', version: 1 }, { version: '1' }])(
    'META-04: a malformed description (%j) is ignored',
    async (description) => {
      const meta = { [CLIENT_INFO_META_KEY]: description };
      expect(await see(connect, ({ client }) => client.info, { meta })).toBeNull();
    },
  );

  it('has unknown metadata of the request', async () => {
    const meta = { 'com.example/tenant': { id: 7 }, traceparent: '00-abc' };
    expect(await see(connect, (context) => context.meta, { meta })).toMatchObject(meta);
  });
});

describeMatrix(
  'the HTTP request in the context of a handler',
  (connect) => {
    it('has the headers, in any case', async () => {
      const headers = { 'X-Tenant': 'acme' };
      const look = ({ http }: RequestContext) => [
        http?.headers.get('x-tenant'),
        http?.headers.get('X-TENANT'),
        http?.headers.get('x-none'),
      ];
      expect(await see(connect, look, { http: { headers } })).toEqual(['acme', 'acme', null]);
    });

    it('header names of the prototype are absent headers', async () => {
      const look = ({ http }: RequestContext) =>
        ['constructor', '__proto__', 'toString', 'hasOwnProperty'].map((name) => http?.headers.get(name));
      expect(await see(connect, look)).toEqual([null, null, null, null]);
    });

    it('has its URL', async () => {
      expect(await see(connect, ({ http }) => http?.url.endsWith('/mcp'))).toBe(true);
    });
  },
  { over: 'http' },
);

/** A tool that waits until it is told to stop. */
function waitingServer() {
  const started = deferred<RequestContext>();
  const stopped = deferred<unknown>();
  const logger = recordingLogger();
  const server = new McpServer(info, { logger });
  server.registerTool('wait', {}, async (_input, context) => {
    started.resolve(context);
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve, { once: true }));
    stopped.resolve(context.signal.reason);
    throw context.signal.reason;
  });
  return { server, logger, started: started.promise, stopped: stopped.promise };
}

/** Calls a tool, leaves, and looks at what its handler sees of that. */
async function expectStopped(connect: Connect, options: RequestOptions = {}): Promise<void> {
  const { server, logger, started, stopped } = waitingServer();
  const client = await connect(server, { logger });
  const leaving = new AbortController();
  const answer = client.request('tools/call', { name: 'wait' }, { ...options, signal: leaving.signal });
  await started;
  leaving.abort();
  await expectGone(answer);
  expect(await stopped).toMatchObject({ name: 'AbortError' });
  expectQuiet(logger);
}

/** Who leaves is no trouble. */
function expectQuiet({ entries }: RecordingLogger): void {
  expect(entries.filter(({ level }) => level !== 'debug')).toEqual([]);
}

async function expectGone(request: Promise<unknown>): Promise<void> {
  await expect(request).rejects.toThrow();
}

describeMatrix('a caller that leaves', (connect) => {
  it('CANC-02: aborts the signal of its handler', async () => {
    await expectStopped(connect);
  });

  it('CANC-02: aborts the signal of its handler, in the middle of a stream', async () => {
    const { server, logger, started, stopped } = waitingServer();
    const client = await connect(server, { logger });
    const answer = client.open('tools/call', { name: 'wait' }, { meta: { progressToken: 1 } });
    await (await started).progress(1);
    const stream = await answer;
    expect(await stream.next()).toMatchObject({ params: { progress: 1 } });
    await stream.close();
    expect(await stopped).toMatchObject({ name: 'AbortError' });
    expectQuiet(logger);
  });

  it('does not disturb others', async () => {
    const { server, started, stopped } = waitingServer();
    server.registerTool('other', {}, () => 'undisturbed');
    const client = await connect(server);
    const leaving = new AbortController();
    const answer = client.request('tools/call', { name: 'wait' }, { signal: leaving.signal });
    await started;
    const other = client.result('tools/call', { name: 'other' });
    leaving.abort();
    await expectGone(answer);
    await stopped;
    expect(await other).toMatchObject({ content: [{ text: 'undisturbed' }] });
  });

  it('a handler that ignores the signal finishes for nobody', async () => {
    const logger = recordingLogger();
    const started = deferred<RequestContext>();
    const finish = deferred<unknown>();
    const finished = deferred<unknown>();
    const server = new McpServer(info, { logger });
    server.registerTool('stubborn', {}, async (_input, context) => {
      started.resolve(context);
      await finish.promise;
      finished.resolve(undefined);
      return 'too late';
    });
    const client = await connect(server, { logger });
    const leaving = new AbortController();
    const answer = client.request('tools/call', { name: 'stubborn' }, { signal: leaving.signal });
    const { signal } = await started.promise;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    leaving.abort();
    await expectGone(answer);
    await aborted;
    finish.resolve(undefined);
    await finished.promise;
    expect(await client.result('tools/list')).toMatchObject({ tools: [{ name: 'stubborn' }] });
    expectQuiet(logger);
  });
});

describeMatrix(
  'a caller that leaves an HTTP request',
  (connect) => {
    it('CANC-02: aborts the signal of its handler, before a JSON answer', async () => {
      await expectStopped(connect, { http: { accept: 'application/json' } });
    });
  },
  { over: 'http' },
);

describeMatrix(
  'a server that closes',
  (connect) => {
    it('tells its handlers, which may still answer', async () => {
      const started = deferred<RequestContext>();
      const server = new McpServer(info);
      server.registerTool('work', {}, async (_input, context) => {
        started.resolve(context);
        await new Promise((resolve) => context.closing.addEventListener('abort', resolve, { once: true }));
        return context.signal.aborted ? 'aborted' : 'finished';
      });
      const client = await connect(server);
      const answer = client.result('tools/call', { name: 'work' });
      await started.promise;
      const drained = client.drain();
      expect(await answer).toMatchObject({ content: [{ text: 'finished' }] });
      await drained;
    });
  },
  { over: 'wires' },
);

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
}

function deferred<Value>(): Deferred<Value> {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
