import { expect, it } from 'vitest';
import type { ClientCapabilities } from '../../src/protocol/index.ts';
import { CLIENT_CAPABILITIES_META_KEY } from '../../src/protocol/index.ts';
import { type DefinitionConfig, McpServer, ResourceTemplate } from '../../src/server/index.ts';
import { describeMatrix, expectHttp, type Params } from '../matrix.ts';

const info = { name: 'access', version: '1.0.0' };

/** The same conditions on a definition of every kind; `runs` tells whether a handler ran. */
function serve(config: DefinitionConfig) {
  const runs: string[] = [];
  const ran = (what: string) => () => {
    runs.push(what);
    return what;
  };
  const server = new McpServer(info);
  const argsSchema = { type: 'object', properties: { a: { type: 'string' } } };
  server.registerTool('tool', config, ran('tool'));
  server.registerPrompt(
    'prompt',
    { ...config, argsSchema, complete: { a: () => [ran('completer')()] } },
    ran('prompt'),
  );
  server.registerResource('resource', 'one:///1', config, ran('resource'));
  const template = new ResourceTemplate('many:///{a}', { complete: { a: () => [ran('completer')()] } });
  server.registerResource('template', template, config, ran('template'));
  return { server, runs };
}

const uses: readonly (readonly [method: string, params: Params])[] = [
  ['tools/call', { name: 'tool' }],
  ['prompts/get', { name: 'prompt' }],
  ['resources/read', { uri: 'one:///1' }],
  ['resources/read', { uri: 'many:///1' }],
];

const completions: readonly (readonly [method: string, params: Params])[] = [
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'prompt' }, argument: { name: 'a', value: '' } }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'many:///{a}' }, argument: { name: 'a', value: '' } }],
];

describeMatrix('scopes', (connect) => {
  it.each([...uses, ...completions])(
    '%s %j: without a credential 401, and the handler never runs',
    async (method, params) => {
      const { server, runs } = serve({ scopes: ['notes:read', 'notes:write'] });
      const answer = await (await connect(server)).request(method, params);
      expect(runs).toEqual([]);
      expect(answer.message.error?.code).toBe(401);
      const headers = { 'www-authenticate': 'Bearer scope="notes:read notes:write"' };
      expectHttp(answer, { status: 401, isStream: false, headers });
    },
  );

  it.each([...uses, ...completions])(
    '%s %j: with too small a credential 403 that names what is needed',
    async (method, params) => {
      const { server, runs } = serve({ scopes: ['notes:read', 'notes:write'] });
      const client = await connect(server);
      for (const scopes of [undefined, [], ['notes:read'], ['notes'], ['notes:read notes:write']]) {
        const auth = { principal: 'bob', ...(scopes && { scopes }) };
        const answer = await client.request(method, params, { auth });
        expect(answer.message.error?.code).toBe(403);
        const challenge = 'Bearer error="insufficient_scope", scope="notes:read notes:write"';
        expectHttp(answer, { status: 403, headers: { 'www-authenticate': challenge } });
      }
      expect(runs).toEqual([]);
    },
  );

  it.each([...uses, ...completions])(
    '%s %j: with a credential that permits all of it, it works',
    async (method, params) => {
      const { server, runs } = serve({ scopes: ['notes:read', 'notes:write'] });
      const auth = { principal: 'alice', scopes: ['notes:write', 'other', 'notes:read'] };
      await (await connect(server)).result(method, params, { auth });
      expect(runs).toHaveLength(1);
    },
  );

  it('are looked at before the arguments are', async () => {
    const server = new McpServer(info);
    const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    server.registerTool('tool', { scopes: ['s'], inputSchema }, () => '');
    const { code } = await (await connect(server)).error('tools/call', { name: 'tool', arguments: { n: 'x' } });
    expect(code).toBe(401);
  });

  it('what is hidden is unknown and not forbidden', async () => {
    const { server } = serve({ scopes: ['s'], visible: () => false });
    const client = await connect(server);
    for (const [method, params] of [...uses, ...completions]) {
      expect((await client.error(method, params)).code).toBe(-32602);
    }
  });

  it('what needs scopes is listed all the same', async () => {
    const { server } = serve({ scopes: ['s'] });
    expect((await (await connect(server)).result('tools/list')).tools).toMatchObject([{ name: 'tool' }]);
  });
});

const requirements: readonly {
  readonly requires: ClientCapabilities;
  readonly declared: ClientCapabilities;
  readonly missing: ClientCapabilities | undefined;
}[] = [
  { requires: { elicitation: {} }, declared: {}, missing: { elicitation: { form: {} } } },
  { requires: { elicitation: {} }, declared: { elicitation: {} }, missing: undefined },
  { requires: { elicitation: {} }, declared: { elicitation: { form: {} } }, missing: undefined },
  { requires: { elicitation: { form: {} } }, declared: { elicitation: {} }, missing: undefined },
  { requires: { elicitation: {} }, declared: { elicitation: { url: {} } }, missing: { elicitation: { form: {} } } },
  { requires: { elicitation: { url: {} } }, declared: { elicitation: {} }, missing: { elicitation: { url: {} } } },
  {
    requires: { elicitation: { form: {}, url: {} } },
    declared: { elicitation: { form: {} } },
    missing: { elicitation: { url: {} } },
  },
  {
    requires: { elicitation: { form: {}, url: {} } },
    declared: { elicitation: { url: {}, form: {} } },
    missing: undefined,
  },
  { requires: { sampling: {} }, declared: { elicitation: {} }, missing: { sampling: {} } },
  { requires: { sampling: { tools: {} } }, declared: { sampling: {} }, missing: { sampling: { tools: {} } } },
  { requires: { sampling: {} }, declared: { sampling: { tools: {} } }, missing: undefined },
  {
    requires: { extensions: { 'com.example/a': {}, 'com.example/b': {} } },
    declared: { extensions: { 'com.example/a': { anything: 1 } } },
    missing: { extensions: { 'com.example/b': {} } },
  },
  {
    requires: { sampling: {}, roots: {}, elicitation: { url: {} } },
    declared: { roots: {} },
    missing: { sampling: {}, elicitation: { url: {} } },
  },
  { requires: { roots: {} }, declared: { roots: true as unknown as object as never }, missing: { roots: {} } },
  { requires: { constructor: {} }, declared: {}, missing: { constructor: {} } },
];

describeMatrix('required client capabilities', (connect) => {
  it.each(requirements)(
    'CAP-03: $requires asked for, $declared declared: −32021 names only what is missing',
    async ({ requires, declared, missing }) => {
      const { server, runs } = serve({ requires });
      const client = await connect(server);
      const meta = { [CLIENT_CAPABILITIES_META_KEY]: declared };
      for (const [method, params] of uses) {
        const answer = await client.request(method, params, { meta });
        expect(answer.message.error?.code).toBe(missing === undefined ? undefined : -32021);
        if (missing === undefined) continue;
        expect(answer.message.error?.data).toEqual({ requiredCapabilities: missing });
        expectHttp(answer, { status: 400 });
      }
      expect(runs).toHaveLength(missing === undefined ? uses.length : 0);
    },
  );

  it('scopes come first', async () => {
    const { server } = serve({ scopes: ['s'], requires: { roots: {} } });
    expect((await (await connect(server)).error('tools/call', { name: 'tool' })).code).toBe(401);
  });
});
