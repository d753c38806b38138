import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpClient } from '../client/index.ts';
import { fetchHandler, type HttpFetch, httpPeer } from '../http/index.ts';
import { nodeFetch } from '../node/index.ts';
import { McpServer } from '../server/index.ts';
import { serveStream, streamPeer } from '../stdio/index.ts';
import { recordWire, type WireRecorder } from './index.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function weather(): McpServer {
  const server = new McpServer({ name: 'weather', version: '1.0.0' }, { logger: quiet });
  server.registerTool('forecast', { inputSchema: { type: 'object' } }, () => 'Sunny');
  server.registerTool('work', {}, async (_, { progress }) => {
    await progress(1, 2);
    return 'Done';
  });
  return server;
}

function methodsOf({ records }: WireRecorder): unknown[] {
  return records.map(({ direction, message }) => [direction, (message as { method?: string }).method ?? 'response']);
}

describe('recordWire: HTTP', () => {
  function client(wire: WireRecorder, headers: Record<string, string> = {}): McpClient {
    const { fetch } = fetchHandler(weather(), { logger: quiet });
    const handler: HttpFetch = async (url, { signal, ...init }) => fetch(new Request(url, init));
    return new McpClient(httpPeer('https://weather.example/mcp', { fetch: wire.fetch(handler), headers }));
  }

  it('has both messages of a call, with their heads, as they were written', async () => {
    const wire = recordWire();
    await client(wire).callTool('forecast', { city: 'Rome' });
    const [sent, received] = wire.records;
    expect(wire.records).toHaveLength(2);
    expect(sent).toMatchObject({
      direction: 'sent',
      message: { method: 'tools/call', params: { name: 'forecast', arguments: { city: 'Rome' } } },
      http: { url: 'https://weather.example/mcp', headers: { 'mcp-method': 'tools/call', 'mcp-name': 'forecast' } },
    });
    expect(received).toMatchObject({
      direction: 'received',
      message: { result: { content: [{ type: 'text', text: 'Sunny' }] } },
      http: { status: 200, headers: { 'content-type': 'application/json' } },
    });
    for (const { text, message } of wire.records) expect(JSON.parse(text)).toEqual(message);
  });

  it('has every event of a stream', async () => {
    const wire = recordWire();
    await client(wire).callTool('work');
    expect(methodsOf(wire)).toEqual([
      ['sent', 'tools/call'],
      ['received', 'notifications/progress'],
      ['received', 'response'],
    ]);
    expect(wire.records[1]?.http).toBe(wire.records[2]?.http);
  });

  it('takes credentials out, also where they come back, and tokens of the protocol not', async () => {
    const wire = recordWire({ secrets: ['Rome'] });
    const headers = { Authorization: 'Bearer 0123456789', 'X-Api-Key': 'key-abc' };
    const peer = client(wire, headers);
    await peer.callTool('forecast', { password: 'a b', note: 'it is 0123456789', place: 'in Rome', count: 7 });
    const [sent] = wire.records;
    expect(sent?.http?.headers).toMatchObject({ authorization: '[redacted]', 'x-api-key': '[redacted]' });
    expect(sent?.message).toMatchObject({
      params: {
        _meta: { progressToken: 1 },
        arguments: { password: '[redacted]', note: 'it is [redacted]', place: 'in [redacted]', count: 7 },
      },
    });
    expect(JSON.stringify(wire.records)).not.toMatch(/0123456789|key-abc|a b|Rome/);
  });

  it('shows answers that are no messages, and that have no body', async () => {
    const wire = recordWire();
    const answers = [new Response('<html>token=abcdef</html>', { status: 502 }), new Response(null, { status: 204 })];
    const fetch = wire.fetch(async () => answers.shift() ?? Response.error());
    const peer = new McpClient(httpPeer('https://weather.example/mcp', { fetch, logger: quiet }));
    await expect(peer.callTool('forecast')).rejects.toThrow('502');
    await expect(peer.callTool('forecast')).rejects.toThrow('204');
    const received = wire.records.filter(({ direction }) => direction === 'received');
    expect(received.map(({ text, http }) => [text, http?.status])).toEqual([
      ['<html>token=[redacted]', 502],
      ['', 204],
    ]);
    expect(received.every((record) => !('message' in record))).toBe(true);
  });

  it('puts events together however they are cut, and joins their lines', async () => {
    const text = ': hello\n\ndata: {"a":1}\n\nevent: message\r\ndata: {"b":\r\ndata: "ü"}\r\n\r\ndata:{"c":3}';
    const bytes = new TextEncoder().encode(text);
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const wire = recordWire();
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.slice(index * size, (index + 1) * size),
      );
      const fetch = wire.fetch(async () => ({
        status: 200,
        headers: new Headers({ 'content-type': 'text/event-stream' }),
        body: Readable.from(chunks),
      }));
      const { body } = await fetch('https://weather.example/mcp', request());
      const passed: Uint8Array[] = [];
      for await (const chunk of body as AsyncIterable<Uint8Array>) passed.push(chunk);
      expect(Buffer.concat(passed).toString()).toBe(text);
      expect(wire.records.slice(1).map(({ message }) => message)).toEqual([{ a: 1 }, { b: 'ü' }, { c: 3 }]);
    }
  });

  it('leaves a body that its reader leaves', async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: {"a":1}\n\n')),
      cancel() {
        isCancelled = true;
      },
    });
    const wire = recordWire();
    const headers = { 'content-type': 'text/event-stream' };
    const { body: watched } = await wire.fetch(async () => new Response(body, { headers }))(
      'https://a.example',
      request(),
    );
    for await (const _ of watched as AsyncIterable<Uint8Array>) break;
    expect(isCancelled).toBe(true);
    expect(wire.records).toHaveLength(2);
  });

  it('lists the headers that matter of a client whose headers cannot be listed', async () => {
    const httpServer = createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="a"', 'x-other': 'b' }).end();
    });
    await new Promise<void>((resolve) => void httpServer.listen(0, '127.0.0.1', resolve));
    const own = nodeFetch();
    onTestFinished(() => {
      own.close();
      httpServer.close();
    });
    const wire = recordWire();
    const { port } = httpServer.address() as AddressInfo;
    const { body } = await wire.fetch(own)(`http://127.0.0.1:${port}/mcp`, request());
    for await (const _ of (body ?? []) as AsyncIterable<Uint8Array>) continue;
    expect(wire.records[1]?.http).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="a"' } });
  });

  function request(): Parameters<HttpFetch>[1] {
    const { signal } = new AbortController();
    return { method: 'POST', headers: {}, body: '{}', signal, redirect: 'manual', timeout: false };
  }
});

