import { describe, expect, it } from 'vitest';
import {
  ask,
  callTool,
  CONTENT,
  HTTP_CLIENTS,
  expectLocalError,
  openPeer,
  expectRemoteError,
} from './http-peer-harness.ts';
import { type HeaderFields, scriptedServer } from './scripted-server.ts';

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe.each(HTTP_CLIENTS)('statuses over $name', (client) => {
  const answering = async (status: number, headers: HeaderFields, body: string) => {
    const server = await scriptedServer((answer) => answer.send(status, headers, body));
    return callTool(openPeer(client, server.url), 'a');
  };

  it.each([
    [404, HTML, '<h1>Not here</h1>', false],
    [400, HTML, 'Bad', false],
    [405, {}, '', false],
    [406, { 'Content-Type': 'text/plain' }, 'Not acceptable', false],
    [413, HTML, 'Too large', false],
    [429, HTML, 'Slow down', false],
    [500, HTML, 'Oops', true],
    [502, HTML, '<h1>Bad gateway</h1>', true],
    [503, HTML, 'Down', true],
    [504, HTML, 'Timeout', true],
    [200, HTML, '<h1>Sign in</h1>', true],
    [200, { 'Content-Type': 'text/plain' }, '{}', true],
    [200, {}, '', true],
    [202, {}, '', true],
    [204, {}, '', true],
    [418, { 'Content-Type': 'text/event-stream' }, 'data: {}\n\n', true],
    [408, HTML, 'Request Timeout', true],
    [409, HTML, 'Conflict', true],
  ])('%d with %j and %j is no message', async (status, headers, body, maybeExecuted) => {
    const error = await expectLocalError(answering(status, headers, body), 'http_status');
    expect(error).toMatchObject({ status, body, phase: 'http', maybeExecuted });
    expect(error.message).toContain(String(status));
    expect(error.message).toContain(body);
  });

  it.each([
    [404, '{"message":"no Route matched"}'],
    [502, '{"error":"upstream"}'],
    [400, '"text"'],
    [429, ''],
    [500, '{broken'],
  ])('%d with JSON that is no message (%s) counts by its status', async (status, body) => {
    const error = await expectLocalError(answering(status, JSON_TYPE, body), 'http_status');
    expect(error).toMatchObject({ status, body, phase: 'http', maybeExecuted: status >= 500 });
  });

  it.each(['', 'null', '[]', '{}', '{broken', '<html>', '{"jsonrpc":"2.0","method":"notifications/message"}'])(
    '200 with application/json and %j is no valid answer',
    async (body) => {
      const error = await expectLocalError(answering(200, JSON_TYPE, body), 'invalid_answer');
      expect(error).toMatchObject({ status: 200, body, phase: 'call', maybeExecuted: true });
    },
  );

  it('a body that is not UTF-8 is no valid answer', async () => {
    const server = await scriptedServer((answer) => answer.send(200, JSON_TYPE, Uint8Array.of(0x22, 0xff, 0x22)));
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'invalid_answer');
    expect(error.message).toContain('UTF-8');
  });

  it('T-106: an error of the server is that, whatever the status', async () => {
    for (const status of [200, 400, 404, 409, 413, 429, 500, 503]) {
      const server = await scriptedServer((answer) => answer.error(-32601, 'Method not found', { status }));
      const error = await expectRemoteError(ask(openPeer(client, server.url), 'com.example/none'), -32601);
      expect(error.status).toBe(status);
    }
  });

  it('a result with the status of a failure is not valid', async () => {
    const server = await scriptedServer((answer) => answer.json(answer.resultMessage(CONTENT), 500));
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'invalid_answer');
    expect(error.message).toContain('500');
  });

  it.each([
    [401, 'Bearer resource_metadata="https://a.example/.well-known/x", error="invalid_token"'],
    [403, 'Bearer error="insufficient_scope", scope="write"'],
    [401, undefined],
    [403, undefined],
  ])('%d wants other credentials (%s)', async (status, challenge) => {
    const headers: HeaderFields = challenge === undefined ? HTML : { ...HTML, 'WWW-Authenticate': challenge };
    const server = await scriptedServer((answer, { index }) => {
      if (index === 0) answer.send(status, headers, 'Who are you?');
      else answer.result(CONTENT);
    });
    const peer = openPeer(client, server.url, { headers: { Authorization: 'Bearer old-token' } });
    expect(peer.explain().authorization).toBe('sent');
    const error = await expectLocalError(callTool(peer, 'a'), 'unauthorized');
    expect(error).toMatchObject({ status, body: 'Who are you?', phase: 'auth', maybeExecuted: false });
    expect(error.challenge).toBe(challenge);
    if (challenge !== undefined) expect(error.message).toContain(challenge.slice(0, 40));
    expect(peer.explain().authorization).toBe('refused');
    await callTool(peer, 'a');
    expect(peer.explain().authorization).toBe('sent');
  });

  it('403 with an error of the protocol in it wants other credentials too', async () => {
    const server = await scriptedServer((answer) => answer.error(-32600, 'Missing scope', { status: 403 }));
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'unauthorized');
    expect(error.body).toContain('Missing scope');
  });

  const inTwoMinutes = (): string => new Date(Date.now() + 120_000).toUTCString();

  it.each([
    ['429 with an error', 429, JSON_TYPE, '{"jsonrpc":"2.0","error":{"code":-32050,"message":"Slow down"}}', '7', 7000],
    ['503 with an error', 503, JSON_TYPE, '{"jsonrpc":"2.0","error":{"code":-32050,"message":"Draining"}}', '0', 0],
    ['429 with HTML', 429, HTML, 'Slow down', '7', 7000],
    ['503 with HTML', 503, HTML, 'Down', '120', 120_000],
    ['429 with JSON of a proxy', 429, JSON_TYPE, '{"message":"API rate limit exceeded"}', '60', 60_000],
    ['429 with nothing', 429, {}, '', '1', 1000],
  ])('Retry-After of %s is kept, and told', async (_, status, headers, body, retryAfter, milliseconds) => {
    const outcome = answering(status, { ...headers, 'Retry-After': retryAfter }, body);
    const error = await outcome.then(
      () => undefined,
      (thrown: unknown) => thrown as { readonly message: string },
    );
    expect(error).toMatchObject({ status, retryAfterMs: milliseconds });
    expect(error?.message).toContain(`${retryAfter} s`);
  });

  it('Retry-After may be a date', async () => {
    const error = await expectLocalError(answering(503, { ...HTML, 'Retry-After': inTwoMinutes() }, ''), 'http_status');
    expect(error.retryAfterMs).toBeGreaterThan(110_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(120_000);
  });

  it('Retry-After that nobody can read is left out', async () => {
    const error = await expectLocalError(answering(503, { ...HTML, 'Retry-After': 'soon' }, ''), 'http_status');
    expect(error).not.toHaveProperty('retryAfterMs');
  });

  it('what an error page says is shown although it does not end', async () => {
    const server = await scriptedServer((answer) => {
      answer.response.writeHead(502, HTML).write('<h1>Bad gateway</h1>');
    });
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'http_status');
    expect(error.body).toBe('<h1>Bad gateway</h1>');
    await expect(server.requests[0]?.over).resolves.toBe(true);
  });
});
