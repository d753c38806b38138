import { expect, it } from 'vitest';
import { ResourceNotFoundError } from '../../src/protocol/index.ts';
import { McpServer, type ResourceConfig, type ResourceReturn } from '../../src/server/index.ts';
import { type Connect, describeMatrix } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'resources', version: '1.0.0' };
const uri = 'note://today';

async function serve(connect: Connect, config: ResourceConfig, read: () => ResourceReturn | Promise<ResourceReturn>) {
  const logger = recordingLogger();
  const server = new McpServer(info, { logger });
  server.registerResource('today', uri, config, read);
  return { client: await connect(server), logger };
}

describeMatrix('reading resources', (connect) => {
  it('a string is a text under the URI that was asked for, with the declared type', async () => {
    const { client } = await serve(connect, { mimeType: 'text/markdown' }, () => '# Today');
    expect(await client.result('resources/read', { uri })).toEqual({
      resultType: 'complete',
      contents: [{ uri, mimeType: 'text/markdown', text: '# Today' }],
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': info },
    });
  });

  it('the empty string is a text too', async () => {
    const { client } = await serve(connect, {}, () => '');
    expect((await client.result('resources/read', { uri })).contents).toEqual([{ uri, text: '' }]);
  });

  it.each([0, 1, 3, 0x8000 - 1, 0x8000, 0x8000 + 1, 200_000])('%i bytes are a blob', async (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + 200) % 256);
    const { client } = await serve(connect, {}, () => bytes);
    const { contents } = await client.result('resources/read', { uri });
    expect(contents).toEqual([{ uri, blob: Buffer.from(bytes).toString('base64') }]);
  });

  it('a view of a larger buffer is sent as the view alone', async () => {
    const { client } = await serve(connect, {}, () => new Uint8Array([9, 1, 2, 9]).subarray(1, 3));
    const { contents } = await client.result('resources/read', { uri });
    expect(contents).toEqual([{ uri, blob: Buffer.from([1, 2]).toString('base64') }]);
  });

  it('a whole result passes, with several contents and metadata', async () => {
    const contents = [
      { uri: 'note://today#a', text: 'a', mimeType: 'text/plain' },
      { uri: 'note://today#b', blob: 'AAAA' },
    ];
    const { client } = await serve(connect, { mimeType: 'text/html' }, () => ({
      contents,
      _meta: { 'com.example/x': 1 },
    }));
    const result = await client.result('resources/read', { uri });
    expect(result.contents).toEqual(contents);
    expect(result._meta).toEqual({ 'com.example/x': 1, 'io.modelcontextprotocol/serverInfo': info });
  });

  it('FEAT-01: an unknown resource is −32602 that names it', async () => {
    const { client } = await serve(connect, {}, () => '');
    expect(await client.error('resources/read', { uri: 'note://tomorrow' })).toEqual({
      code: -32602,
      message: 'Resource not found',
      data: { uri: 'note://tomorrow' },
    });
  });

  it('URIs are compared as they are written', async () => {
    const { client } = await serve(connect, {}, () => '');
    for (const other of ['NOTE://today', 'note://today/', 'note://Today', 'note://%74oday', ' note://today']) {
      expect((await client.error('resources/read', { uri: other })).data).toEqual({ uri: other });
    }
  });

  it('a handler can say that the resource does not exist', async () => {
    const { client, logger } = await serve(connect, {}, () => {
      throw new ResourceNotFoundError(uri);
    });
    expect(await client.error('resources/read', { uri })).toMatchObject({ code: -32602, data: { uri } });
    expect(logger.entries).toEqual([]);
  });

  it('an unexpected error is −32603 with a reference that is in the log, and nothing else', async () => {
    const { client, logger } = await serve(connect, {}, async () => Promise.reject(new Error('password hunter2')));
    const error = await client.error('resources/read', { uri });
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(logger.byReference(referenceIn(error.message)).fields.error).toEqual(new Error('password hunter2'));
  });

  it.each([undefined, null, 7, {}, { contents: 'text' }, { contents: [null] }, ['text']])(
    'what cannot be a result (%j) is −32603, and the log says what to return',
    async (value) => {
      const { client, logger } = await serve(connect, {}, () => value as unknown as string);
      const { code, message } = await client.error('resources/read', { uri });
      expect(code).toBe(-32603);
      expect(String(logger.byReference(referenceIn(message)).fields.error)).toContain(`resource "${uri}"`);
    },
  );

  it('a URI that is no string is −32602', async () => {
    const { client } = await serve(connect, {}, () => '');
    for (const wrong of [undefined, null, 7, ['note://today'], {}]) {
      expect((await client.error('resources/read', { uri: wrong })).code).toBe(-32602);
    }
  });

  it('prototype names are unknown resources', async () => {
    const { client } = await serve(connect, {}, () => '');
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect((await client.error('resources/read', { uri: name })).data).toEqual({ uri: name });
    }
  });
});