describe('recordWire: streams', () => {
  it('has every line both ways, as the end sees it that is recorded', async () => {
    const toServer = new PassThrough();
    const toClient = new PassThrough();
    const atClient = recordWire();
    const atServer = recordWire();
    const served = serveStream(weather(), {
      readable: atServer.stream(toServer),
      writable: toClient,
    });
    const client = new McpClient(streamPeer({ readable: atClient.stream(toClient), writable: toServer }));
    await client.callTool('work');
    await client.close();
    await served.close();
    // Both ends of a PassThrough are the same stream: what one side writes is what the other one reads.
    const expected = [
      ['sent', 'notifications/progress'],
      ['received', 'notifications/progress'],
      ['sent', 'response'],
      ['received', 'response'],
    ];
    expect(methodsOf(atClient)).toEqual(expect.arrayContaining(expected));
    expect(methodsOf(atServer)).toContainEqual(['received', 'tools/call']);
  });

  it('records lines however they are cut, noise among them, and what has no end', () => {
    const wire = recordWire();
    const stream = wire.stream(new PassThrough());
    const text = '{"text":"ü","token":"abcdef"}\nListening, password: hunter2\n\n{"id":1}\r\n{"half';
    for (const byte of Buffer.from(text)) stream.write(Uint8Array.of(byte));
    stream.end();
    stream.resume();
    const sent = wire.records.filter(({ direction }) => direction === 'sent');
    expect(sent).toEqual([
      { direction: 'sent', text: '{"text":"ü","token":"[redacted]"}', message: { text: 'ü', token: '[redacted]' } },
      { direction: 'sent', text: 'Listening, password: [redacted]' },
      { direction: 'sent', text: '{"id":1}', message: { id: 1 } },
      { direction: 'sent', text: '{"half' },
    ]);
  });

  it('sees what is given to the end of a stream, and what arrived before anybody read', () => {
    const wire = recordWire();
    const stream = wire.stream(new PassThrough());
    stream.end('{"id":1}\n', () => undefined);
    stream.end(() => undefined);
    expect(wire.records.map(({ direction, text }) => [direction, text])).toEqual([
      ['sent', '{"id":1}'],
      ['received', '{"id":1}'],
    ]);
  });

  it('returns the same stream, with both of its methods working', async () => {
    const stream = new PassThrough();
    expect(recordWire().stream(stream)).toBe(stream);
    stream.end('hello\n');
    expect((await stream.toArray()).join('')).toBe('hello\n');
  });
});
