import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalError } from '../../src/protocol/index.ts';
import { stdioPeer } from '../../src/stdio/index.ts';
import { FakeClock } from './fake-clock.ts';
import {
  alive,
  callTool,
  failureOf,
  fixture,
  found,
  openPeer,
  report,
  serverCommand,
  temporaryFolder,
  textOf,
  type Tree,
} from './client-harness.ts';

interface Received {
  readonly id?: number;
  readonly method: string;
  readonly params: object;
}

async function pidsOf(peer: Parameters<typeof textOf>[0]): Promise<Tree> {
  return JSON.parse(await textOf(peer, 'pids')) as Tree;
}

describe('a server as a child process', () => {
  it('STDIO-01, ST-06, T-73: is started with the first request, once for all that are made at the same time', async () => {
    const { peer } = openPeer(serverCommand());
    expect(peer.explain()).toMatchObject({ transport: 'stdio', requests: 0, process: { starts: 0, stderr: [] } });
    const pids = await Promise.all([pidsOf(peer), pidsOf(peer), pidsOf(peer)]);
    expect(new Set(pids.map(({ server }) => server))).toEqual(new Set([peer.explain().process?.pid]));
    expect(peer.explain()).toMatchObject({ requests: 3, ignoredLines: 0, process: { starts: 1 } });
    expect(peer.explain().lastAnswerMs).toBeGreaterThan(0);
  });

  it('gets nothing of our environment but what programs need, and what it is given', async () => {
    process.env.STATELESS_MCP_TEST_SECRET = 'mine';
    onTestFinished(() => {
      delete process.env.STATELESS_MCP_TEST_SECRET;
    });
    const given = { API_KEY: 'theirs', SHELL: '/bin/other' };
    const { peer } = openPeer({ ...serverCommand(), env: given });
    const env = JSON.parse(await textOf(peer, 'env')) as Record<string, string>;
    expect(env).toMatchObject({ ...given, PATH: process.env.PATH });
    const known = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'API_KEY'];
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('gets its arguments as they are, and its directory', async () => {
    const args = ['two words', '', '"quoted"', "it's", '$HOME', '*', '`id`', 'a\nb', '; exit 1', 'ü'];
    const cwd = temporaryFolder();
    const { peer } = openPeer({ ...serverCommand({}, ...args), cwd });
    expect(JSON.parse(await textOf(peer, 'args'))).toEqual(args);
    expect(await textOf(peer, 'cwd')).toBe(cwd);
  });

  it('STDIO-06: may write whatever it likes to its error stream', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `Error ${index}: ${'x'.repeat(index === 29 ? 2000 : 10)}`);
    const heard: string[] = [];
    const listen = (line: string): void => {
      heard.push(line);
      throw new Error('A listener that fails');
    };
    const { peer, logger } = openPeer(serverCommand({ stderr: lines }), { stderr: listen });
    await textOf(peer, 'pids');
    await found(() => (heard.length === 30 ? true : undefined));
    expect(heard).toEqual(lines);
    const kept = peer.explain().process?.stderr ?? [];
    expect(kept).toHaveLength(20);
    expect(kept[0]).toMatch(/^Error 10:/);
    expect(kept.at(-1)?.length).toBeLessThan(600);
    expect(logger.entries.every(({ message }) => /listener of its error stream failed/.test(message))).toBe(true);
  });

  it('STDIO-06: can share the error stream of its client', async () => {
    const argument = JSON.stringify(serverCommand({ stderr: ['straight through'] }));
    const run = promisify(execFile)(process.execPath, ['--import', 'tsx', fixture('inherit.ts'), argument]);
    expect(await run).toEqual({ stdout: '[]', stderr: 'straight through\n' });
  });

  it('is refused as a command if it could not be one', () => {
    expect(() => stdioPeer({ command: '' })).toThrow(TypeError);
    expect(() => stdioPeer({ command: 'a', args: [1 as never] })).toThrow(/args.*1/);
    expect(() => stdioPeer({ command: 'a', args: ['b\0c'] })).toThrow(/null/);
    expect(() => stdioPeer({ command: 'a', env: { A: undefined as never } })).toThrow(/env/);
    expect(() => stdioPeer({ command: 'a' }, { shutdownGraceMs: -1 })).toThrow(/shutdownGraceMs.*-1/);
    expect(() => stdioPeer({ command: 'a' }, { stderr: 'ignore' as never })).toThrow(/stderr/);
  });
});