describeMatrix('cache hints of resources', (connect) => {
  it('are those of the definition', async () => {
    const { client } = await serve(connect, { cacheHints: { ttlMs: 60_000, cacheScope: 'public' } }, () => 'x');
    expect(await client.result('resources/read', { uri })).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
  });

  it('are those of the result where it has any', async () => {
    const { client } = await serve(connect, { cacheHints: { ttlMs: 60_000, cacheScope: 'public' } }, () => ({
      contents: [{ uri, text: 'x' }],
      ttlMs: 5,
    }));
    expect(await client.result('resources/read', { uri })).toMatchObject({ ttlMs: 5, cacheScope: 'public' });
  });

  it.each([{ ttlMs: -1 }, { ttlMs: 1.5 }, { ttlMs: Number.NaN }, { cacheScope: 'shared' }])(
    'a result with hints that are not valid (%j) is −32603',
    async (hints) => {
      const result = { contents: [{ uri, text: 'x' }], ...hints } as unknown as ResourceReturn;
      const { client, logger } = await serve(connect, {}, () => result);
      expect((await client.error('resources/read', { uri })).code).toBe(-32603);
      expect(logger.entries).toHaveLength(1);
    },
  );

  it.each([{ inputResponses: {} }, { requestState: 'state' }, { inputResponses: {}, requestState: 'state' }])(
    'CACHE-05: of a retried request (%j) are 0 and private, whatever was declared',
    async (retry) => {
      const { client } = await serve(connect, { cacheHints: { ttlMs: 60_000, cacheScope: 'public' } }, () => ({
        contents: [{ uri, text: 'x' }],
        ttlMs: 60_000,
        cacheScope: 'public',
      }));
      const result = await client.result('resources/read', { uri, ...retry });
      expect(result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    },
  );
});

describeMatrix('the list of resources', (connect) => {
  it('shows what was declared, sorted by URI', async () => {
    const server = new McpServer(info);
    server.registerResource(
      'b',
      'note://b',
      { title: 'B', description: 'the second', mimeType: 'text/plain', size: 3 },
      () => '',
    );
    server.registerResource('a', 'note://a', { annotations: { priority: 1, audience: ['user'] } }, () => '');
    server.registerResource(
      'same name',
      'note://c',
      { icons: [{ src: 'https://a.example/i.png' }], _meta: { k: 1 } },
      () => '',
    );
    const { resources } = await (await connect(server)).result('resources/list');
    expect(resources).toEqual([
      { uri: 'note://a', name: 'a', annotations: { priority: 1, audience: ['user'] } },
      { uri: 'note://b', name: 'b', title: 'B', description: 'the second', mimeType: 'text/plain', size: 3 },
      { uri: 'note://c', name: 'same name', icons: [{ src: 'https://a.example/i.png' }], _meta: { k: 1 } },
    ]);
  });
});
