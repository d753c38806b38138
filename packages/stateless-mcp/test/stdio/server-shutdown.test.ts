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

  it('STDIO-10: so does one of 20 MB, if its reader comes late', async () => {
    const { client, exited } = await startServer(
      'stdio-server',
      { limits: { maxResponseBytes: 21 * MB } },
      { reads: false },
    );
    client.send(callTool('large', { bytes: 20 * MB }, { id: 1 }));
    client.output.end();
    setTimeout(() => client.read(), 500);
    expect(textOf((await client.all(20_000))[0])).toHaveLength(20 * MB);
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
