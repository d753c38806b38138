import { expect, it, onTestFinished } from 'vitest';
import { type ChangeBus, type ChangeEvent, memoryBus } from '../../src/bus/index.ts';
import { SUBSCRIPTION_ID_META_KEY } from '../../src/protocol/index.ts';
import { McpServer, type McpServerOptions, ResourceTemplate } from '../../src/server/index.ts';
import { type Connect, describeMatrix, type MatrixClient, type Params, type RequestOptions } from '../matrix.ts';

const info = { name: 'changes', version: '1.0.0' };
const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};

function serverWith(options: McpServerOptions = {}): McpServer {
  const server = new McpServer(info, { capabilities, ...options });
  server.registerResource('files', new ResourceTemplate('file:///{+path}'), {}, () => '');
  return server;
}

/** Opens a listen that asked for these, behind its acknowledgement. */
async function listen(client: MatrixClient, notifications: Params, options?: RequestOptions) {
  const stream = await client.open('subscriptions/listen', { notifications }, options);
  const acknowledged = await stream.next();
  expect(acknowledged?.method).toBe('notifications/subscriptions/acknowledged');
  return { ...stream, honoured: acknowledged?.params?.notifications };
}

async function serve(connect: Connect, options?: McpServerOptions) {
  const server = serverWith(options);
  return { server, client: await connect(server) };
}

const everything = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

