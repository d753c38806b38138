import { expect, it } from 'vitest';
import { z } from 'zod';
import { McpServer, type McpServerOptions, type Registration, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix, type MatrixClient, type Params } from '../matrix.ts';

const info = { name: 'handles', version: '1.0.0' };
const announcing: McpServerOptions = {
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
  },
};

interface Kind {
  readonly kind: string;
  readonly register: (server: McpServer, answer: string) => Registration<{ readonly title?: string }, never>;
  readonly list: string;
  readonly member: string;
  readonly changed: string;
  readonly use: readonly [method: string, params: Params];
}

const kinds: readonly Kind[] = [
  {
    kind: 'tool',
    register: (server, answer) => server.registerTool('x', {}, () => answer),
    list: 'tools/list',
    member: 'tools',
    changed: 'tools',
    use: ['tools/call', { name: 'x' }],
  },
  {
    kind: 'prompt',
    register: (server, answer) => server.registerPrompt('x', {}, () => answer),
    list: 'prompts/list',
    member: 'prompts',
    changed: 'prompts',
    use: ['prompts/get', { name: 'x' }],
  },
  {
    kind: 'resource',
    register: (server, answer) => server.registerResource('x', 'x:///1', {}, () => answer),
    list: 'resources/list',
    member: 'resources',
    changed: 'resources',
    use: ['resources/read', { uri: 'x:///1' }],
  },
  {
    kind: 'resource template',
    register: (server, answer) => server.registerResource('x', new ResourceTemplate('x:///{id}'), {}, () => answer),
    list: 'resources/templates/list',
    member: 'resourceTemplates',
    changed: 'resources',
    use: ['resources/read', { uri: 'x:///1' }],
  },
];

async function titles(client: MatrixClient, { list, member }: Kind): Promise<readonly unknown[]> {
  const result = await client.result(list);
  return (result[member] as { name: string; title?: string }[]).map(({ name, title }) => title ?? name);
}

