import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Authenticate, fetchHandler, type Refusal } from '../../src/http/index.ts';
import { type AuthInfo, McpError, type McpHandler } from '../../src/protocol/index.ts';
import { request } from '../wire/messages.ts';
import {
  deferred,
  DONE,
  fetchRequest,
  recordingLogger,
  requestHead,
  requestText,
  serveNode,
  silentLogger,
  sleep,
  within,
} from './harness.ts';

const message = request('tools/list');
const who: McpHandler = async (_request, { auth }) => ({ ...DONE, who: auth?.principal ?? 'nobody' });
const alice: AuthInfo = { principal: 'alice' };
const unauthorized = (): McpError =>
  new McpError(401, 'Who are you?', { headers: { 'WWW-Authenticate': 'Bearer realm="mcp"' } });

const verify = (authorization: string | null): AuthInfo => {
  if (authorization === 'Bearer good') return alice;
  throw unauthorized();
};

const forms: readonly (readonly [form: string, authenticate: Authenticate])[] = [
  ['at once', ({ headers }) => verify(headers.get('authorization'))],
  ['later', async ({ headers }) => verify(headers.get('authorization'))],
  [
    'much later',
    async ({ headers }) => {
      await sleep(50);
      return verify(headers.get('authorization'));
    },
  ],
];

describe.each(forms)('authenticate that decides %s', (_form, authenticate) => {
  it('SEC-01: tells the handler who calls', async () => {
    const { send } = await serveNode(who, { authenticate });
    const { text } = await send(message, { headers: { authorization: 'Bearer good' } });
    expect(JSON.parse(text)).toMatchObject({ result: { who: 'alice' } });
  });

  it('refuses with 401 and a challenge', async () => {
    const refusals: Refusal[] = [];
    const { send } = await serveNode(who, { authenticate, onRefused: (refusal) => refusals.push(refusal) });
    const { status, headers, text } = await send(message, { headers: { authorization: 'Bearer bad' } });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="mcp"');
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', error: { code: 401, message: 'Who are you?' } });
    expect(refusals).toEqual([{ status: 401, code: 401, reason: 'Who are you?' }]);
  });

  it('comes before the body: one over the limit with a bad credential gets 401', async () => {
    const { connect } = await serveNode(who, { authenticate, maxBodyBytes: 1000 });
    const client = await connect();
    await client.write(requestHead(message, 100_000));
    console.log('fault: 100,000 bytes announced with a bad credential, none sent');
    expect((await client.response()).status).toBe(401);
  });

  it('comes before method and content type', async () => {
    const { send } = await serveNode(who, { authenticate });
    expect((await send(undefined, { method: 'GET' })).status).toBe(401);
    expect((await send(message, { headers: { 'content-type': 'text/plain' } })).status).toBe(401);
  });

  it('a body that arrives while it decides is not lost', async () => {
    const { connect } = await serveNode(who, { authenticate });
    const client = await connect();
    const body = JSON.stringify(message);
    await client.write(requestHead(message, body.length, { headers: { authorization: 'Bearer good' } }));
    for (const character of body.match(/.{1,40}/g) ?? []) {
      await client.write(character);
      await sleep(5);
    }
    expect(JSON.parse((await client.response()).text)).toMatchObject({ result: { who: 'alice' } });
  });
});

describe('authenticate that fails by itself', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('password of the directory is hunter2');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('password of the directory is hunter2'))],
  ] as const)('and %s is a 503 that tells nothing', async (_how, authenticate) => {
    const logger = recordingLogger();
    const refusals: Refusal[] = [];
    const { send } = await serveNode(who, { authenticate, logger, onRefused: (refusal) => refusals.push(refusal) });
    const { status, headers, text } = await send(message);
    console.log('fault: authenticate failed by itself');
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(text).not.toContain('hunter2');
    expect(JSON.parse(text)).toMatchObject({ error: { code: 503 } });
    expect(JSON.stringify(refusals)).not.toContain('hunter2');
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { error: { message: expect.stringContaining('hunter2') } } },
    ]);
  });

  it('never lets anybody in: a promise of another realm, such as a test runner makes, is waited for', async () => {
    const ForeignPromise = runInNewContext('Promise') as PromiseConstructor;
    const { send } = await serveNode(who, { authenticate: () => ForeignPromise.reject<AuthInfo>(unauthorized()) });
    console.log('fault: authenticate returned a promise that is no instance of Promise, and rejects');
    expect((await send(message)).status).toBe(401);
  });

  it.each([
    ['a challenge with characters that HTTP cannot carry', { 'WWW-Authenticate': 'Bearer realm="日本"' }],
    ['a challenge with a line break', { 'WWW-Authenticate': 'Bearer\r\nSet-Cookie: x=1' }],
  ])('refuses all the same with %s', async (_what, headers) => {
    const { send } = await serveNode(who, {
      authenticate: async () => {
        throw new McpError(401, 'Who are you?', { headers });
      },
    });
    console.log('fault: a challenge that cannot be sent');
    const response = await within(send(message), 2000);
    expect([401, 503]).toContain(response.status);
    expect(response.headers.has('set-cookie')).toBe(false);
  });
});

describe('authenticate', () => {
  it('may let nobody in particular in', async () => {
    const { send } = await serveNode(who, { authenticate: () => undefined });
    expect(JSON.parse((await send(message)).text)).toMatchObject({ result: { who: 'nobody' } });
  });

  it('sees the head: method, headers, url, address', async () => {
    const seen: unknown[] = [];
    const { send } = await serveNode(who, {
      authenticate: ({ method, url, address, headers }) => {
        seen.push([method, url, address, headers.get('X-Key'), headers.get('x-none'), headers.get('toString')]);
        return undefined;
      },
    });
    await send(message, { target: '/mcp?tenant=1', headers: { 'x-key': 'abc' } });
    expect(seen).toEqual([['POST', '/mcp?tenant=1', '127.0.0.1', 'abc', null, null]]);
  });

  it('SEC-01: is asked for every request of a connection', async () => {
    const { connect } = await serveNode(who, { authenticate: forms[0]?.[1] as Authenticate });
    const client = await connect();
    for (const [authorization, status] of [
      ['Bearer good', 200],
      ['Bearer bad', 401],
      ['Bearer good', 200],
      [null, 401],
    ] as const) {
      void client.write(requestText(message, { headers: { authorization } }));
      expect((await client.response()).status).toBe(status);
    }
  });

  it('a client that leaves while it decides reaches no handler', async () => {
    const asked = deferred();
    const decide = deferred();
    let calls = 0;
    const { connect, listener } = await serveNode(
      async () => {
        calls += 1;
        return DONE;
      },
      {
        authenticate: async () => {
          asked.resolve();
          await decide.promise;
          return alice;
        },
        bodyTimeoutMs: 100,
      },
    );
    const client = await connect();
    void client.write(requestHead(message, 5000));
    await within(asked.promise, 1000);
    client.socket.destroy();
    console.log('fault: client socket destroyed while its credential was verified');
    await sleep(20);
    decide.resolve();
    await sleep(150);
    expect(calls).toBe(0);
    await within(listener.drain(), 500);
  });

  it('is not asked when somebody in front has verified the caller', async () => {
    const { fetch, handle } = fetchHandler(who, {
      logger: silentLogger,
      authenticate: () => {
        throw unauthorized();
      },
    });
    expect((await fetch(fetchRequest(message))).status).toBe(401);
    const response = await handle(fetchRequest(message), { auth: { principal: 'bob' } });
    expect(await response.json()).toMatchObject({ result: { who: 'bob' } });
  });
});
