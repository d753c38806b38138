import { type ClientHttp2Stream, connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type NodeListener, nodeListener } from '../../src/node/index.ts';
import type { McpHandler } from '../../src/protocol/index.ts';
import { request } from '../wire/messages.ts';
import { aborted, deferred, DONE, elapsed, fetchHeaders, silentLogger, sleep, within } from './harness.ts';
import { eventsOf } from './raw-client.ts';

const message = request('tools/list');

interface Http2Server {
  readonly listener: NodeListener;
  send(headers?: Readonly<Record<string, string>>): ClientHttp2Stream;
}

/** The compatibility interface of node:http2, as proxies and browsers reach a server that speaks it. */
async function serveHttp2(handler: McpHandler): Promise<Http2Server> {
  const listener = nodeListener(handler, { allowedHosts: ['127.0.0.1'], logger: silentLogger });
  // Its requests and responses have what the listener uses, under types of their own.
  const server = createServer(listener as unknown as Parameters<typeof createServer>[1]);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  return {
    listener,
    send: (headers = {}) => {
      const stream = session.request({ ':method': 'POST', ':path': '/mcp', ...fetchHeaders(message), ...headers });
      stream.end(JSON.stringify(message));
      return stream;
    },
  };
}

async function answerOf(stream: ClientHttp2Stream): Promise<{ readonly status: unknown; readonly text: string }> {
  const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return { status, text };
}

const warnings: string[] = [];
const onWarning = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`);
beforeEach(() => void process.on('warning', onWarning));
afterEach(() => void process.off('warning', onWarning));

describe('HTTP/2', () => {
  it('answers requests, whose host is their authority', async () => {
    const { send } = await serveHttp2(async () => DONE);
    const { status, text } = await within(answerOf(send()), 2000);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ result: DONE });
  });

  it('refuses another authority', async () => {
    const { send } = await serveHttp2(async () => DONE);
    expect((await within(answerOf(send({ ':authority': 'evil.example' })), 2000)).status).toBe(403);
  });

  it('streams', async () => {
    const { send } = await serveHttp2(async (_request, exchange) => {
      await exchange.notify({ method: 'notifications/message', params: { level: 'info', data: 'one' } });
      return DONE;
    });
    const { text } = await within(answerOf(send()), 2000);
    expect(eventsOf(text)).toMatchObject([{ params: { data: 'one' } }, { result: DONE }]);
  });

  it('passes on that the client cancelled one of its streams', async () => {
    const started = deferred<AbortSignal>();
    const { send } = await serveHttp2(async (_request, { signal }) => {
      started.resolve(signal);
      return new Promise(() => {});
    });
    const stream = send();
    stream.on('error', () => {});
    const signal = await within(started.promise, 2000);
    stream.close(8);
    expect(await elapsed(aborted(signal), 1000)).toBeLessThan(100);
    console.log('fault: HTTP/2 stream cancelled');
  });

  it('refuses while it drains, without a header that HTTP/2 forbids', async () => {
    warnings.length = 0;
    const { send, listener } = await serveHttp2(async () => DONE);
    await listener.drain();
    expect((await within(answerOf(send()), 2000)).status).toBe(503);
    await sleep(10);
    expect(warnings).toEqual([]);
  });
});
