import { expect } from 'vitest';
import type { JsonObject } from '../../../src/protocol/json.ts';
import type { WireCheck } from '../check.ts';
import type { HeaderLines } from '../exchange.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { at, callTool, listen, notification, request, VERSION } from '../messages.ts';

const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const mismatch = { code: -32020, status: 400 };

export const headerChecks: readonly WireCheck[] = [
  {
    ids: ['HDR-02', 'SEC-05', 'T-16'],
    title: 'header and body have to name the same version',
    async run(endpoint) {
      for (const message of [request('tools/list', {}, { id: 'h' }), listen({}, { id: 'h' })]) {
        for (const header of ['2025-11-25', '2099-12-31', '', `${VERSION}x`]) {
          expectError(await endpoint.post(message, { 'MCP-Protocol-Version': header }), { ...mismatch, id: 'h' });
        }
      }
    },
  },
  {
    ids: ['HDR-06', 'T-85'],
    title: 'names of headers are compared without case, values with it, white space around them does not count',
    async run(endpoint) {
      const bare = { 'MCP-Protocol-Version': null, 'Mcp-Method': null, 'Mcp-Name': null };
      const message = callTool('echo', { text: 'x' });
      for (const change of [(name: string) => name.toLowerCase(), (name: string) => name.toUpperCase()]) {
        const headers = {
          [change('MCP-Protocol-Version')]: ` ${VERSION} `,
          [change('Mcp-Method')]: '\ttools/call',
          [change('Mcp-Name')]: 'echo ',
        };
        const answer = await endpoint.request({
          headers: { 'Content-Type': 'application/json', Accept: '*/*', ...headers },
          body: JSON.stringify(message),
        });
        expect(textOf(expectResult(answer))).toBe('x');
      }
      expectError(await endpoint.post(request('tools/list'), { 'Mcp-Method': 'TOOLS/LIST' }), mismatch);
      expectError(await endpoint.post(message, { 'Mcp-Name': 'Echo' }), mismatch);
      expectError(await endpoint.post(message, { ...bare, 'MCP-Protocol-Version': VERSION }), mismatch);
    },
  },
  {
    ids: ['HDR-07', 'SEC-05', 'T-86', 'T-90', 'T-99'],
    title: 'a standard header that is missing, different, doubled or invalid is refused',
    async run(endpoint) {
      const call = callTool('echo', { text: 'x' }, { id: 'h' });
      const read = request('resources/read', { uri: 'note://today' }, { id: 'h' });
      const prompt = request('prompts/get', { name: 'greet', arguments: { who: 'x' } }, { id: 'h' });
      const cases: readonly (readonly [JsonObject, HeaderLines])[] = [
        [call, { 'Mcp-Method': null }],
        [call, { 'Mcp-Method': '' }],
        [call, { 'Mcp-Method': 'tools/list' }],
        [call, { 'Mcp-Method': encoded('tools/call') }],
        [call, { 'Mcp-Method': ['tools/call', 'tools/call'] }],
        [call, { 'Mcp-Method': ['tools/call', 'tools/list'] }],
        [call, { 'MCP-Protocol-Version': [VERSION, VERSION] }],
        [call, { 'Mcp-Name': null }],
        [call, { 'Mcp-Name': '' }],
        [call, { 'Mcp-Name': 'fail' }],
        [call, { 'Mcp-Name': ['echo', 'echo'] }],
        [call, { 'Mcp-Name': 'ech\u00f6' }],
        [read, { 'Mcp-Name': null }],
        [read, { 'Mcp-Name': 'note://secret' }],
        [prompt, { 'Mcp-Name': null }],
        [prompt, { 'Mcp-Name': 'Greet' }],
      ];
      for (const [message, headers] of cases) {
        const answer = await endpoint.post(message, headers);
        expectError(answer, { ...mismatch, id: 'h' });
        expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
      }
      const nameless = await endpoint.post(request('tools/call', {}, { id: 'n' }));
      expectError(nameless, { code: -32602, id: 'n' });
      expectResult(await endpoint.post(request('tools/list'), { 'Mcp-Name': 'anything' }));
    },
  },
  {
    ids: ['HDR-07', 'T-91'],
    title: 'characters that no header may have are refused even where they match byte for byte',
    async run(endpoint) {
      const message = request('resources/read', { uri: 'note://caf\u00e9' }, { id: 'h' });
      expectResult(await endpoint.post(message));
      const asUtf8 = Buffer.from('note://caf\u00e9').toString('latin1');
      for (const header of ['note://caf\u00e9', asUtf8]) {
        expectError(await endpoint.post(message, { 'Mcp-Name': header }), { ...mismatch, id: 'h' });
      }
    },
  },
  {
    ids: ['HDR-10', 'T-88', 'T-89', 'T-91'],
    title: 'names are decoded before they are compared, by exact markers',
    async run(endpoint) {
      const read = (uri: string, header: string): ReturnType<typeof endpoint.post> =>
        endpoint.post(request('resources/read', { uri }), { 'Mcp-Name': header });
      expectResult(await read('note://日記', encoded('note://日記')));
      expectResult(await read('note://today', encoded('note://today')));
      expectResult(await read('note://a%20b?c d', 'note://a%20b?c d'));
      for (const header of [
        encoded('note://today').toUpperCase(),
        encoded('note://today').replace('base64', 'Base64'),
        encoded('note://today').slice(0, -2),
        Buffer.from('note://today').toString('base64'),
        encoded('note://tomorrow'),
      ]) {
        expectError(await read('note://today', header), mismatch);
      }
      // A name that looks encoded is literal in the body, and encoded once more in the header.
      const lookalike = encoded('note://today');
      expectError(await read(lookalike, lookalike), mismatch);
    },
  },
  {
    ids: ['HDR-10', 'T-87'],
    title: 'what is no canonical Base64 of UTF-8 is refused',
    async run(endpoint) {
      const read = request('resources/read', { uri: 'note://today1' });
      const payload = Buffer.from('note://today1').toString('base64');
      expectResult(await endpoint.post(read, { 'Mcp-Name': `=?base64?${payload}?=` }));
      const spoilt = [
        payload.replace(/=+$/, ''),
        `${payload}=`,
        `${payload.slice(0, 4)} ${payload.slice(4)}`,
        `${payload.slice(0, 4)}!${payload.slice(4)}`,
        payload.replace(/.(=+)$/, 'R$1'),
        Buffer.from([0xff, 0xfe]).toString('base64'),
        '',
      ];
      for (const text of spoilt) {
        expectError(await endpoint.post(read, { 'Mcp-Name': `=?base64?${text}?=` }), mismatch);
      }
    },
  },
  {
    ids: ['HDR-11', 'HDR-13', 'HDR-14', 'T-96'],
    title: 'annotations are listed, and are what they have to be',
    async run(endpoint) {
      const { tools } = expectResult(await endpoint.post(request('tools/list')));
      const route = Array.isArray(tools) ? tools.find((tool) => at(tool, 'name') === 'route') : undefined;
      const found = annotationsOf(at(route, 'inputSchema'));
      expect(found.map(({ name }) => name).sort()).toEqual(['Dry', 'Limit', 'Method', 'Region', 'Zone']);
      for (const { name, type } of found) {
        expect(name).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/);
        expect(['string', 'integer', 'boolean']).toContain(type);
      }
    },
  },
  {
    ids: ['HDR-19', 'SEC-05', 'T-92', 'T-93', 'T-98'],
    title: 'mirrored parameters have to be there, to agree, and to be absent where the argument is',
    async run(endpoint) {
      const route = (toolArguments: JsonObject, headers: HeaderLines): ReturnType<typeof endpoint.post> =>
        endpoint.post(callTool('route', toolArguments, { id: 'p' }), headers);
      const full = { region: 'eu-1', limit: 42, dry: true, target: { zone: '日本' } };
      const headers = {
        'Mcp-Param-Region': 'eu-1',
        'mcp-param-LIMIT': '42',
        'Mcp-Param-Dry': 'true',
        'Mcp-Param-Zone': encoded('日本'),
      };
      expectResult(await route(full, headers));
      expectResult(await route({}, {}));
      expectResult(await route({ region: null }, {}));
      expectResult(await route({ region: '' }, { 'Mcp-Param-Region': '' }));
      expectResult(await route({}, { 'Mcp-Param-Unheard': 'of' }));
      const wrong: readonly (readonly [JsonObject, HeaderLines])[] = [
        [full, { ...headers, 'Mcp-Param-Region': null }],
        [full, { ...headers, 'Mcp-Param-Region': 'eu-2' }],
        [full, { ...headers, 'Mcp-Param-Region': 'EU-1' }],
        [full, { ...headers, 'Mcp-Param-Dry': 'True' }],
        [full, { ...headers, 'Mcp-Param-Dry': '1' }],
        [full, { ...headers, 'Mcp-Param-Zone': '=?base64?###?=' }],
        [full, { ...headers, 'Mcp-Param-Zone': null }],
        [full, { ...headers, 'Mcp-Param-Region': ['eu-1', 'eu-1'] }],
        [{}, { 'Mcp-Param-Region': 'eu-1' }],
        [{ region: null }, { 'Mcp-Param-Region': 'null' }],
        [{ region: null }, { 'Mcp-Param-Region': '' }],
        [{ region: '' }, {}],
      ];
      for (const [toolArguments, lines] of wrong) {
        expectError(await route(toolArguments, lines), { ...mismatch, id: 'p' });
      }
    },
  },
  {
    ids: ['HDR-20', 'T-94'],
    title: 'integers are compared as numbers, in decimal',
    async run(endpoint) {
      const limit = (value: number, header: string): ReturnType<typeof endpoint.post> =>
        endpoint.post(callTool('route', { limit: value }), { 'Mcp-Param-Limit': header });
      for (const header of ['42', '42.0', '42.00']) expectResult(await limit(42, header));
      expectResult(await limit(-7, '-7'));
      expectResult(await limit(0, '0'));
      for (const header of ['43', '42.5', '4.2e1', '0x2a', '42n', '', 'forty-two', '42 43', '٤٢']) {
        const line = /^[ -~]*$/.test(header) ? header : encoded(header);
        expectError(await limit(42, line), mismatch);
      }
      expectError(await limit(0, ''), mismatch);
    },
  },
  {
    ids: ['HDR-24', 'HDR-07'],
    title: 'a request without a version header is refused, a notification is not',
    async run(endpoint) {
      for (const message of [request('tools/list', {}, { id: 'h' }), request('server/discover', {}, { id: 'h' })]) {
        expectError(await endpoint.post(message, { 'MCP-Protocol-Version': null }), { ...mismatch, id: 'h' });
      }
      const answer = await endpoint.post(notification('notifications/anything'), { 'MCP-Protocol-Version': null });
      expect(answer.status).toBe(202);
    },
  },
];

interface Annotation {
  readonly name: string;
  readonly type: unknown;
}

/** Annotations on properties that `properties` alone lead to. */
function annotationsOf(schema: unknown): readonly Annotation[] {
  return Object.values(Object(at(schema, 'properties'))).flatMap((property) => {
    const name = at(property, 'x-mcp-header');
    const own = typeof name === 'string' ? [{ name, type: [at(property, 'type')].flat()[0] }] : [];
    return [...own, ...annotationsOf(property)];
  });
}
