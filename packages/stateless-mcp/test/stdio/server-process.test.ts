import { describe, expect, it } from 'vitest';
import { elapsed, sleep, within } from '../http/harness.ts';
import { at, callTool, listen } from '../wire/messages.ts';
import { startServer } from './server-child.ts';

const KB = 1000;
const MB = 1000 * KB;
const isWindows = process.platform === 'win32';

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
      'after base64 bytes call callback debug descriptor dir end group hex info log pipe pipeline table write'.split(' '),
    );
    expect(strays.filter((line) => line.includes('STRAY pipe '))).toHaveLength(100);
    expect(strays.filter((line) => line === 'STRAY call')).toHaveLength(4);
    expect(stderr()).toContain(
      'called: write(text, callback); write(text, encoding, callback); pipeline; pipe; end\n',
    );
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
      await client.answer(id);
    }
  });
});

describe('lines in a pipe', () => {
  it('STDIO-02: takes a message of 8 MB and gives one of 12 MB', async () => {
    const { client } = await startServer('stdio-server', { maxMessageBytes: 10 * MB });
    client.send(callTool('length', { text: 'x'.repeat(8 * MB) }, { id: 1 }), callTool('large', { bytes: 12 * MB }, { id: 2 }));
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

describe('the end of standard input', () => {
  it('STDIO-10, SUB-14: ends the process, listen streams complete', async () => {
    const { client, exited, stderr } = await startServer('stdio-server');
    client.send(listen({ toolsListChanged: true }, { id: 'watch' }));
    await client.notification('notifications/subscriptions/acknowledged');
    client.output.end();
    expect(await elapsed(exited, 5000)).toBeLessThan(1000);
    expect(await exited).toEqual({ code: 0, signal: null });
    expect((await client.all()).map(({ id, method }) => method ?? id)).toEqual([
      'notifications/subscriptions/acknowledged',
      'watch',
      'notifications/cancelled',
    ]);
    expect(stderr()).toMatch(/closed\nexit 0\n$/);
  });

  it('STDIO-10: lets a running call finish', async () => {
    const { client, exited, said } = await startServer('stdio-server');
    client.send(callTool('wait', {}, { id: 1 }));
    await said('waiting');
    client.output.end();
    expect(textOf((await client.all())[0])).toBe('waited');
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  it('STDIO-10: aborts a call that goes on for more than two seconds', async () => {
    const { client, exited, said, stderr } = await startServer('stdio-server');
    client.send(callTool('park', {}, { id: 1 }));
    await said('parked');
    client.output.end();
    const took = await elapsed(exited, 6000);
    console.log(`fault: a call ran on after the end of standard input, the process ended after ${took.toFixed(0)} ms`);
    expect(took).toBeGreaterThan(1900);
    expect(took).toBeLessThan(3500);
    expect(stderr()).toContain('aborted');
    expect(await client.all()).toMatchObject([{ id: 1, error: { code: 503 } }]);
  });

  it('STDIO-10: a result of 100 KB arrives whole before the process ends', async () => {
    const { client, exited } = await startServer('stdio-server');
    client.send(callTool('large', { bytes: 100 * KB }, { id: 1 }));
    client.output.end();
    expect(textOf((await client.all())[0])).toHaveLength(100 * KB);
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  it('STDIO-10: so does one of 12 MB, if its reader comes late', async () => {
    const { client, exited } = await startServer('stdio-server', {}, { reads: false });
    client.send(callTool('large', { bytes: 12 * MB }, { id: 1 }));
    client.output.end();
    setTimeout(() => client.read(), 500);
    expect(textOf((await client.all(20_000))[0])).toHaveLength(12 * MB);
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  it('STDIO-02: a last line without an end is a line', async () => {
    const { client, exited } = await startServer('stdio-server');
    client.output.end(JSON.stringify(callTool('hello', {}, { id: 1 })));
    expect(textOf((await client.all())[0])).toBe('hello');
    await exited;
  });

  it('ends the process even if something else would keep it', async () => {
    const { client, exited, stderr } = await startServer('stdio-server', { keepAlive: true });
    client.output.end();
    const took = await elapsed(exited, 5000);
    console.log(`fault: a timer was left behind, the process ended after ${took.toFixed(0)} ms`);
    expect(took).toBeGreaterThan(900);
    expect(took).toBeLessThan(2500);
    expect(stderr()).toMatch(/closed\nexit 0\n$/);
  });

  it('leaves the exit code to the process', async () => {
    const { client, exited } = await startServer('stdio-server', { exitCode: 7, keepAlive: true });
    client.output.end();
    expect(await exited).toEqual({ code: 7, signal: null });
  });

  it('ends a process whose client no longer reads what it still asks for', async () => {
    const { client, process: child, exited, said } = await startServer('stdio-server', { keepAlive: true });
    child.stdout.destroy();
    client.send(callTool('hello', {}, { id: 1 }));
    await said('closed');
    expect(await exited).toEqual({ code: 0, signal: null });
  });
});

describe.skipIf(isWindows)('signals', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('STDIO-11: %s is like the end of the input', async (signal) => {
    const { client, process: child, exited, said } = await startServer('stdio-server', { keepAlive: true });
    client.send(callTool('wait', {}, { id: 1 }), listen({ toolsListChanged: true }, { id: 'watch' }));
    await client.notification('notifications/subscriptions/acknowledged');
    await said('waiting');
    child.kill(signal);
    expect(await exited).toEqual({ code: 0, signal: null });
    const messages = await client.all();
    expect(textOf(messages.find(({ id }) => id === 1))).toBe('waited');
    expect(messages.map(({ id, method }) => method ?? id)).toContain('watch');
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('a second %s ends the process at once', async (signal, code) => {
    const { client, process: child, exited, said } = await startServer('stdio-server');
    client.send(callTool('park', {}, { id: 1 }), listen({ toolsListChanged: true }, { id: 'watch' }));
    await said('parked');
    child.kill('SIGTERM');
    await client.answer('watch');
    child.kill(signal);
    const took = await elapsed(exited, 5000);
    console.log(`fault: a second signal, the process ended after ${took.toFixed(0)} ms`);
    expect(took).toBeLessThan(1000);
    expect(await exited).toEqual({ code, signal: null });
  });

  it('STDIO-10: a signal behind the end of the input takes the rest of the time from running calls', async () => {
    const { client, process: child, exited, said } = await startServer('stdio-server');
    client.send(callTool('park', {}, { id: 1 }), listen({ toolsListChanged: true }, { id: 'watch' }));
    await said('parked');
    client.output.end();
    await client.answer('watch');
    child.kill('SIGTERM');
    expect(await elapsed(exited, 5000)).toBeLessThan(1000);
    expect(await exited).toEqual({ code: 0, signal: null });
    expect((await client.all()).find(({ id }) => id === 1)).toMatchObject({ error: { code: 503 } });
  });

  it('a result arrives whole when a signal ends the process', async () => {
    const { client, process: child, exited } = await startServer('stdio-server', {}, { reads: false });
    client.send(callTool('large', { bytes: 12 * MB }, { id: 1 }));
    await sleep(300);
    child.kill('SIGTERM');
    setTimeout(() => client.read(), 300);
    expect(textOf((await client.all(20_000))[0])).toHaveLength(12 * MB);
    expect(await exited).toEqual({ code: 0, signal: null });
  });
});

describe('close', () => {
  it('leaves the process to whoever called it', async () => {
    const { client, process: child, said } = await startServer('stdio-server', { keepAlive: true });
    client.send(callTool('quit', {}, { id: 1 }));
    await said('closed from within');
    expect(textOf(await client.answer(1))).toBe('quitting');
    await sleep(1500);
    expect(child.exitCode).toBeNull();
  });

  it('lets the process end if nothing else keeps it', async () => {
    const { client, exited } = await startServer('stdio-server');
    client.send(callTool('quit', {}, { id: 1 }));
    expect(await within(exited, 3000)).toEqual({ code: 0, signal: null });
  });
});
