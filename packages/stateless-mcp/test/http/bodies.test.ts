import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../src/http/index.ts';
import { request } from '../wire/messages.ts';
import { DONE, elapsed, requestHead, requestText, serveNode, sleep, within } from './harness.ts';

const MIB = 1024 * 1024;
const message = request('tools/list');

function chunk(data: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}

describe('the size of a body', () => {
  it('64 MiB in chunks are refused at the limit, readably, and never held', async () => {
    const { connect, send, listener } = await serveNode(async () => DONE);
    const client = await connect();
    await client.write(requestHead(message, 'chunked'));
    const before = process.memoryUsage();
    const piece = chunk(Buffer.alloc(64 * 1024, ' '));
    let sent = 0;
    let answeredAt: number | undefined;
    let peak = 0;
    while (sent < 64 * MIB && !client.isEnded && !client.socket.destroyed) {
      await Promise.race([client.write(piece), client.ended]);
      sent += 64 * 1024;
      if (answeredAt === undefined && client.partial() !== undefined) answeredAt = sent;
      const { external, heapUsed } = process.memoryUsage();
      peak = Math.max(peak, external + heapUsed - before.external - before.heapUsed);
    }
    const { status, text } = await client.response();
    console.log(
      `fault: ${sent / MIB} MiB sent, answered after ${answeredAt}, memory grew by ${(peak / MIB).toFixed(1)} MiB`,
    );
    expect(sent).toBeGreaterThan(4 * MIB);
    expect(status).toBe(413);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 413, message: expect.stringContaining('maxBodyBytes') } });
    expect(peak).toBeLessThan(48 * MIB);
    client.socket.destroy();
    expect((await send(message)).status).toBe(200);
    expect(await elapsed(listener.drain(), 1000)).toBeLessThan(100);
  });

  it('is refused by its announced length before anything of it arrives', async () => {
    const { connect } = await serveNode(async () => DONE, { maxBodyBytes: 1000 });
    const client = await connect();
    await client.write(requestHead(message, 1001));
    const { status, text } = await client.response();
    console.log('fault: a body of 1001 bytes was announced, none was sent');
    expect(status).toBe(413);
    expect(JSON.parse(text)).not.toHaveProperty('id');
  });

  it('may be exactly the limit, and not one byte more', async () => {
    const { length } = JSON.stringify(message);
    const exact = await serveNode(async () => DONE, { maxBodyBytes: length });
    expect((await exact.send(message)).status).toBe(200);
    const short = await serveNode(async () => DONE, { maxBodyBytes: length - 1 });
    expect((await short.send(message)).status).toBe(413);
  });

  it('a client that goes on sending after 413 is cut off after a while', async () => {
    const { connect } = await serveNode(async () => DONE, { maxBodyBytes: 1000 });
    const client = await connect();
    await client.write(requestHead(message, 10 * MIB));
    expect((await client.response()).status).toBe(413);
    const drip = setInterval(() => void client.write('x'), 50);
    const took = await elapsed(client.ended, 4000).finally(() => clearInterval(drip));
    console.log(`fault: client dripped on after 413, cut off after ${took.toFixed(0)} ms`);
  });
});

describe('the nesting of a body', () => {
  it.each([
    ['arrays', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['objects', '{"a":'.repeat(200_000) + '1' + '}'.repeat(200_000)],
    ['arrays that are never closed', '['.repeat(200_000)],
  ])('200,000 levels of %s are a parse error without id', async (_kind, body) => {
    const { send } = await serveNode(async () => DONE);
    const { status, text } = await send(message, { body });
    console.log('fault: 200,000 levels of JSON');
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } });
    expect(JSON.parse(text)).not.toHaveProperty('id');
  });

  it('a request whose parameters nest too deep is refused although the rest is in order', async () => {
    const { send } = await serveNode(async () => DONE);
    const deep = '['.repeat(126) + ']'.repeat(126);
    const withDeep = (value: string): string =>
      JSON.stringify(message).replace('"params":{', `"params":{"x":${value},`);
    expect((await send(message, { body: withDeep(deep) })).status).toBe(200);
    expect((await send(message, { body: withDeep(`[${deep}]`) })).status).toBe(400);
  });
});

