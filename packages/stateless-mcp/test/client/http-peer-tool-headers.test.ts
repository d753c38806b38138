import { describe, expect, it } from 'vitest';
import type { Tool } from '../../src/protocol/index.ts';
import { ask, callTool, CONTENT, HTTP_CLIENTS, openPeer } from './http-peer-harness.ts';
import { type Answer, type Received, scriptedServer, type ScriptedServer } from './scripted-server.ts';

/** A tool that mirrors these arguments: `{ region: 'string' }` into `Mcp-Param-Region` and so on. */
function mirroring(name: string, types: Readonly<Record<string, string>>): Tool {
  const properties = Object.entries(types).map(([property, type]) => [
    property,
    { type, 'x-mcp-header': `${property.charAt(0).toUpperCase()}${property.slice(1)}` },
  ]);
  return { name, inputSchema: { type: 'object', properties: Object.fromEntries(properties) as object } };
}

/** Serves these pages of tools, one cursor after the other, and any call. */
async function serverOf(...pages: readonly (readonly unknown[])[]): Promise<ScriptedServer> {
  return scriptedServer((answer: Answer, { message }: Received) => {
    if (message.method !== 'tools/list') return answer.result(CONTENT);
    const page = Number(message.params.cursor ?? 0);
    const isLast = page === pages.length - 1;
    return answer.result({ tools: pages[page], ...(!isLast && { nextCursor: String(page + 1) }) });
  });
}

function mirrored(request: Received | undefined): Readonly<Record<string, unknown>> {
  const entries = Object.entries(request?.headers ?? {}).filter(([name]) => name.startsWith('mcp-param-'));
  return Object.fromEntries(entries);
}

