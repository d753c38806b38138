import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalError } from '../../src/protocol/index.ts';
import { streamPeer } from '../../src/stdio/index.ts';
import { recordingLogger } from '../recording-logger.ts';
import { callTool, failureOf, openPeer, report, serverCommand, temporaryFolder, textOf } from './client-harness.ts';

const MIB = 1024 * 1024;

describe('what a server process prints', () => {
  it('STDIO-03, T-62, T-63: is skipped, counted and shown once, whatever it is', async () => {
    const { peer, logger } = openPeer(serverCommand({ print: 'Server running on stdio\n\n' }));
    const lines = '\n\r\n   \n{ "jsonrpc": "2.0",\n  "id": 1 }\nDEBUG x\n{"half":\n\u0000\n[]\n';
    expect(await textOf(peer, 'noise', { lines })).toBe('noisy');
    const { ignoredLines } = peer.explain();
    const shown = logger.entries.filter(({ level }) => level === 'warn');
    report(`${ignoredLines} lines were no messages; ${shown.length} were shown`);
    expect(ignoredLines).toBe(7);
    expect(shown.map(({ fields }) => fields.line)).toEqual(['"Server running on stdio"', '"[]"']);
    expect(shown[0]?.message).toMatch(/standard error/);
  });

  it('T-62: is read byte by byte as well', async () => {
    const { peer } = openPeer(serverCommand());
    expect(await textOf(peer, 'half')).toBe('Grüße');
  });
});

describe('large messages', () => {
  it('STDIO-02: a line of 50 MB goes through in both directions', async () => {
    const { peer } = openPeer(serverCommand(), { maxMessageBytes: 64 * MIB });
    const characters = 50 * MIB;
    const large = textOf(peer, 'large', { characters });
    const small = await textOf(peer, 'echo', { small: true });
    expect(small).toBe('{"small":true}');
    expect((await large).length).toBe(characters);
    const length = Number(await textOf(peer, 'length', { text: 'y'.repeat(characters) }));
    expect(length).toBeGreaterThan(characters);
  });

  it('fails a request whose answer is larger than allowed, and that one only', async () => {
    const { peer } = openPeer(serverCommand());
    const large = callTool(peer, 'large', { characters: 50 * MIB });
    const small = textOf(peer, 'echo', { small: true });
    const error = await failureOf(large.answer);
    expect(error).toMatchObject({ code: 'too_large', maybeExecuted: true });
    expect(error.message).toMatch(/5\d{7} bytes.*16777216.*maxMessageBytes/);
    expect(await small).toBe('{"small":true}');
    expect(peer.explain()).toMatchObject({ ignoredLines: 0, process: { starts: 1 } });
  });
});

describe('a server process that does not read', () => {
  it('T-64: costs no memory, and each request fails at its own time', async () => {
    const { peer } = openPeer(serverCommand({ ignoreEof: true }));
    await textOf(peer, 'stall');
    const text = 'z'.repeat(MIB);
    const before = process.memoryUsage().rss;
    const calls = Array.from({ length: 500 }, () => callTool(peer, 'echo', { text }));
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
    const grown = process.memoryUsage().rss - before;
    report(`500 MiB of requests to a server that does not read: ${Math.round(grown / MIB)} MiB more memory`);
    expect(grown).toBeLessThan(100 * MIB);
    for (const [index, { leave }] of calls.entries())
      leave(new LocalError('timeout', `Timer ${index}`, { timer: 'total' }));
    const errors = await Promise.all(calls.map(async ({ answer }) => failureOf(answer)));
    expect(errors.map(({ message }) => message)).toEqual(calls.map((_, index) => `Timer ${index}`));
    const written = errors.filter(({ maybeExecuted }) => maybeExecuted);
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(10);
    await peer.close();
    expect(peer.explain().process).not.toHaveProperty('pid');
  });
});

describe('STDIO-13, STDIO-14: sockets', () => {
  async function listen(server: Server, where: string | number): Promise<void> {
    server.listen(where);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  }

  /** Answers every call with its own parameters, until it is told to hang up. */
  function answering(): Server {
    return createServer((socket) => {
      socket.on('error', () => undefined);
      createInterface({ input: socket }).on('line', (line) => {
        const { id, params } = JSON.parse(line) as {
          readonly id?: number;
          readonly params: { readonly name?: string };
        };
        if (id === undefined) return;
        if (params.name === 'hang up') socket.destroy();
        const content = [{ type: 'text', text: params.name }];
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', content } })}\n`);
      });
    });
  }

  it.each(['Unix domain', 'TCP'])('%s: carry the same messages', async (kind) => {
    const server = answering();
    const path = join(temporaryFolder(), 'socket');
    await listen(server, kind === 'TCP' ? 0 : path);
    const address = server.address();
    const socket: Socket =
      typeof address === 'string' ? createConnection(address) : createConnection(address?.port ?? 0, '127.0.0.1');
    const logger = recordingLogger();
    const peer = streamPeer(socket, { endpoint: kind, logger });
    // Before it is connected.
    const texts = await Promise.all(['a', 'b', 'c'].map(async (name) => textOf(peer, name)));
    expect(texts).toEqual(['a', 'b', 'c']);
    expect(peer.explain()).toMatchObject({ transport: 'stream', endpoint: kind, requests: 3 });
    const error = await failureOf(callTool(peer, 'hang up').answer);
    expect(error).toMatchObject({ code: 'closed', maybeExecuted: true });
    expect(error.message).toMatch(new RegExp(`${kind}.*tools/call`));
    await peer.close();
    expect(socket.destroyed).toBe(true);
  });

  it('closing a peer ends its connection', async () => {
    const server = answering();
    await listen(server, 0);
    const ended = new Promise<string>((resolve) => {
      server.once('connection', (socket) => socket.once('end', () => resolve('ended')));
    });
    const address = server.address();
    const peer = streamPeer(createConnection(typeof address === 'string' ? 0 : (address?.port ?? 0), '127.0.0.1'));
    await textOf(peer, 'a');
    await peer.close();
    expect(await ended).toBe('ended');
  });

  it('says that nothing was reached, and where it failed', async () => {
    const server = createServer();
    await listen(server, 0);
    const address = server.address();
    const port = typeof address === 'string' ? 0 : (address?.port ?? 0);
    server.close();
    await once(server, 'close');
    const refused = streamPeer(createConnection(port, '127.0.0.1'), { endpoint: `127.0.0.1:${port}` });
    const error = await failureOf(callTool(refused, 'a').answer);
    expect(error).toMatchObject({ code: 'unreachable', phase: 'connect', maybeExecuted: false });
    expect(error.message).toMatch(/ECONNREFUSED/);

    const lookup = (_name: string, _options: object, done: (error: Error) => void): void =>
      done(Object.assign(new Error('getaddrinfo ENOTFOUND nowhere'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }));
    const unknown = streamPeer(createConnection({ port, host: 'nowhere', lookup: lookup as never }));
    expect(await failureOf(callTool(unknown, 'a').answer)).toMatchObject({ code: 'unreachable', phase: 'dns' });
  });
});
