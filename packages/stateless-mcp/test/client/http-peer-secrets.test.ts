import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { httpPeer } from '../../src/http/index.ts';
import { callTool, CONTENT, failureOf, HTTP_CLIENTS, openPeer } from './http-peer-harness.ts';
import { type Answer, type Received, scriptedServer } from './scripted-server.ts';

const TOKEN = 'q7Zp-very.secret~token';
const KEY = 'p4ssw0rd-of-tenant';
const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'X-Api-Key': KEY };

/** Servers that say back what they were sent, each in another place. */
const ECHOES: readonly (readonly [string, (answer: Answer, request: Received) => void])[] = [
  ['a page of an error', (answer, request) => answer.send(500, { 'Content-Type': 'text/html' }, echoOf(request))],
  ['a page of success', (answer, request) => answer.send(200, { 'Content-Type': 'text/html' }, echoOf(request))],
  ['the body of a 401', (answer, request) => answer.send(401, {}, echoOf(request))],
  [
    'a challenge',
    (answer) => answer.send(401, { 'WWW-Authenticate': `Bearer error_description="bad ${TOKEN} ${KEY}"` }),
  ],
  ['JSON that is no message', (answer, request) => answer.json({ headers: request.headers })],
  ['what is no JSON', (answer, request) => answer.send(200, { 'Content-Type': 'application/json' }, echoOf(request))],
  ['the message of an error', (answer, request) => answer.error(-32000, echoOf(request), { status: 400 })],
  ['the message of a refused revision', (answer, request) => answer.error(-32022, echoOf(request))],
  [
    'the target of a redirect',
    (answer) => answer.send(307, { Location: `https://other.example/?a=${TOKEN}&b=${KEY}` }),
  ],
];

function echoOf({ headers }: Received): string {
  return `You sent: ${JSON.stringify(headers)}; that is ${TOKEN} and ${KEY}`;
}

describe.each(HTTP_CLIENTS)('secrets over $name', (client) => {
  it.each(ECHOES)('are not in an error when the server says them back in %s', async (_, script) => {
    const server = await scriptedServer(script);
    const peer = openPeer(client, server.url, { headers: HEADERS });
    const error = await failureOf(callTool(peer, 'a'));
    const shown = inspect(error, { depth: 10 });
    expect(shown).not.toContain(TOKEN);
    expect(shown).not.toContain(KEY);
    expect(inspect([peer.log.entries, peer.explain()], { depth: 10 })).not.toContain(TOKEN);
  });

  it('are not cut in two by the limit of what is shown', async () => {
    for (let shift = 0; shift < TOKEN.length; shift += 3) {
      const body = 'x'.repeat(2047 - shift) + TOKEN + KEY;
      for (const type of ['text/html', 'application/json']) {
        const server = await scriptedServer((answer) => answer.send(500, { 'Content-Type': type }, body));
        const error = await failureOf(callTool(openPeer(client, server.url, { headers: HEADERS }), 'a'));
        expect(error).toMatchObject({ body: expect.not.stringContaining('q7') as string });
        expect((error as { readonly body: string }).body.length).toBeLessThanOrEqual(2048);
      }
    }
  });

  it('of a request are known when its answer comes, although others have been made by then', async () => {
    const held: [Answer, Received][] = [];
    const server = await scriptedServer((answer, request) => {
      if (request.index === 0) held.push([answer, request]);
      else answer.result(CONTENT);
    });
    let key = 'first-key';
    const peer = openPeer(client, server.url, { headers: () => ({ 'X-Api-Key': key }) });
    const first = failureOf(callTool(peer, 'a'));
    await server.received(0);
    key = 'other-key';
    await callTool(peer, 'a');
    held[0]?.[0].send(500, { 'Content-Type': 'text/plain' }, 'You are first-key');
    await expect(first).resolves.toMatchObject({ body: 'You are [redacted]' });
  });

  it('a challenge keeps what clients read in it', async () => {
    const challenge = 'Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource", scope="a b"';
    const server = await scriptedServer((answer) => answer.send(401, { 'WWW-Authenticate': challenge }));
    const error = await failureOf(callTool(openPeer(client, server.url, { headers: HEADERS }), 'a'));
    expect(error).toMatchObject({ challenge });
  });

  it('in the query of the URL are sent, and not shown', async () => {
    const server = await scriptedServer((answer) => answer.send(500, { 'Content-Type': 'text/html' }, 'No'));
    const peer = openPeer(client, `${server.url}?api_key=${KEY}&tenant=acme`);
    const error = await failureOf(callTool(peer, 'a'));
    expect(server.requests[0]?.path).toBe(`/mcp?api_key=${KEY}&tenant=acme`);
    expect(inspect([error, peer.endpoint, peer.explain()], { depth: 10 })).not.toContain(KEY);
    expect(peer.endpoint).toBe(`${server.url}?api_key=[redacted]&tenant=acme`);
  });
});

describe('httpPeer() refuses', () => {
  it.each([
    ['a user in the URL', `https://user:${KEY}@example.com/mcp`, {}],
    ['a user without a password', `https://${KEY}@example.com/mcp`, {}],
    ['what is no URL', `https://user:${KEY}@:bad`, {}],
    ['a line break in a header', 'https://example.com', { 'X-Api-Key': `${KEY}\r\nX-Other: 1` }],
    ['a character beyond Latin-1', 'https://example.com', { 'X-Api-Key': `${KEY}✓` }],
    ['a name that is none', 'https://example.com', { 'X Api Key': KEY }],
    ['a name that is empty', 'https://example.com', { '': KEY }],
  ])('%s, and does not show it', (_, url, headers) => {
    const attempt = (): unknown => httpPeer(url, { headers });
    expect(attempt).toThrow(TypeError);
    expect(attempt).not.toThrow(KEY);
  });

  it.each([['ftp://example.com/'], ['mcp.example.com'], [''], ['file:///etc/passwd'], ['ws://example.com']])(
    'the URL %j',
    (url) => {
      expect(() => httpPeer(url)).toThrow(TypeError);
    },
  );

  it.each([
    ['a Headers object', new Headers({ Authorization: 'Bearer abc' })],
    ['a list', [['Authorization', 'Bearer abc']]],
    ['a value that is no text', { 'X-Count': 7 }],
    ['a value that is undefined', { Authorization: undefined }],
  ])('headers in the form of %s', (_, headers) => {
    expect(() => httpPeer('https://example.com', { headers: headers as unknown as Record<string, string> })).toThrow(
      TypeError,
    );
  });
});