describe.each(HTTP_CLIENTS)('mirrored arguments over $name', (client) => {
  it('HDR-12, HDR-17: are learnt from a list that passes by', async () => {
    const forecast = mirroring('forecast', { region: 'string', days: 'integer', hourly: 'boolean' });
    const server = await serverOf([forecast]);
    const peer = openPeer(client, server.url);
    await ask(peer, 'tools/list');
    await callTool(peer, 'forecast', { region: 'eu west', days: 42, hourly: false, other: 'not annotated' });
    expect(mirrored(server.requests[1])).toEqual({
      'mcp-param-region': 'eu west',
      'mcp-param-days': '42',
      'mcp-param-hourly': 'false',
    });
  });

  it.each([
    ['Zürich', '=?base64?WsO8cmljaA==?='],
    [' eu', '=?base64?IGV1?='],
    ['=?base64?ZXU=?=', '=?base64?PT9iYXNlNjQ/WlhVPT89?='],
    ['a\nb', '=?base64?YQpi?='],
    ['', ''],
  ])('HDR-08, HDR-09, HDR-12: %j is encoded as a name is', async (region, header) => {
    const server = await serverOf([mirroring('forecast', { region: 'string' })]);
    const peer = openPeer(client, server.url);
    await ask(peer, 'tools/list');
    await callTool(peer, 'forecast', { region });
    expect(mirrored(server.requests[1])).toEqual({ 'mcp-param-region': header });
    expect(server.requests[1]?.message.params.arguments).toEqual({ region });
  });

  it('HDR-18: null and absent values have no header', async () => {
    const server = await serverOf([mirroring('forecast', { region: 'string', days: 'integer' })]);
    const peer = openPeer(client, server.url);
    await ask(peer, 'tools/list');
    await callTool(peer, 'forecast', { region: null });
    await ask(peer, 'tools/call', { name: 'forecast' });
    expect(server.requests.slice(1).map(mirrored)).toEqual([{}, {}]);
  });

  it('HDR-12: reach values of nested objects, by own properties alone', async () => {
    const place = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    const server = await serverOf([
      { name: 'forecast', inputSchema: { type: 'object', properties: { place } } },
      {
        name: 'toString',
        inputSchema: { type: 'object', properties: { name: { type: 'string', 'x-mcp-header': 'N' } } },
      },
    ]);
    const peer = openPeer(client, server.url);
    await ask(peer, 'tools/list');
    await callTool(peer, 'forecast', { place: { region: 'eu' } });
    await callTool(peer, 'constructor', {});
    await callTool(peer, 'toString', {});
    expect(server.requests.slice(1).map(mirrored)).toEqual([{ 'mcp-param-region': 'eu' }, {}, {}]);
  });

  it('are known from the option `tools` before any list was read', async () => {
    const server = await serverOf([]);
    const peer = openPeer(client, server.url, { tools: [mirroring('forecast', { region: 'string' })] });
    await callTool(peer, 'forecast', { region: 'eu' });
    expect(server.requests).toHaveLength(1);
    expect(mirrored(server.requests[0])).toEqual({ 'mcp-param-region': 'eu' });
  });

  it('T-97: a tool that nobody has heard of is called without', async () => {
    const server = await serverOf([mirroring('forecast', { region: 'string' })]);
    await callTool(openPeer(client, server.url), 'forecast', { region: 'eu' });
    expect(server.requests.map(({ message }) => message.method)).toEqual(['tools/call']);
    expect(mirrored(server.requests[0])).toEqual({});
  });

  it('are learnt page by page: a page takes nothing away that others have told', async () => {
    const server = await serverOf(
      [mirroring('first', { region: 'string' })],
      [mirroring('second', { zone: 'string' })],
    );
    const peer = openPeer(client, server.url);
    await ask(peer, 'tools/list');
    await ask(peer, 'tools/list', { cursor: '1' });
    await callTool(peer, 'first', { region: 'eu' });
    await callTool(peer, 'second', { zone: 'b' });
    expect(server.requests.slice(2).map(mirrored)).toEqual([{ 'mcp-param-region': 'eu' }, { 'mcp-param-zone': 'b' }]);
  });

  it('follow the newest definition', async () => {
    let tool = mirroring('forecast', { region: 'string' });
    const server = await scriptedServer((answer, { message }) => {
      answer.result(message.method === 'tools/list' ? { tools: [tool] } : CONTENT);
    });
    const peer = openPeer(client, server.url);
    await ask(peer, 'tools/list');
    tool = mirroring('forecast', { zone: 'string' });
    await ask(peer, 'tools/list');
    await callTool(peer, 'forecast', { region: 'eu', zone: 'b' });
    expect(mirrored(server.requests[2])).toEqual({ 'mcp-param-zone': 'b' });
  });

  it('are forgotten when the credentials change, and its listeners hear of that once', async () => {
    const server = await serverOf([mirroring('forecast', { region: 'string' })]);
    let token = 'token-one';
    const peer = openPeer(client, server.url, { headers: () => ({ Authorization: `Bearer ${token}` }) });
    let changes = 0;
    peer.on('credentialsChanged', () => changes++);
    await ask(peer, 'tools/list');
    await callTool(peer, 'forecast', { region: 'eu' });
    expect(changes).toBe(0);
    token = 'token-two';
    await Promise.all([1, 2, 3].map(async () => callTool(peer, 'forecast', { region: 'eu' })));
    expect(changes).toBe(1);
    expect(server.requests.slice(1).map(mirrored)).toEqual([{ 'mcp-param-region': 'eu' }, {}, {}, {}]);
  });

  it('are not forgotten when other headers change', async () => {
    const server = await serverOf([mirroring('forecast', { region: 'string' })]);
    let count = 0;
    const peer = openPeer(client, server.url, {
      headers: () => ({ Authorization: 'Bearer same-token', 'X-Count': String(++count) }),
    });
    await ask(peer, 'tools/list');
    await callTool(peer, 'forecast', { region: 'eu' });
    expect(mirrored(server.requests[1])).toEqual({ 'mcp-param-region': 'eu' });
  });

  it('HDR-15: a tool with invalid annotations is left out with one warning, the others stay', async () => {
    const good = mirroring('good', { region: 'string' });
    const server = await serverOf([
      mirroring('number', { size: 'number' }),
      good,
      { name: 'in items', inputSchema: { type: 'object', properties: { all: { items: { 'x-mcp-header': 'All' } } } } },
      { name: 'twice', inputSchema: mirroring('', { region: 'string', REGION: 'string' }).inputSchema },
    ]);
    const peer = openPeer(client, server.url);
    const results = [await ask(peer, 'tools/list'), await ask(peer, 'tools/list')];
    for (const result of results) expect(result).toMatchObject({ resultType: 'complete', tools: [good] });
    const warnings = peer.log.entries.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ fields }) => fields.tool)).toEqual(['number', 'in items', 'twice']);
    await callTool(peer, 'good', { region: 'eu' });
    expect(mirrored(server.requests[2])).toEqual({ 'mcp-param-region': 'eu' });
  });

  it('HDR-15: what has no schema that could be read is left to the reader of the list', async () => {
    const tools = [{ name: 'bare' }, 'no tool', null, { name: 7, inputSchema: {} }];
    const server = await serverOf(tools);
    expect(await ask(openPeer(client, server.url), 'tools/list')).toMatchObject({ tools });
  });

  it('a definition in the options that is invalid is warned about at construction', async () => {
    const server = await serverOf([]);
    const peer = openPeer(client, server.url, { tools: [mirroring('number', { size: 'number' })] });
    expect(peer.log.entries.map(({ level, fields }) => [level, fields.tool])).toEqual([['warn', 'number']]);
    await callTool(peer, 'number', { size: 1 });
    expect(mirrored(server.requests[0])).toEqual({});
  });
});
