import { describe, expect, it } from 'vitest';
import type { AuthInfo } from '../../src/protocol/index.ts';
import { type Caller, McpServer, type McpServerOptions, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix, expectHttp, type MatrixClient, type Params, type RequestOptions } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'visibility', version: '1.0.0' };
const capabilities = { resources: { listChanged: true, subscribe: true } };
const alice = { auth: { principal: 'alice' } };
const bob = { auth: { principal: 'bob' } };
const others = [bob, {}, { auth: { principal: '' } }];

const forAlice = [
  { how: 'at once', visible: ({ auth }: Caller) => auth?.principal === 'alice' },
  { how: 'with a promise', visible: async ({ auth }: Caller) => Promise.resolve(auth?.principal === 'alice') },
];

/** One hidden and one open definition of every kind; `runs` tells which hidden handlers ran. */
function serve(visible: (caller: Caller) => boolean | Promise<boolean>, options: McpServerOptions = {}) {
  const runs: string[] = [];
  const ran = (what: string) => () => {
    runs.push(what);
    return what;
  };
  const server = new McpServer(info, { capabilities, logger: recordingLogger(), ...options });
  const argsSchema = { type: 'object', properties: { a: { type: 'string' } } };
  const complete = { a: () => [ran('prompt completer')()] };
  server.registerTool('secret', { visible }, ran('tool'));
  server.registerTool('open', {}, () => 'open');
  server.registerPrompt('secret', { visible, argsSchema, complete }, ran('prompt'));
  server.registerPrompt('open', {}, () => 'open');
  server.registerResource('secret', 'secret:///1', { visible }, ran('resource'));
  server.registerResource('open', 'open:///1', {}, () => 'open');
  const template = new ResourceTemplate('family:///{a}', { complete: { a: () => [ran('template completer')()] } });
  server.registerResource('secret', template, { visible }, ran('template'));
  server.registerResource('open', new ResourceTemplate('openfamily:///{a}'), {}, () => 'open');
  return { server, runs };
}

const uses: readonly (readonly [method: string, params: Params, unknown: Params])[] = [
  ['tools/call', { name: 'secret' }, { name: 'nowhere' }],
  ['prompts/get', { name: 'secret' }, { name: 'nowhere' }],
  ['resources/read', { uri: 'secret:///1' }, { uri: 'nowhere:///1' }],
  ['resources/read', { uri: 'family:///1' }, { uri: 'nowhere:///1' }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'secret' }, argument: { name: 'a', value: '' } },
    { ref: { type: 'ref/prompt', name: 'nowhere' }, argument: { name: 'a', value: '' } },
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'family:///{a}' }, argument: { name: 'a', value: '' } },
    { ref: { type: 'ref/resource', uri: 'nowhere:///{a}' }, argument: { name: 'a', value: '' } },
  ],
];

const lists = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

async function names(client: MatrixClient, list: readonly [string, string], options: RequestOptions) {
  const result = await client.result(list[0], {}, options);
  return (result[list[1]] as { name: string }[]).map(({ name }) => name).sort();
}

