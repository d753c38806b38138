import { describe, expect, it } from 'vitest';
import { UNSUPPORTED_PROTOCOL_VERSION } from '../../src/protocol/index.ts';
import { ask, callTool, CONTENT, HTTP_CLIENTS, openPeer, expectRemoteError } from './http-peer-harness.ts';
import { type Answer, scriptedServer } from './scripted-server.ts';

const VERSION = '2026-07-28';

function refuse(answer: Answer, data: unknown, code: number = UNSUPPORTED_PROTOCOL_VERSION): void {
  answer.error(code, 'Unsupported protocol version', { data, status: 400 });
}

describe.each(HTTP_CLIENTS)('the revision over $name', (client) => {
  it('VER-04, T-19: is tried once more when the refusal names the one that was sent', async () => {
    const server = await scriptedServer((answer, { index }) => {
      if (index === 0) refuse(answer, { supported: [VERSION], requested: VERSION });
      else answer.result(CONTENT);
    });
    const peer = openPeer(client, server.url);
    await expect(callTool(peer, 'forecast')).resolves.toMatchObject(CONTENT);
    expect(server.requests).toHaveLength(2);
    const [first, second] = server.requests;
    expect(second?.message.id).not.toBe(first?.message.id);
    expect(second?.message.params).toEqual(first?.message.params);
    expect(second?.headers['mcp-protocol-version']).toBe(VERSION);
    expect(peer.explain()).toMatchObject({ revision: VERSION, requests: 2 });
  });

  it('VER-04, T-19: is chosen among several that the server names', async () => {
    const server = await scriptedServer((answer, { index }) => {
      if (index === 0) refuse(answer, { supported: ['2099-01-01', '2025-06-18', VERSION], requested: VERSION });
      else answer.result(CONTENT);
    });
    await callTool(openPeer(client, server.url), 'forecast');
    expect(server.requests.map(({ headers }) => headers['mcp-protocol-version'])).toEqual([VERSION, VERSION]);
  });

  it('VER-04, T-19: a second refusal is raised, without end there is no trying', async () => {
    const server = await scriptedServer((answer) => refuse(answer, { supported: [VERSION], requested: VERSION }));
    const error = await expectRemoteError(callTool(openPeer(client, server.url), 'forecast'), -32022);
    expect(server.requests).toHaveLength(2);
    expect(error).toMatchObject({ status: 400, data: { supported: [VERSION], requested: VERSION } });
  });

  it.each([
    ['only older ones', { supported: ['2025-06-18', '2025-11-25'], requested: VERSION }, '2025-06-18, 2025-11-25'],
    ['only newer ones', { supported: ['2099-01-01'], requested: VERSION }, '2099-01-01'],
    ['none', { supported: [], requested: VERSION }, 'it names none'],
    ['nothing', undefined, 'it names none'],
    ['T-18: the member of another message', { supportedVersions: [VERSION] }, 'it names none'],
    ['what is no version', { supported: [VERSION, 7] }, 'it names none'],
  ])('VER-04: nothing in common (%s) is an error that says so', async (_, data, shown) => {
    const server = await scriptedServer((answer) => refuse(answer, data));
    const error = await expectRemoteError(callTool(openPeer(client, server.url), 'forecast'), -32022);
    expect(server.requests).toHaveLength(1);
    expect(error.message).toContain(VERSION);
    expect(error.message).toContain(shown);
    expect(error.data).toEqual(data);
    expect(error.status).toBe(400);
  });

  it('VER-04: holds for each request, discover and lists included', async () => {
    const server = await scriptedServer((answer, { index, message }) => {
      if (index % 2 === 0) refuse(answer, { supported: [VERSION], requested: VERSION });
      else answer.result(message.method === 'tools/list' ? { tools: [] } : { supportedVersions: [], capabilities: {} });
    });
    const peer = openPeer(client, server.url);
    await ask(peer, 'server/discover');
    await ask(peer, 'tools/list');
    expect(server.requests).toHaveLength(4);
  });

  it('does not believe a refusal on an event stream: work may have been done before it', async () => {
    const server = await scriptedServer((answer, { index, message }) => {
      answer.stream();
      if (index > 0) return answer.finish(CONTENT);
      const error = { code: -32022, message: 'no', data: { supported: [VERSION], requested: VERSION } };
      answer.event({ jsonrpc: '2.0', id: message.id, error }).response.end();
      return undefined;
    });
    await expect(callTool(openPeer(client, server.url), 'forecast')).rejects.toMatchObject({ code: -32022 });
    expect(server.requests).toHaveLength(1);
  });

  it.each([-32602, -32004])('D01: %d of drafts counts when its data names a modern version', async (code) => {
    const server = await scriptedServer((answer, { index }) => {
      if (index === 0) refuse(answer, { supported: [VERSION], requested: VERSION }, code);
      else answer.result(CONTENT);
    });
    await expect(callTool(openPeer(client, server.url), 'forecast')).resolves.toMatchObject(CONTENT);
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [-32602, undefined],
    [-32602, { supported: ['2025-06-18'] }],
    [-32602, { supported: 'everything' }],
    [-32004, { supported: ['DRAFT-2026-v1'] }],
    [-32001, { supported: [VERSION] }],
    [-32000, { supported: [VERSION], requested: VERSION }],
  ])('JR-19, D01, D03: %d with %j stays what it is', async (code, data) => {
    const server = await scriptedServer((answer) => refuse(answer, data, code));
    const error = await expectRemoteError(callTool(openPeer(client, server.url), 'forecast'), code);
    expect(server.requests).toHaveLength(1);
    expect(error.data).toEqual(data);
  });

  it('D02: -32003 counts as its successor with an object of capabilities only', async () => {
    const server = await scriptedServer((answer, { index }) => {
      refuse(answer, { requiredCapabilities: index === 0 ? { sampling: {} } : ['sampling'] }, -32003);
    });
    const peer = openPeer(client, server.url);
    const error = await expectRemoteError(callTool(peer, 'forecast'), -32021);
    expect(error.data).toEqual({ requiredCapabilities: { sampling: {} } });
    await expectRemoteError(callTool(peer, 'forecast'), -32003);
  });
});