describeMatrix('changes', (connect) => {
  it('can be announced from outside of any request', async () => {
    const { server, client } = await serve(connect);
    const stream = await listen(client, { ...everything, resourceSubscriptions: ['file:///a'] }, { id: 'mine' });
    const _meta = { [SUBSCRIPTION_ID_META_KEY]: 'mine' };
    server.notify.toolsChanged();
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta },
    });
    server.notify.promptsChanged();
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/prompts/list_changed',
      params: { _meta },
    });
    server.notify.resourcesChanged();
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/list_changed',
      params: { _meta },
    });
    server.notify.resourceUpdated('file:///a');
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { _meta, uri: 'file:///a' },
    });
    await stream.close();
  });

  it('can be announced by a handler, and by a timer that outlives it', async () => {
    const { server, client } = await serve(connect);
    server.registerTool('change', {}, () => {
      server.notify.promptsChanged();
      setTimeout(() => server.notify.resourcesChanged(), 5);
      return 'ok';
    });
    const stream = await listen(client, { promptsListChanged: true, resourcesListChanged: true });
    await client.result('tools/call', { name: 'change' });
    expect(await stream.next()).toMatchObject({ method: 'notifications/prompts/list_changed' });
    expect(await stream.next()).toMatchObject({ method: 'notifications/resources/list_changed' });
    await stream.close();
  });

  it('that nobody listens to go nowhere', async () => {
    const { server, client } = await serve(connect);
    for (const _ of [1, 2, 3]) server.notify.resourceUpdated('file:///a', { within: ['file:///'] });
    const stream = await listen(client, everything);
    server.notify.toolsChanged();
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    await stream.close();
  });

  it('SUB-03: reach only those who asked for them', async () => {
    const { server, client } = await serve(connect);
    const tools = await listen(client, { toolsListChanged: true, promptsListChanged: false });
    const prompts = await listen(client, { promptsListChanged: true });
    const a = await listen(client, { resourceSubscriptions: ['file:///a'] });
    const b = await listen(client, { resourceSubscriptions: ['file:///b'] });
    server.notify.resourceUpdated('file:///a');
    server.notify.promptsChanged();
    server.notify.toolsChanged();
    server.notify.resourceUpdated('file:///b');
    expect(await tools.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect(await prompts.next()).toMatchObject({ method: 'notifications/prompts/list_changed' });
    expect(await a.next()).toMatchObject({ params: { uri: 'file:///a' } });
    expect(await b.next()).toMatchObject({ params: { uri: 'file:///b' } });
    for (const stream of [tools, prompts, a, b]) await stream.close();
  });

  it('of a part reach who watches the whole, once, and name the part', async () => {
    const { server, client } = await serve(connect);
    const whole = await listen(client, { resourceSubscriptions: ['file:///dir'] });
    const both = await listen(client, { resourceSubscriptions: ['file:///dir', 'file:///dir/a', 'file:///'] });
    const other = await listen(client, { resourceSubscriptions: ['file:///dir2', 'file:///di'] });
    server.notify.resourceUpdated('file:///dir/a', { within: ['file:///dir', 'file:///'] });
    server.notify.resourceUpdated('file:///dir2');
    server.notify.resourceUpdated('file:///dir');
    expect(await whole.next()).toMatchObject({ params: { uri: 'file:///dir/a' } });
    expect(await whole.next()).toMatchObject({ params: { uri: 'file:///dir' } });
    expect(await both.next()).toMatchObject({ params: { uri: 'file:///dir/a' } });
    expect(await both.next()).toMatchObject({ params: { uri: 'file:///dir' } });
    expect(await other.next()).toMatchObject({ params: { uri: 'file:///dir2' } });
    for (const stream of [whole, both, other]) await stream.close();
  });

  it('of the whole do not reach who watches a part', async () => {
    const { server, client } = await serve(connect);
    const part = await listen(client, { resourceSubscriptions: ['file:///dir/a'] });
    server.notify.resourceUpdated('file:///dir');
    server.notify.resourceUpdated('file:///dir/b', { within: ['file:///dir'] });
    server.notify.resourceUpdated('file:///dir/a');
    expect(await part.next()).toMatchObject({ params: { uri: 'file:///dir/a' } });
    await part.close();
  });

  it('reach every one of many listeners, and not those who left', async () => {
    const { server, client } = await serve(connect);
    const streams = await Promise.all(Array.from({ length: 20 }, async () => listen(client, everything)));
    for (const gone of streams.splice(0, 10)) await gone.close();
    server.notify.toolsChanged();
    for (const stream of streams) {
      expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
      await stream.close();
    }
  });

  it('many listeners cause no warning of the platform', async () => {
    const warnings: unknown[] = [];
    const warn = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const { client } = await serve(connect);
    const streams = await Promise.all(Array.from({ length: 30 }, async () => listen(client, everything)));
    for (const stream of streams) await stream.close();
    expect(warnings).toEqual([]);
  });

  it('of a server reach the listeners of another one over a common bus', async () => {
    const bus = memoryBus();
    const { server } = await serve(connect, { bus });
    const other = await serve(connect, { bus });
    const stream = await listen(other.client, { toolsListChanged: true, resourceSubscriptions: ['file:///a'] });
    server.registerTool('x', {}, () => '');
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    server.notify.resourceUpdated('file:///a/b', { within: ['file:///a'] });
    expect(await stream.next()).toMatchObject({ params: { uri: 'file:///a/b' } });
    await stream.close();
  });

  it('are published as they are said, and registrations only where they are declared', async () => {
    const events: ChangeEvent[] = [];
    const bus: ChangeBus = { publish: (event) => events.push(event), subscribe: () => () => {} };
    const server = new McpServer(info, { bus, capabilities: { prompts: { listChanged: true } } });
    server.registerTool('x', {}, () => '');
    server.registerPrompt('x', {}, () => '');
    server.notify.resourceUpdated('file:///a/b', { within: ['file:///a'] });
    expect(events).toEqual([{ key: 'prompts' }, { key: 'resource:file:///a/b', within: ['resource:file:///a'] }]);
  });

  it('JR-15: without anything declared there is nothing to listen to', async () => {
    const server = new McpServer(info);
    server.registerTool('x', {}, () => '');
    const client = await connect(server);
    expect((await client.error('subscriptions/listen', { notifications: everything })).code).toBe(-32601);
  });

  it('what is not declared is not honoured, and nothing honoured ends at once', async () => {
    const { client } = await serve(connect, { capabilities: { tools: { listChanged: true } } });
    const some = await listen(client, { ...everything, resourceSubscriptions: ['file:///a'] });
    expect(some.honoured).toEqual({ toolsListChanged: true });
    await some.close();
    const { notifications, message } = await client.request('subscriptions/listen', {
      notifications: { promptsListChanged: true },
    });
    expect(notifications).toMatchObject([{ params: { notifications: {} } }]);
    expect(message.result?.resultType).toBe('complete');
  });

  it('of one thing are announced once to who does not read, and names of prototypes are names', async () => {
    const { server, client } = await serve(connect);
    const stream = await listen(client, { resourceSubscriptions: ['file:///__proto__', 'file:///constructor'] });
    // All before the stream gets its turn.
    for (let count = 0; count < 1000; count++) server.notify.resourceUpdated('file:///__proto__');
    server.notify.resourceUpdated('file:///constructor');
    expect(await stream.next()).toMatchObject({ params: { uri: 'file:///__proto__' } });
    expect(await stream.next()).toMatchObject({ params: { uri: 'file:///constructor' } });
    await stream.close();
  });
});

describeMatrix(
  'a stream of changes',
  (connect) => {
    it('ends in good order when the server closes, with what was pending before', async () => {
      const { server, client } = await serve(connect);
      const stream = await listen(client, everything, { id: 'mine' });
      const drained = client.drain();
      expect(await stream.next()).toMatchObject({
        id: 'mine',
        result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID_META_KEY]: 'mine' } },
      });
      expect(await stream.next()).toBeUndefined();
      await drained;
      server.notify.toolsChanged();
    });
  },
  { over: 'wires' },
);