describe('the text of a body', () => {
  it.each([
    ['nothing', ''],
    ['half a message', '{"jsonrpc":"2.0","id":1'],
    ['no JSON', 'hello'],
    ['two messages', '{}{}'],
    ['JSON behind a byte order mark', '\uFEFF{}'],
  ])('%s is a parse error without id', async (_kind, body) => {
    const { send } = await serveNode(async () => DONE);
    const { status, text } = await send(message, { body });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32700 } });
    expect(JSON.parse(text)).not.toHaveProperty('id');
  });

  it('that is not UTF-8 is a parse error', async () => {
    const { connect } = await serveNode(async () => DONE);
    const client = await connect();
    await client.write(Buffer.concat([Buffer.from(requestHead(message, 4)), Buffer.from([0x22, 0xc3, 0x28, 0x22])]));
    const { status, text } = await client.response();
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32700, message: expect.stringContaining('UTF-8') } });
  });
});

describe('a body that does not arrive', () => {
  it('is answered 408 within bodyTimeoutMs, and told to onRefused', async () => {
    const refusals: Refusal[] = [];
    const { connect, listener } = await serveNode(async () => DONE, {
      bodyTimeoutMs: 150,
      onRefused: (refusal) => refusals.push(refusal),
    });
    const client = await connect();
    await client.write(requestHead(message, 500));
    const started = performance.now();
    const { status, text } = await client.response();
    const took = performance.now() - started;
    console.log(`fault: no byte of the body was sent, answered after ${took.toFixed(0)} ms`);
    expect(status).toBe(408);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 408, message: expect.stringContaining('bodyTimeoutMs') } });
    expect(took).toBeGreaterThan(100);
    expect(took).toBeLessThan(500);
    expect(refusals).toMatchObject([{ status: 408, code: 408 }]);
    expect(await elapsed(listener.drain(), 1000)).toBeLessThan(100);
  });

  it('one byte at a time does not buy more time', async () => {
    const { connect } = await serveNode(async () => DONE, { bodyTimeoutMs: 200 });
    const client = await connect();
    const body = JSON.stringify(message);
    await client.write(requestHead(message, body.length));
    let sent = 0;
    const drip = setInterval(() => {
      if (sent < body.length - 1) void client.write(body.charAt(sent++));
    }, 10);
    const started = performance.now();
    const { status } = await client.response().finally(() => clearInterval(drip));
    console.log(
      `fault: ${sent} bytes of ${body.length} dripped in, answered after ${(performance.now() - started).toFixed(0)} ms`,
    );
    expect(sent).toBeGreaterThan(3);
    expect(status).toBe(408);
    expect(performance.now() - started).toBeLessThan(600);
  });

  it('many of them cost other clients nothing', async () => {
    const { connect, send } = await serveNode(async () => DONE, { bodyTimeoutMs: 2000 });
    const slow = await Promise.all(Array.from({ length: 100 }, connect));
    await Promise.all(slow.map(async (client) => client.write(requestHead(message, 500))));
    console.log('fault: 100 bodies are not arriving');
    expect((await within(send(message), 1000)).status).toBe(200);
  });
});

describe('Expect: 100-continue', () => {
  it('is answered before the body', async () => {
    const { connect } = await serveNode(async () => DONE);
    const client = await connect();
    const body = JSON.stringify(message);
    await client.write(requestHead(message, body.length, { headers: { expect: '100-continue' } }));
    expect((await client.response()).status).toBe(100);
    await client.write(body);
    expect((await client.response()).status).toBe(200);
  });

  it('a body that is announced as too large gets its 413 although it waits', async () => {
    const { connect } = await serveNode(async () => DONE, { maxBodyBytes: 1000 });
    const client = await connect();
    await client.write(requestHead(message, 1001, { headers: { expect: '100-continue' } }));
    let { status } = await client.response();
    if (status === 100) ({ status } = await client.response());
    expect(status).toBe(413);
  });
});

it('a body in many small pieces is one message', async () => {
  const { connect } = await serveNode(async () => DONE);
  const client = await connect();
  const text = requestText(message);
  for (let at = 0; at < text.length; at += 7) {
    await client.write(text.slice(at, at + 7));
    if (at % 70 === 0) await sleep(1);
  }
  expect((await client.response()).status).toBe(200);
});