describe('a server that cannot be started', () => {
  it('is a program that does not exist', async () => {
    const { peer } = openPeer({ command: 'no-such-program-here', args: ['--token', 'abcdefgh'] });
    const error = await failureOf(callTool(peer, 'pids').answer);
    expect(error).toMatchObject({
      code: 'unreachable',
      phase: 'spawn',
      maybeExecuted: false,
      cause: { code: 'ENOENT' },
    });
    expect(error.message).toMatch(/^Cannot start no-such-program-here --token \[redacted\]: there is no program/);
    expect(peer.endpoint).toBe('no-such-program-here --token [redacted]');
  });

  it('is a file that may not be executed', async () => {
    const command = join(temporaryFolder(), 'plain-file');
    writeFileSync(command, '', { mode: 0o644 });
    const { peer } = openPeer({ command });
    const error = await failureOf(callTool(peer, 'pids').answer);
    expect(error).toMatchObject({
      code: 'unreachable',
      phase: 'spawn',
      maybeExecuted: false,
      cause: { code: 'EACCES' },
    });
    expect(error.message).toMatch(/may not be executed/);
  });

  it('has a directory that does not exist', async () => {
    const { peer } = openPeer({ ...serverCommand(), cwd: '/no/such/directory' });
    const error = await failureOf(callTool(peer, 'pids').answer);
    expect(error).toMatchObject({ code: 'unreachable', phase: 'spawn', maybeExecuted: false });
    expect(error.message).toMatch(/there is no directory \/no\/such\/directory/);
  });

  it('ends before it says anything: exit code and last lines are told, secrets are not', async () => {
    const stderr = [...Array.from({ length: 40 }, (_, index) => `line ${index}`), 'cannot log in with hunter2hunter2'];
    const command = serverCommand({ exitCode: 3, stderr });
    const { peer, logger } = openPeer({ ...command, env: { DB_PASSWORD: 'hunter2hunter2' } });
    const error = await failureOf(callTool(peer, 'pids').answer);
    expect(error).toMatchObject({ code: 'unreachable', phase: 'spawn', exitCode: 3 });
    // It had been given the request, and nobody knows what it did with it.
    expect(error.maybeExecuted).toBe(true);
    expect(error.stderr).toHaveLength(20);
    expect(error.stderr?.at(-1)).toBe('cannot log in with [redacted]');
    expect(error.message).toMatch(/exit code 3 before it sent any message.*\n {2}line 36\n/s);
    await found(() => logger.entries.find(({ level }) => level === 'warn'));
    expect(JSON.stringify([error, error.message, logger.entries, peer.explain()])).not.toMatch(/hunter2/);
    expect(peer.explain().process).toMatchObject({ exitCode: 3, starts: 1 });
  });

  it('closes its output and lives on: it is ended', async () => {
    const { peer } = openPeer(serverCommand({ closeOutput: true, silent: true, ignoreEof: true }));
    const error = await failureOf(callTool(peer, 'pids').answer);
    expect(error).toMatchObject({ code: 'unreachable', phase: 'spawn', exitSignal: 'SIGTERM' });
  });

  it('does not take what it prints for a message', async () => {
    const { peer, logger } = openPeer(serverCommand({ exitCode: 0, print: 'Usage: server\n{"level":30}\n' }));
    const error = await failureOf(callTool(peer, 'pids').answer);
    expect(error).toMatchObject({ code: 'unreachable', phase: 'spawn', exitCode: 0 });
    expect(peer.explain().ignoredLines).toBe(2);
    expect(logger.entries.map(({ fields }) => fields.line)).toContain('"Usage: server"');
  });
});

