import { expect, it } from 'vitest';
import {
  CLIENT_CAPABILITIES_META_KEY,
  McpError,
  type McpMiddleware,
  withExchange,
  withMiddleware,
} from '../../src/protocol/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { describeMatrix, expectHttp } from '../matrix.ts';
import { recordingLogger, referenceIn } from '../recording-logger.ts';

const info = { name: 'middleware', version: '1.0.0' };
const alice = { auth: { principal: 'alice', scopes: ['admin'] } };

function server(): McpServer {
  const made = new McpServer(info);
  made.registerTool('who', {}, (_input, { auth }) => auth?.principal ?? 'nobody');
  made.registerTool('admin', { scopes: ['admin'] }, () => 'ran');
  made.registerTool('hidden', { visible: ({ auth }) => auth !== undefined }, () => 'ran');
  made.registerTool('where', {}, (_input, { http }) => (http === undefined ? 'nowhere' : http.url));
  made.registerTool('progress', {}, async (_input, { progress, wantsProgress }) => {
    await progress(1);
    await progress(2);
    return String(wantsProgress);
  });
  made.registerTool('wait', {}, async (_input, { signal }) => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return 'waited';
  });
  return made;
}

describeMatrix('middleware', (connect) => {
  it('stands around the handler, the first one named outermost', async () => {
    const order: string[] = [];
    const named =
      (name: string): McpMiddleware =>
      async (request, exchange, next) => {
        order.push(`${name} in`);
        try {
          return await next(request, exchange);
        } finally {
          order.push(`${name} out`);
        }
      };
    const client = await connect(withMiddleware(server(), named('a'), named('b')));
    expect(await client.result('tools/call', { name: 'who' })).toMatchObject({ content: [{ text: 'nobody' }] });
    expect(order).toEqual(['a in', 'b in', 'b out', 'a out']);
  });

  it('sees every request that was admitted, and no other', async () => {
    const seen: string[] = [];
    const watch: McpMiddleware = async (request, exchange, next) => {
      seen.push(request.method);
      return next(request, exchange);
    };
    const client = await connect(withMiddleware(server(), watch));
    await client.result('server/discover');
    await client.error('nonsense');
    await client.error('tools/list', {}, { meta: { [CLIENT_CAPABILITIES_META_KEY]: 'all' } });
    expect(seen).toEqual(['server/discover', 'nonsense']);
  });

  it('may answer itself, with a result or an error', async () => {
    const own = { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private', own: true };
    const answering: McpMiddleware = async (request, exchange, next) => {
      if (request.method === 'tools/list') return own;
      if (request.method === 'prompts/list') throw new McpError(429, 'Slow down', { headers: { 'Retry-After': '7' } });
      return next(request, exchange);
    };
    const client = await connect(withMiddleware(server(), answering));
    expect(await client.result('tools/list')).toEqual(own);
    const answer = await client.request('prompts/list');
    expect(answer.message.error).toEqual({ code: 429, message: 'Slow down' });
    expectHttp(answer, { status: 429, headers: { 'retry-after': '7' } });
  });

  it('may change a request by making another one', async () => {
    const renaming: McpMiddleware = async (request, exchange, next) =>
      request.params.name === 'alias'
        ? next({ ...request, params: { ...request.params, name: 'who' } }, exchange)
        : next(request, exchange);
    const client = await connect(withMiddleware(server(), renaming));
    expect(await client.result('tools/call', { name: 'alias' })).toMatchObject({ content: [{ text: 'nobody' }] });
  });

  it('an error of its own is masked, with its reference in the log of the binding', async () => {
    const logger = recordingLogger();
    const broken: McpMiddleware = async () => Promise.reject(new Error('password hunter2'));
    const client = await connect(withMiddleware(server(), broken), { logger });
    const error = await client.error('tools/list');
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(logger.byReference(referenceIn(error.message)).fields.error).toEqual(new Error('password hunter2'));
  });
});

describeMatrix('withExchange', (connect) => {
  it('can take the caller away: nothing behind it knows who calls', async () => {
    const anonymous: McpMiddleware = async (request, exchange, next) =>
      next(request, withExchange(exchange, { auth: undefined }));
    const client = await connect(withMiddleware(server(), anonymous));
    expect(await client.result('tools/call', { name: 'who' }, alice)).toMatchObject({ content: [{ text: 'nobody' }] });
    expect((await client.error('tools/call', { name: 'admin' }, alice)).code).toBe(401);
    expect((await client.error('tools/call', { name: 'hidden' }, alice)).code).toBe(-32602);
    const { tools } = await client.result('tools/list', {}, alice);
    expect(JSON.stringify(tools)).not.toContain('hidden');
  });

  it('can put another caller in, and keeps what it does not name', async () => {
    const auth = { principal: 'bob' };
    const acting: McpMiddleware = async (request, exchange, next) => {
      const changed = withExchange(exchange, { auth });
      expect(changed.http).toBe(exchange.http);
      expect(changed.signal).toBe(exchange.signal);
      expect(changed.closing).toBe(exchange.closing);
      expect(changed.versions).toBe(exchange.versions);
      return next(request, changed);
    };
    const client = await connect(withMiddleware(server(), acting));
    expect(await client.result('tools/call', { name: 'who' }, alice)).toMatchObject({ content: [{ text: 'bob' }] });
    expect((await client.error('tools/call', { name: 'admin' }, alice)).code).toBe(403);
  });

  it('changes made twice add up', async () => {
    const twice: McpMiddleware = async (request, exchange, next) => {
      const changed = withExchange(withExchange(exchange, { auth: { principal: 'bob' } }), { http: undefined });
      return next(request, changed);
    };
    const client = await connect(withMiddleware(server(), twice));
    expect(await client.result('tools/call', { name: 'who' })).toMatchObject({ content: [{ text: 'bob' }] });
    expect(await client.result('tools/call', { name: 'where' })).toMatchObject({ content: [{ text: 'nowhere' }] });
  });

  it('can watch and stop notifications', async () => {
    const seen: string[] = [];
    const filtering: McpMiddleware = async (request, exchange, next) =>
      next(
        request,
        withExchange(exchange, {
          notify: (notification) => {
            seen.push(notification.method);
            return seen.length === 1 ? undefined : exchange.notify(notification);
          },
        }),
      );
    const client = await connect(withMiddleware(server(), filtering));
    const { notifications } = await client.request('tools/call', { name: 'progress' }, { meta: { progressToken: 1 } });
    expect(seen).toEqual(['notifications/progress', 'notifications/progress']);
    expect(notifications).toMatchObject([{ params: { progress: 2 } }]);
  });

  it('can say that nobody wants progress', async () => {
    const quiet: McpMiddleware = async (request, exchange, next) =>
      next(request, withExchange(exchange, { wantsProgress: false }));
    const client = await connect(withMiddleware(server(), quiet));
    const answer = await client.request('tools/call', { name: 'progress' }, { meta: { progressToken: 1 } });
    expect(answer.notifications).toEqual([]);
    expect(answer.message.result).toMatchObject({ content: [{ text: 'false' }] });
  });

  it('can give up earlier', async () => {
    const hurrying: McpMiddleware = async (request, exchange, next) => {
      const signal = AbortSignal.any([exchange.signal, AbortSignal.abort()]);
      return next(request, withExchange(exchange, { signal }));
    };
    const client = await connect(withMiddleware(server(), hurrying));
    expect(await client.result('tools/call', { name: 'wait' })).toMatchObject({ content: [{ text: 'waited' }] });
  });
});