describeMatrix('handles', (connect) => {
  it.each(kinds)('$kind: can be taken back and offered again', async (kind) => {
    const server = new McpServer(info, announcing);
    const handle = kind.register(server, 'first');
    const client = await connect(server);
    expect(handle.enabled).toBe(true);
    expect(JSON.stringify(await client.result(...kind.use))).toContain('first');

    handle.disable();
    expect(handle.enabled).toBe(false);
    expect(await titles(client, kind)).toEqual([]);
    expect((await client.error(...kind.use)).code).toBe(-32602);

    handle.enable();
    expect(handle.enabled).toBe(true);
    expect(await titles(client, kind)).toEqual(['x']);
    expect(JSON.stringify(await client.result(...kind.use))).toContain('first');

    handle.remove();
    expect(await titles(client, kind)).toEqual([]);
    expect((await client.error(...kind.use)).code).toBe(-32602);
  });

  it.each(kinds)('$kind: an update changes what it names and keeps the rest', async (kind) => {
    const server = new McpServer(info, announcing);
    const handle = kind.register(server, 'first');
    const client = await connect(server);
    handle.update({ title: 'Title' });
    expect(await titles(client, kind)).toEqual(['Title']);
    expect(JSON.stringify(await client.result(...kind.use))).toContain('first');
    handle.update({}, (() => 'second') as never);
    expect(await titles(client, kind)).toEqual(['Title']);
    expect(JSON.stringify(await client.result(...kind.use))).toContain('second');
  });

  it.each(kinds)('$kind: the key of a removed one is free, and its old handle changes nothing', async (kind) => {
    const server = new McpServer(info, announcing);
    const old = kind.register(server, 'old');
    old.remove();
    kind.register(server, 'new');
    const client = await connect(server);
    const unchanged = async () => {
      expect(await titles(client, kind)).toEqual(['x']);
      expect(JSON.stringify(await client.result(...kind.use))).toContain('new');
    };
    old.remove();
    await unchanged();
    old.disable();
    old.enable();
    await unchanged();
    old.update({ title: 'Title' }, (() => 'old') as never);
    await unchanged();
  });

  it.each(kinds)('$kind: every change arrives on a listen, and one of a dead handle does not', async (kind) => {
    const server = new McpServer(info, announcing);
    const client = await connect(server);
    await using listen = await client.open('subscriptions/listen', {
      notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
    });
    expect(await listen.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
    const changed = { method: `notifications/${kind.changed}/list_changed` };

    const handle = kind.register(server, 'first');
    expect(await listen.next()).toMatchObject(changed);
    handle.update({ title: 'Title' });
    expect(await listen.next()).toMatchObject(changed);
    handle.disable();
    expect(await listen.next()).toMatchObject(changed);
    handle.enable();
    expect(await listen.next()).toMatchObject(changed);
    handle.remove();
    expect(await listen.next()).toMatchObject(changed);

    handle.enable();
    handle.remove();
    handle.update({ title: 'Nobody sees it' });
    server.notify.resourceUpdated('x:///nobody');
    // Something else that comes afterwards tells that nothing came before.
    const other = kind.changed === 'tools' ? 'prompts' : 'tools';
    if (other === 'tools') server.notify.toolsChanged();
    else server.notify.promptsChanged();
    expect(await listen.next()).toMatchObject({ method: `notifications/${other}/list_changed` });
  });

  it('disabling twice announces once', async () => {
    const server = new McpServer(info, announcing);
    const handle = server.registerTool('x', {}, () => '');
    const client = await connect(server);
    await using listen = await client.open('subscriptions/listen', {
      notifications: { toolsListChanged: true, promptsListChanged: true },
    });
    await listen.next();
    handle.disable();
    expect(await listen.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    handle.disable();
    server.notify.promptsChanged();
    expect(await listen.next()).toMatchObject({ method: 'notifications/prompts/list_changed' });
  });

  it('an update that is refused changes nothing', async () => {
    const server = new McpServer(info, announcing);
    const inputSchema = z.object({ city: z.string() });
    const handle = server.registerTool('x', { title: 'Title', inputSchema }, ({ city }) => city);
    const client = await connect(server);
    const before = await client.result('tools/list');
    expect(() => handle.update({ title: 'Other', inputSchema: {} as never })).toThrow(TypeError);
    expect(() => handle.update({ timeoutMs: 0 })).toThrow(RangeError);
    expect(await client.result('tools/list')).toEqual(before);
    const call = { name: 'x', arguments: { city: 'Rome' } };
    expect(await client.result('tools/call', call)).toMatchObject({ content: [{ text: 'Rome' }] });
    handle.update({ description: 'works again' });
    expect((await client.result('tools/list')).tools).toMatchObject([{ title: 'Title', description: 'works again' }]);
  });

  it('a call that is running ends as it began, whatever happens to its tool', async () => {
    const server = new McpServer(info, announcing);
    const started = withResolve();
    const goOn = withResolve();
    const handle = server.registerTool('x', {}, async () => {
      started.resolve();
      await goOn.promise;
      return 'old';
    });
    const client = await connect(server);
    const running = client.result('tools/call', { name: 'x' });
    await started.promise;
    handle.update({}, () => 'new');
    handle.remove();
    goOn.resolve();
    expect(await running).toMatchObject({ content: [{ text: 'old' }] });
  });

  it('a new schema is the one that is advertised and checked', async () => {
    const server = new McpServer(info, announcing);
    const handle = server.registerTool('x', {}, (input) => JSON.stringify(input));
    const client = await connect(server);
    handle.update({ inputSchema: z.object({ days: z.number().default(3) }) as never });
    expect(JSON.stringify((await client.result('tools/list')).tools)).toContain('days');
    expect(await client.result('tools/call', { name: 'x' })).toMatchObject({ content: [{ text: '{"days":3}' }] });
    handle.update({ inputSchema: undefined });
    expect((await client.result('tools/call', { name: 'x', arguments: { days: 3 } })).isError).toBe(true);
  });
});

function withResolve(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