describe('a server that ends', () => {
  it('STDIO-12, T-67: loses what was under way, says so, and is started again by the next request', async () => {
    const clock = new FakeClock();
    const { peer, logger } = openPeer(serverCommand(), { clock });
    const first = await pidsOf(peer);
    clock.advance(60_000);
    const lost = ['silent', 'silent'].map((name) => callTool(peer, name));
    const killer = callTool(peer, 'exit', { code: 7, stderr: 'out of luck\n' });
    for (const { answer } of [...lost, killer]) {
      const error = await failureOf(answer);
      expect(error).toMatchObject({ code: 'closed', phase: 'call', maybeExecuted: true, exitCode: 7 });
      expect(error.stderr).toEqual(['out of luck']);
      expect(error.message).toMatch(/ended with exit code 7 before tools\/call was answered.*out of luck/s);
    }
    const { fields, message } = await found(() => logger.entries.find(({ level }) => level === 'warn'));
    expect(message).toMatch(/3 requests were lost/);
    expect(fields).toMatchObject({ exitCode: 7, lostRequests: 3, stderr: ['out of luck'] });

    // It had lived for a minute: no pause.
    const second = await pidsOf(peer);
    report(`server ${first.server} ended, ${second.server} took its place`);
    expect(second.server).not.toBe(first.server);
    // Nothing is asked twice, and no id is used again.
    const received = JSON.parse(await textOf(peer, 'received')) as readonly Received[];
    expect(received.map(({ id }) => id)).toEqual([5, 6]);
    expect(peer.explain().process).toMatchObject({ starts: 2, pid: second.server });
    expect(peer.explain().process).not.toHaveProperty('exitCode');
  });

  it('tells the signal that ended it', async () => {
    const { peer } = openPeer(serverCommand());
    await pidsOf(peer);
    const error = await failureOf(callTool(peer, 'kill', { signal: 'SIGKILL' }).answer);
    expect(error).toMatchObject({ code: 'closed', exitCode: null, exitSignal: 'SIGKILL' });
  });

  it('STDIO-11: may end in good order after a last answer without a line end', async () => {
    const { peer, logger } = openPeer(serverCommand(), { clock: new FakeClock() });
    expect(await textOf(peer, 'last')).toBe('the last');
    const entry = await found(() => logger.entries.find(({ message }) => /exit code 0/.test(message)));
    expect(entry.level).toBe('info');
  });

  it('is heard to the end of its output, which may come after its own', async () => {
    const { peer } = openPeer(serverCommand());
    expect(await textOf(peer, 'legacy')).toBe('from beyond');
    expect(peer.explain().process).toMatchObject({ exitCode: 0 });
  });

  it('is started again after pauses that grow, and are shorter than ten seconds', async () => {
    const clock = new FakeClock();
    const { peer } = openPeer({ command: '/bin/sh', args: ['-c', 'exit 1'] }, { clock });
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      const { answer } = callTool(peer, 'pids');
      if (attempt > 0) {
        const [pause = Number.NaN] = await found(() => (clock.delays.length === 0 ? undefined : clock.delays));
        expect(peer.explain().process?.starts).toBe(attempt);
        clock.advance(pause - 1);
        expect(clock.delays).toHaveLength(1);
        clock.advance(1);
        pauses.push(pause);
      }
      expect(await failureOf(answer)).toMatchObject({ code: 'unreachable', phase: 'spawn', exitCode: 1 });
    }
    report(`pauses before restarts: ${pauses.map(Math.round).join(', ')} ms`);
    const most = [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000];
    pauses.forEach((pause, index) => {
      const limit = most[index] ?? 0;
      expect(pause).toBeLessThanOrEqual(limit);
      expect(pause).toBeGreaterThanOrEqual(limit / 2);
    });
  });

  it('is started once for all who wait in such a pause', async () => {
    const clock = new FakeClock();
    const { peer } = openPeer(serverCommand(), { clock });
    await failureOf(callTool(peer, 'exit', { code: 1 }).answer);
    const calls = [pidsOf(peer), pidsOf(peer)];
    await found(() => (clock.delays.length === 0 ? undefined : clock.delays));
    expect(clock.delays).toHaveLength(1);
    clock.advance(250);
    const [first, second] = await Promise.all(calls);
    expect(first?.server).toBe(second?.server);
    expect(peer.explain().process?.starts).toBe(2);
  });

  it('is not started for those who gave up in such a pause, but for those who come after', async () => {
    const clock = new FakeClock();
    const { peer } = openPeer(serverCommand(), { clock });
    await failureOf(callTool(peer, 'exit', { code: 1 }).answer);
    const calls = [callTool(peer, 'pids'), callTool(peer, 'pids')];
    await found(() => (clock.delays.length === 0 ? undefined : clock.delays));
    calls[0]?.leave();
    expect(await failureOf(calls[0]?.answer ?? Promise.resolve())).toMatchObject({
      code: 'aborted',
      maybeExecuted: false,
    });
    expect(clock.delays).toHaveLength(1);
    calls[1]?.leave();
    await failureOf(calls[1]?.answer ?? Promise.resolve());
    expect(clock.delays).toEqual([]);
    const after = pidsOf(peer);
    await found(() => (clock.delays.length === 0 ? undefined : clock.delays));
    clock.advance(250);
    await after;
    expect(peer.explain().process?.starts).toBe(2);
  });

  it('is not started by a peer that was closed in such a pause', async () => {
    const clock = new FakeClock();
    const { peer } = openPeer(serverCommand(), { clock });
    await failureOf(callTool(peer, 'exit', { code: 1 }).answer);
    const { answer } = callTool(peer, 'pids');
    await found(() => (clock.delays.length === 0 ? undefined : clock.delays));
    await peer.close();
    expect(await failureOf(answer)).toMatchObject({ code: 'closed', maybeExecuted: false });
    expect(clock.delays).toEqual([]);
  });
});