describeMatrix('definitions that not everybody may see', (connect) => {
  describe.each(forAlice)('told $how', ({ visible }) => {
    it.each(lists)('%s shows them to whom they are for', async (...list) => {
      const client = await connect(serve(visible).server);
      for (const _ of [1, 2]) {
        expect(await names(client, list, alice)).toEqual(['open', 'secret']);
        for (const other of others) expect(await names(client, list, other)).toEqual(['open']);
      }
    });

    it.each(uses)(
      '%s %j: works for whom they are for, and for others is like an unknown one',
      async (method, params, unknown) => {
        const { server, runs } = serve(visible);
        const client = await connect(server);
        for (const other of others) {
          const hidden = await client.request(method, params, other);
          const missing = await client.request(method, unknown, other);
          expectHttp(hidden, missing.http === undefined ? {} : { status: missing.http.status });
          // Nothing but the name itself tells the two apart.
          const blurred = JSON.stringify(hidden.message.error).replaceAll(/secret|family/g, 'nowhere');
          expect(blurred).toBe(JSON.stringify(missing.message.error));
        }
        expect(runs).toEqual([]);
        await client.result(method, params, alice);
        expect(runs).toHaveLength(1);
      },
    );

    it('subscriptions/listen does not honour resources that are hidden', async () => {
      const client = await connect(serve(visible).server);
      const resourceSubscriptions = ['secret:///1', 'family:///1', 'open:///1'];
      const honoured = async (options: RequestOptions) => {
        await using listen = await client.open(
          'subscriptions/listen',
          { notifications: { resourceSubscriptions } },
          options,
        );
        return (await listen.next())?.params?.notifications;
      };
      expect(await honoured(alice)).toEqual({ resourceSubscriptions });
      for (const other of others) expect(await honoured(other)).toEqual({ resourceSubscriptions: ['open:///1'] });
    });
  });

  it('every caller has its own list, however many different ones there are', async () => {
    const server = new McpServer(info, { pageSize: 2 });
    const bits = 8;
    const has = ({ auth }: Caller, bit: number) => ((Number(auth?.principal) >> bit) & 1) === 1;
    for (let bit = 0; bit < bits; bit++)
      server.registerTool(`tool-${bit}`, { visible: (caller) => has(caller, bit) }, () => '');
    const client = await connect(server);
    const listFor = async (caller: number) => {
      const seen: string[] = [];
      let cursor: unknown;
      do {
        const params = cursor === undefined ? {} : { cursor };
        const { tools, nextCursor } = await client.result('tools/list', params, {
          auth: { principal: String(caller) },
        });
        seen.push(...(tools as { name: string }[]).map(({ name }) => name));
        cursor = nextCursor;
      } while (cursor !== undefined);
      return seen;
    };
    const callers = Array.from({ length: 2 ** bits }, (_, caller) => (caller * 37) % 2 ** bits);
    const all = await Promise.all(callers.map(async (caller) => [caller, await listFor(caller)] as const));
    for (const [caller, seen] of all) {
      expect(seen).toEqual(
        Array.from({ length: bits }, (_, bit) => bit)
          .filter((bit) => (caller >> bit) & 1)
          .map((bit) => `tool-${bit}`),
      );
    }
  });

  it('what a caller may see can change from one request to the next', async () => {
    let isOpen = false;
    const client = await connect(serve(() => isOpen).server);
    const list = ['tools/list', 'tools'] as const;
    expect(await names(client, list, {})).toEqual(['open']);
    isOpen = true;
    expect(await names(client, list, {})).toEqual(['open', 'secret']);
    isOpen = false;
    expect(await names(client, list, {})).toEqual(['open']);
  });

  it('a visible that fails hides: the answer is −32603, and its reference is in the log', async () => {
    for (const visible of [
      () => {
        throw new Error('password hunter2');
      },
      async () => Promise.reject(new Error('password hunter2')),
    ]) {
      const logger = recordingLogger();
      const { server, runs } = serve(visible, { logger });
      const client = await connect(server);
      for (const [method, params] of [['tools/list', {}], ...uses] as const) {
        const error = await client.error(method, params);
        expect(error.code).toBe(-32603);
        expect(JSON.stringify(error)).not.toContain('hunter2');
        expect(logger.byReference(referenceIn(error.message)).fields.error).toEqual(new Error('password hunter2'));
      }
      expect(runs).toEqual([]);
    }
  });

  it('sees the caller that was verified, whole', async () => {
    const seen: unknown[] = [];
    const auth: AuthInfo = { principal: 'p', scopes: ['s'], clientId: 'c', claims: { tenant: 7 } };
    const { server } = serve((caller) => seen.push(caller.auth) > 0);
    await (await connect(server)).result('tools/call', { name: 'secret' }, { auth });
    expect(seen).toEqual([auth]);
  });
});
