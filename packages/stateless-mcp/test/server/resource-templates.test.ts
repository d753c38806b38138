import { expect, it } from 'vitest';
import { ResourceNotFoundError } from '../../src/protocol/index.ts';
import {
  McpServer,
  ResourceTemplate,
  type ResourceTemplateOptions,
  type UriVariables,
} from '../../src/server/index.ts';
import { describeMatrix } from '../matrix.ts';
import { recordingLogger } from '../recording-logger.ts';

const info = { name: 'templates', version: '1.0.0' };

/** A server with one template, whose resources tell which variables were read. */
function serverWith(template: string, options?: ResourceTemplateOptions): McpServer {
  const server = new McpServer(info, { logger: recordingLogger() });
  server.registerResource('family', new ResourceTemplate(template, options), {}, (_uri, variables) =>
    JSON.stringify(variables),
  );
  return server;
}

function text(result: Readonly<Record<string, unknown>>): unknown {
  const [{ text: json }] = result.contents as [{ text: string }];
  return JSON.parse(json);
}

describeMatrix('resource templates', (connect) => {
  it('are listed as they were declared, sorted by template', async () => {
    const server = new McpServer(info);
    const read = () => '';
    server.registerResource('z', new ResourceTemplate('z:///{id}'), { title: 'Z', mimeType: 'text/plain' }, read);
    server.registerResource('a', new ResourceTemplate('a:///{+path}'), { description: 'files', _meta: { k: 1 } }, read);
    const client = await connect(server);
    expect((await client.result('resources/templates/list')).resourceTemplates).toEqual([
      { uriTemplate: 'a:///{+path}', name: 'a', description: 'files', _meta: { k: 1 } },
      { uriTemplate: 'z:///{id}', name: 'z', title: 'Z', mimeType: 'text/plain' },
    ]);
    expect((await client.result('resources/list')).resources).toEqual([]);
  });

  it.each([
    ['note:///{id}', 'note:///today', { id: 'today' }],
    ['note:///{id}', 'note:///caf%C3%A9%20au%20lait', { id: 'café au lait' }],
    ['note:///{id}', 'note:///café', { id: 'café' }],
    ['note:///{id}', 'note:///a%2Fb', { id: 'a/b' }],
    ['file:///{+path}', 'file:///a/b%20c.txt', { path: 'a/b c.txt' }],
    [
      'db:///{table}/{id}{?fields*}',
      'db:///users/5?fields=name&fields=age',
      { table: 'users', id: '5', fields: ['name', 'age'] },
    ],
    ['日記:///{id}', '日記:///%E4%BB%8A', { id: '今' }],
  ])('%s reads %s with decoded variables', async (template, uri, variables) => {
    const client = await connect(serverWith(template));
    const result = await client.result('resources/read', { uri });
    expect(text(result)).toEqual(variables);
    expect(result.contents).toEqual([expect.objectContaining({ uri })]);
  });

  it.each(['note:///', 'note:///a/b', 'note:///%', 'note:///%ff', 'NOTE:///a', 'other:///a', 'x'])(
    'note:///{id} does not stand for %s',
    async (uri) => {
      const client = await connect(serverWith('note:///{id}'));
      expect((await client.error('resources/read', { uri })).message).toBe('Resource not found');
    },
  );

  it('what expand makes is read back', async () => {
    const template = new ResourceTemplate('note:///{folder}/{id}');
    const server = new McpServer(info);
    server.registerResource('note', template, {}, (_uri, variables) => JSON.stringify(variables));
    const client = await connect(server);
    const values = { folder: 'a/b ?#', id: '../é%20' };
    expect(text(await client.result('resources/read', { uri: template.expand(values) }))).toEqual(values);
  });

  it('a guard sees decoded values, and what it refuses is an unknown resource', async () => {
    const seen: UriVariables[] = [];
    const guard = (variables: UriVariables): boolean => {
      seen.push(variables);
      return !String(variables.path).includes('..');
    };
    const client = await connect(serverWith('file:///{+path}', { guard }));
    expect(text(await client.result('resources/read', { uri: 'file:///a/b' }))).toEqual({ path: 'a/b' });
    for (const uri of ['file:///../secret', 'file:///..%2Fsecret', 'file:///%2e%2e/secret', 'file:///a%2f..%2fb']) {
      expect(await client.error('resources/read', { uri })).toEqual({
        code: -32602,
        message: 'Resource not found',
        data: { uri },
      });
    }
    expect(seen.at(-1)).toEqual({ path: 'a/../b' });
  });

  it('a guard that throws refuses, and its error stays in the log', async () => {
    const guard = () => {
      throw new Error('password hunter2');
    };
    const client = await connect(serverWith('file:///{+path}', { guard }));
    const error = await client.error('resources/read', { uri: 'file:///a' });
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it('a guard that answers anything but true refuses', async () => {
    for (const answer of [undefined, null, 0, '', Promise.resolve(false)]) {
      const guard = (() => answer) as unknown as () => boolean;
      const client = await connect(serverWith('file:///{+path}', { guard }));
      const { message } = await client.request('resources/read', { uri: 'file:///a' });
      expect(message.result, `guard answered ${String(answer)}`).toBeUndefined();
    }
  });

  it('a registered resource comes before all templates, then the template that was registered first', async () => {
    const server = new McpServer(info);
    server.registerResource('wide', new ResourceTemplate('note:///{id}'), {}, () => 'wide');
    server.registerResource('narrow', new ResourceTemplate('note:///a{rest}'), {}, () => 'narrow');
    server.registerResource('one', 'note:///abc', {}, () => 'one');
    const client = await connect(server);
    const read = async (uri: string) => ((await client.result('resources/read', { uri })).contents as object[])[0];
    expect(await read('note:///abc')).toMatchObject({ text: 'one' });
    expect(await read('note:///abd')).toMatchObject({ text: 'wide' });
  });

  it('a template whose guard refuses leaves the resource to the next one', async () => {
    const server = new McpServer(info);
    const never = new ResourceTemplate('note:///{id}', { guard: () => false });
    server.registerResource('never', never, {}, () => 'never');
    server.registerResource('always', new ResourceTemplate('note:///{+id}'), {}, () => 'always');
    const client = await connect(server);
    expect(await client.result('resources/read', { uri: 'note:///a' })).toMatchObject({
      contents: [{ text: 'always' }],
    });
  });

  it('a hidden template leaves the resource to the next one too', async () => {
    const server = new McpServer(info);
    server.registerResource('hidden', new ResourceTemplate('note:///{id}'), { visible: () => false }, () => 'hidden');
    server.registerResource('shown', new ResourceTemplate('note:///{+id}'), {}, () => 'shown');
    const client = await connect(server);
    expect(await client.result('resources/read', { uri: 'note:///a' })).toMatchObject({
      contents: [{ text: 'shown' }],
    });
  });

  it('a hidden resource is not found through a template either', async () => {
    const server = new McpServer(info);
    server.registerResource('all', new ResourceTemplate('note:///{id}'), {}, () => 'through the template');
    server.registerResource('secret', 'note:///secret', { visible: () => false }, () => 'secret');
    const client = await connect(server);
    expect((await client.error('resources/read', { uri: 'note:///secret' })).message).toBe('Resource not found');
  });

  it('a disabled resource is not found through a template either', async () => {
    const server = new McpServer(info);
    server.registerResource('all', new ResourceTemplate('note:///{id}'), {}, () => 'through the template');
    server.registerResource('secret', 'note:///secret', {}, () => 'secret').disable();
    const client = await connect(server);
    expect((await client.error('resources/read', { uri: 'note:///secret' })).message).toBe('Resource not found');
  });

  it('a handler can say that there is no such resource', async () => {
    const server = new McpServer(info);
    server.registerResource('note', new ResourceTemplate('note:///{id}'), {}, (uri) => {
      throw new ResourceNotFoundError(uri);
    });
    const client = await connect(server);
    expect((await client.error('resources/read', { uri: 'note:///a' })).data).toEqual({ uri: 'note:///a' });
  });

  it('variables have no prototype names', async () => {
    const client = await connect(serverWith('note:///{id}{?constructor,__proto__}'));
    expect(text(await client.result('resources/read', { uri: 'note:///a' }))).toEqual({ id: 'a' });
    const server = new McpServer(info);
    server.registerResource('note', new ResourceTemplate('note:///{id}{?toString}'), {}, (_uri, variables) =>
      String(variables.toString),
    );
    const other = await connect(server);
    expect(await other.result('resources/read', { uri: 'note:///a' })).toMatchObject({
      contents: [{ text: 'undefined' }],
    });
  });

  it('cache hints and media type of the template are those of its resources', async () => {
    const server = new McpServer(info);
    const config = { mimeType: 'text/plain', cacheHints: { ttlMs: 9, cacheScope: 'public' } } as const;
    server.registerResource('note', new ResourceTemplate('note:///{id}'), config, () => 'x');
    const client = await connect(server);
    expect(await client.result('resources/read', { uri: 'note:///a' })).toMatchObject({
      ttlMs: 9,
      cacheScope: 'public',
      contents: [{ uri: 'note:///a', mimeType: 'text/plain', text: 'x' }],
    });
  });
});
