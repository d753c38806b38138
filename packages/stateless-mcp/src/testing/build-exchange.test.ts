import { describe, expect, it } from 'vitest';
import type { McpNotification } from '../protocol/index.ts';
import { McpServer } from '../server/index.ts';
import { buildExchange, buildRequest } from './index.ts';

const progress: McpNotification = { method: 'notifications/progress', params: { progress: 1 } };
const log: McpNotification = { method: 'notifications/message', params: { level: 'info', data: 'x' } };

async function isPending(promise: void | Promise<void>): Promise<boolean> {
  const later = new Promise<'later'>((resolve) => void setTimeout(resolve, 0, 'later'));
  return (await Promise.race([promise, later])) === 'later';
}

describe('buildExchange', () => {
  it('is an exchange of nobody that nothing happens to, unless told otherwise', () => {
    const { signal, closing, wantsProgress, versions, auth, http, notifications } = buildExchange();
    expect({ signal: signal.aborted, closing: closing.aborted }).toEqual({ signal: false, closing: false });
    expect({ wantsProgress, versions, auth, http, notifications }).toEqual({
      wantsProgress: false,
      versions: ['2026-07-28'],
      auth: undefined,
      http: undefined,
      notifications: [],
    });
  });

  it('collects what is sent, progress only if it is wanted', () => {
    const unwanted = buildExchange();
    void unwanted.notify(progress);
    void unwanted.notify(log);
    expect(unwanted.notifications).toEqual([log]);
    const wanted = buildExchange({ wantsProgress: true });
    void wanted.notify(progress);
    void wanted.notify(log);
    expect(wanted.notifications).toEqual([progress, log]);
  });

  it('has the caller and the headers it is given', async () => {
    const server = new McpServer({ name: 'weather', version: '1.0.0' });
    server.registerTool('who', {}, (_, { auth, http }) => `${auth?.principal} ${http?.headers.get('X-Region')}`);
    const exchange = buildExchange({ auth: { principal: 'ann' }, headers: { 'x-region': 'eu' } });
    const result = await server.handler(buildRequest('tools/call', { name: 'who' }), exchange);
    expect(result.content).toEqual([{ type: 'text', text: 'ann eu' }]);
  });

  it('holds its sender up while it is full', async () => {
    const exchange = buildExchange();
    expect(exchange.notify(log)).toBeUndefined();
    exchange.fill();
    const sent = exchange.notify(log);
    expect(await isPending(sent)).toBe(true);
    exchange.empty();
    await sent;
    expect(exchange.notify(log)).toBeUndefined();
    expect(exchange.notifications).toHaveLength(3);
  });

  it('lets everybody go and takes nothing more when its caller is gone', async () => {
    const exchange = buildExchange();
    exchange.fill();
    const sent = exchange.notify(log);
    exchange.abort();
    await sent;
    expect(exchange.signal.reason).toMatchObject({ name: 'AbortError' });
    expect(exchange.notify(log)).toBeUndefined();
    exchange.fill();
    expect(exchange.notify(log)).toBeUndefined();
    expect(exchange.notifications).toEqual([log]);
  });

  it('drains a stream, which then ends with its result', async () => {
    const server = new McpServer(
      { name: 'weather', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true } } },
    );
    const exchange = buildExchange();
    const request = buildRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const ended = server.handler(request, exchange);
    exchange.close();
    expect(await ended).toMatchObject({ resultType: 'complete' });
    expect(exchange.notifications).toEqual([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: { toolsListChanged: true } } },
    ]);
    expect(exchange.signal.aborted).toBe(false);
  });
});
