import { describe, expect, it } from 'vitest';
import { sleep } from '../http/harness.ts';
import { at, callTool } from '../wire/messages.ts';
import { startServer } from './server-child.ts';

const MB = 1_000_000;

function textOf(message: unknown): string {
  return String(at(message, 'result', 'content', 0, 'text'));
}

describe('standard output', () => {
  it('STDIO-03: carries the protocol alone, whatever a dependency prints while it is loaded', async () => {
    const { client, stderr, exited } = await startServer('stdio-server', { noisy: true });
    client.send(callTool('hello', {}, { id: 1 }), callTool('print', {}, { id: 2 }), callTool('hello', {}, { id: 3 }));
    for (const id of [1, 2, 3]) await client.answer(id);
    client.output.end();
    expect(await client.all()).toHaveLength(3);
    await exited;
    const strays = stderr()
      .split('\n')
      .filter((line) => line.includes('STRAY'));
    const kinds = new Set(strays.map((line) => /STRAY\W+(\w+)/.exec(line)?.[1]));
    expect([...kinds].sort()).toEqual(
      'after base64 bytes call callback debug descriptor dir end group hex info log pipe pipeline table write'.split(
        ' ',
      ),
    );
    expect(strays.filter((line) => line.includes('STRAY pipe '))).toHaveLength(5);
    expect(strays.filter((line) => line === 'STRAY call')).toHaveLength(4);
    expect(stderr()).toContain('called: write(text, callback); write(text, encoding, callback); pipeline; pipe; end\n');
  });

  it('STDIO-03: without the guard too, from serveStdio on', async () => {
    const { client, stderr } = await startServer('unguarded-server');
    client.send(callTool('print', {}, { id: 1 }), callTool('hello', {}, { id: 2 }));
    await client.answer(2);
    expect(client.messages).toHaveLength(2);
    expect(stderr().match(/STRAY call/g)).toHaveLength(4);
  });

  it('is served once', async () => {
    const { stderr } = await startServer('stdio-server');
    expect(stderr()).toContain('served twice: Error: serveStdio: ');
  });

  it('STDIO-05: goes on when nobody takes what is written to standard error', async () => {
    const { client, process: child } = await startServer('stdio-server');
    child.stderr.destroy();
    for (let id = 1; id <= 5; id++) {
      client.send(callTool('print', {}, { id }));
      expect(textOf(await client.answer(id))).toBe('printed');
    }
  });
});

describe('lines in a pipe', () => {
  it('STDIO-02: takes a message of 8 MB and gives one of 12 MB', async () => {
    const { client } = await startServer('stdio-server', { limits: { maxMessageBytes: 10 * MB } });
    client.send(
      callTool('length', { text: 'x'.repeat(8 * MB) }, { id: 1 }),
      callTool('large', { bytes: 12 * MB }, { id: 2 }),
    );
    expect(textOf(await client.answer(1, 20_000))).toBe(String(8 * MB + '{"text":""}'.length));
    expect(textOf(await client.answer(2, 20_000))).toHaveLength(12 * MB);
  });

  it('STDIO-02: refuses 8 MB where 4 MiB are allowed, and goes on', async () => {
    const { client } = await startServer('stdio-server');
    client.send(callTool('length', { text: 'x'.repeat(8 * MB) }, { id: 1 }), callTool('hello', {}, { id: 2 }));
    expect(await client.answer(1, 20_000)).toMatchObject({ error: { code: -32600 } });
    expect(textOf(await client.answer(2))).toBe('hello');
  });

  it('serves a client that comes late to reading', async () => {
    const { client } = await startServer('stdio-server', {}, { reads: false });
    for (let id = 1; id <= 20; id++) client.send(callTool('large', { bytes: MB }, { id }));
    await sleep(300);
    client.read();
    for (let id = 1; id <= 20; id++) expect(textOf(await client.answer(id, 20_000))).toHaveLength(MB);
  });
});
