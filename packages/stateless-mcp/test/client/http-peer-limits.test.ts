import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { httpPeer } from '../../src/http/index.ts';
import { callTool, CONTENT, HTTP_CLIENTS, expectLocalError, openPeer } from './http-peer-harness.ts';
import { type Answer, scriptedServer } from './scripted-server.ts';

const LIMIT = 10_000;
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The text of a result message of exactly this many bytes. */
function resultOf(answer: Answer, bytes: number): string {
  const text = (filler: string): string => JSON.stringify(answer.resultMessage({ ...CONTENT, filler }));
  return text('x'.repeat(bytes - text('').length));
}

/** The ways in which a result of so many bytes may come. */
const FORMS: readonly (readonly [string, (answer: Answer, bytes: number) => void])[] = [
  ['a JSON body', (answer, bytes) => answer.send(200, JSON_TYPE, resultOf(answer, bytes))],
  [
    'a JSON body without a length',
    (answer, bytes) => {
      answer.response.writeHead(200, JSON_TYPE);
      answer.write(resultOf(answer, bytes)).response.end();
    },
  ],
  [
    'an event in one piece',
    (answer, bytes) =>
      answer
        .stream()
        .write(`data: ${resultOf(answer, bytes)}\n\n`)
        .response.end(),
  ],
  [
    'an event whose end does not come',
    (answer, bytes) =>
      answer
        .stream()
        .write(`data: ${resultOf(answer, bytes)}`)
        .response.end(),
  ],
  [
    // Between two lines there is one character of data.
    'an event of many lines',
    (answer, bytes) => {
      const text = resultOf(answer, bytes - 4);
      answer
        .stream()
        .write(`data: ${text.replace('{', '{\ndata:\ndata:\ndata:\ndata:')}\n\n`)
        .response.end();
    },
  ],
];

describe.each(HTTP_CLIENTS)('the limit of answers over $name', (client) => {
  it.each(FORMS)('%s may be as large as the limit, and no larger', async (_, write) => {
    const server = await scriptedServer((answer, { index }) => write(answer, LIMIT + index));
    const peer = openPeer(client, server.url, { maxResponseBytes: LIMIT });
    await expect(callTool(peer, 'a')).resolves.toMatchObject(CONTENT);
    const error = await expectLocalError(callTool(peer, 'a'), 'too_large');
    expect(error.message).toContain('10000 bytes');
    expect(error.message).toContain('maxResponseBytes');
    expect(error).toMatchObject({ phase: 'call', maybeExecuted: true });
  });

  it('of one event is not that of a stream', async () => {
    const server = await scriptedServer((answer) => {
      answer.stream();
      for (let event = 0; event < 20; event++) {
        answer.notification('notifications/message', { level: 'info', data: 'x'.repeat(LIMIT / 2) });
      }
      answer.finish(CONTENT);
    });
    let heard = 0;
    const peer = openPeer(client, server.url, { maxResponseBytes: LIMIT });
    await callTool(peer, 'a', {}, { notify: () => void heard++ });
    expect(heard).toBe(20);
  });

  it.each([
    ['a JSON body', (answer: Answer) => answer.response.writeHead(200, JSON_TYPE).write('x')],
    ['an event', (answer: Answer) => answer.stream().write('data: ')],
    ['a comment', (answer: Answer) => answer.stream().write(': ')],
  ])('ends the reading of %s that would never end', async (_, begin) => {
    const server = await scriptedServer(async (answer) => {
      begin(answer);
      while (!answer.response.closed) {
        if (answer.response.write('x'.repeat(4096))) await new Promise(setImmediate);
        else await new Promise((resolve) => answer.response.once('drain', resolve).once('close', resolve));
      }
    });
    const peer = openPeer(client, server.url, { maxResponseBytes: LIMIT });
    await expectLocalError(callTool(peer, 'a'), 'too_large');
    await expect(server.requests[0]?.over).resolves.toBe(true);
  });

  it('holds 16 MiB unless it is set', async () => {
    const size = 16 * 1024 * 1024;
    const server = await scriptedServer((answer, { index }) => {
      answer.send(200, JSON_TYPE, resultOf(answer, size + index));
    });
    const peer = openPeer(client, server.url);
    await callTool(peer, 'a');
    const error = await expectLocalError(callTool(peer, 'a'), 'too_large');
    expect(error.message).toContain('16777216 bytes');
  });

  it('of what is shown of other answers is 2 KiB', async () => {
    const server = await scriptedServer((answer) =>
      answer.send(502, { 'Content-Type': 'text/html' }, '<p>'.repeat(1000)),
    );
    const error = await expectLocalError(callTool(openPeer(client, server.url), 'a'), 'http_status');
    expect(error.body).toBe('<p>'.repeat(1000).slice(0, 2048));
    expect(error.message.length).toBeLessThan(400);
  });
});

it('the limit of answers counts what comes out of a compressed one', async () => {
  const server = await scriptedServer((answer) => {
    answer.send(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, gzipSync(resultOf(answer, 1_000_000)));
  });
  const peer = openPeer({ name: 'globalThis.fetch', make: () => undefined }, server.url, { maxResponseBytes: LIMIT });
  await expectLocalError(callTool(peer, 'a'), 'too_large');
});

it.each([0, -1, 1.5, Number.NaN, '1000'])('maxResponseBytes cannot be %j', (maxResponseBytes) => {
  expect(() => httpPeer('http://127.0.0.1/', { maxResponseBytes: maxResponseBytes as number })).toThrow(
    /maxResponseBytes/,
  );
});