describe('giving up and closing', () => {
  it('keeps a server that was too slow for one request, because it may be in time for the next', async () => {
    const { peer } = openPeer(serverCommand({ silent: true }));
    const { answer, leave } = callTool(peer, 'pids');
    const pid = await found(() => peer.explain().process?.pid);
    leave(new LocalError('timeout', 'Nothing for 10 s', { timer: 'idle' }));
    expect(await failureOf(answer)).toMatchObject({ code: 'timeout', maybeExecuted: true });
    await new Promise((resolve) => {
      setTimeout(resolve, 1000);
    });
    expect(alive({ server: pid, wrapper: pid, grandchild: pid })).toContain(pid);
    expect(peer.explain().process?.pid).toBe(pid);
  });

  it('starts nothing for a request that was given up before', async () => {
    const { peer } = openPeer(serverCommand());
    const { answer } = callTool(peer, 'pids', {}, { signal: AbortSignal.abort() });
    expect(await failureOf(answer)).toMatchObject({ code: 'aborted', maybeExecuted: false });
    expect(peer.explain().process?.starts).toBe(0);
  });

  it('CANC-01: tells the server which request is given up', async () => {
    const { peer } = openPeer(serverCommand());
    const received = async (): Promise<readonly Received[]> => JSON.parse(await textOf(peer, 'received')) as Received[];
    const { answer, leave } = callTool(peer, 'silent');
    expect(await received()).toMatchObject([{ id: 1, method: 'tools/call', params: { name: 'silent' } }, { id: 2 }]);
    leave();
    await failureOf(answer);
    expect((await received())[2]).toEqual({
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: expect.any(String) },
    });
  });

  it('takes nothing after it was closed, however often', async () => {
    const { peer } = openPeer(serverCommand());
    await pidsOf(peer);
    await Promise.all([peer.close(), peer.close(), peer[Symbol.asyncDispose]()]);
    expect(await failureOf(callTool(peer, 'pids').answer)).toMatchObject({ code: 'closed', maybeExecuted: false });
    expect(peer.explain().process).toMatchObject({ starts: 1, exitCode: 0 });
  });

  it('can be closed before anything was started, and while it starts', async () => {
    const never = openPeer(serverCommand());
    await never.peer.close();
    expect(never.peer.explain().process?.starts).toBe(0);
    const starting = openPeer(serverCommand({ ignoreEof: true }));
    const { answer } = callTool(starting.peer, 'pids');
    await starting.peer.close();
    expect(await failureOf(answer)).toMatchObject({ code: 'closed' });
    expect(starting.peer.explain().process).not.toHaveProperty('pid');
  });
});
