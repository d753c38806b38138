import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StdioCommand } from '../../src/stdio/index.ts';
import {
  alive,
  callTool,
  failureOf,
  fixture,
  leftAfter,
  openPeer,
  report,
  serverCommand,
  type ServerBehaviour,
  temporaryFolder,
  textOf,
  type Tree,
  treeIn,
  wrapped,
} from './client-harness.ts';

const GONE_AFTER_MS = 2000;

const behaviours: readonly (readonly [string, ServerBehaviour])[] = [
  ['that ends with its input', {}],
  ['that ignores the end of its input', { ignoreEof: true }],
  ['that ignores the end of its input and SIGTERM', { ignoreEof: true, ignoreTerm: true }],
];

const stubborn: ServerBehaviour = { ignoreEof: true, ignoreTerm: true };

interface Setup {
  readonly command: StdioCommand;
  readonly pidFile: string;
}

function setup(behaviour: ServerBehaviour, script?: string): Setup {
  const pidFile = join(temporaryFolder(), 'pids');
  const server = serverCommand({ grandchild: true, pidFile, ...behaviour });
  return { command: { ...wrapped(server, script), env: { PID_FILE: pidFile } }, pidFile };
}

async function expectGone(tree: Tree, seen: readonly number[], fault: string): Promise<void> {
  const left = await leftAfter(tree, GONE_AFTER_MS);
  report(`${fault}: seen alive before ${seen.join(', ')}; left ${left.join(', ') || 'none'}`);
  expect(seen).toHaveLength(3);
  expect(left).toEqual([]);
}

describe.each(behaviours)('a wrapper, a server %s, and a grandchild', (name, behaviour) => {
  it('STDIO-09: are gone after close()', async () => {
    const { command, pidFile } = setup(behaviour);
    const { peer } = openPeer(command);
    await textOf(peer, 'pids');
    const tree = await treeIn(pidFile);
    const seen = alive(tree);
    await peer.close();
    await expectGone(tree, seen, `close() of a server ${name}`);
    expect(peer.explain().process).not.toHaveProperty('pid');
  });

  it('STDIO-09: are gone after close() while calls are under way, which fail at once', async () => {
    const { command, pidFile } = setup(behaviour);
    const { peer } = openPeer(command);
    const pending = callTool(peer, 'silent');
    const tree = await treeIn(pidFile);
    const seen = alive(tree);
    const closed = peer.close();
    expect(await failureOf(pending.answer)).toMatchObject({ code: 'closed', maybeExecuted: true });
    const left = alive(tree);
    report(`failed while ${left.length} were alive`);
    await closed;
    await expectGone(tree, seen, `close() during a call of a server ${name}`);
  });

  it('are gone after the caller gave up while the server had not said a word', async () => {
    const { command, pidFile } = setup({ ...behaviour, silent: true });
    const { peer } = openPeer(command);
    const starting = callTool(peer, 'pids');
    const tree = await treeIn(pidFile);
    const seen = alive(tree);
    starting.leave();
    expect(await failureOf(starting.answer)).toMatchObject({ code: 'aborted', maybeExecuted: true });
    await expectGone(tree, seen, `abort during the start of a server ${name}`);
  });

  it('are gone after their client was killed', async () => {
    const parent = await endParent(behaviour, 'wait', name, (child) => child.kill('SIGKILL'));
    expect(parent.signalCode).toBe('SIGKILL');
  });
});

describe('a tree of processes', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('is gone after its client was ended by %s', async (signal) => {
    const parent = await endParent(stubborn, 'wait', signal, (child) => child.kill(signal));
    expect(parent.signalCode).toBe(signal);
  });

  it.each([
    ['exit', 0],
    ['throw', 1],
    // A server of which nothing is asked does not keep its client alive.
    ['nothing', 0],
    ['close', 0],
  ])('is gone after its client ended by itself (%s)', async (ending, exitCode) => {
    const parent = await endParent(stubborn, ending, ending);
    expect(parent.exitCode).toBe(exitCode);
  });

  it('is gone after its server failed at the start', async () => {
    const { command, pidFile } = setup({ exitCode: 3, ignoreTerm: true });
    const { peer } = openPeer(command);
    const { answer } = callTool(peer, 'pids');
    const tree = await treeIn(pidFile);
    const seen = alive(tree);
    const error = await failureOf(answer);
    expect(error).toMatchObject({ code: 'unreachable', phase: 'spawn', exitCode: 3 });
    const left = await leftAfter(tree, GONE_AFTER_MS);
    report(`failed start: seen alive before ${seen.join(', ')}; left ${left.join(', ') || 'none'}`);
    expect(seen).toContain(tree.grandchild);
    expect(left).toEqual([]);
  });

  it('is gone when its first process leaves a server behind', async () => {
    const { command, pidFile } = setup({ ignoreEof: true, ignoreTerm: true }, 'launcher.sh');
    const { peer } = openPeer(command);
    const { answer } = callTool(peer, 'silent');
    const tree = await treeIn(pidFile);
    const seen = alive(tree);
    await failureOf(answer);
    const left = await leftAfter(tree, GONE_AFTER_MS);
    report(`launcher that left: seen alive before ${seen.join(', ')}; left ${left.join(', ') || 'none'}`);
    expect(seen).toContain(tree.grandchild);
    expect(left).toEqual([]);
  });

  it('is killed if its first process ignores everything else', async () => {
    const { peer } = openPeer(serverCommand(stubborn));
    await textOf(peer, 'echo');
    const pid = peer.explain().process?.pid ?? Number.NaN;
    const tree: Tree = { wrapper: pid, server: pid, grandchild: pid };
    const seen = alive(tree);
    await peer.close();
    await expectGone(tree, seen, 'close() of a server without a wrapper that ignores SIGTERM');
    expect(peer.explain().process).toMatchObject({ exitCode: null, exitSignal: 'SIGKILL' });
  });

  it('is gone after its server was killed', async () => {
    const { command, pidFile } = setup({});
    const { peer } = openPeer(command);
    await textOf(peer, 'pids');
    const tree = await treeIn(pidFile);
    const seen = alive(tree);
    process.kill(tree.server, 'SIGKILL');
    await expectGone(tree, seen, 'SIGKILL to the server');
  });

  it('is over with its server, even if a process that left the tree holds its streams', async () => {
    const { command, pidFile } = setup({ grandchild: false, escapee: true });
    const { peer } = openPeer(command);
    await textOf(peer, 'pids');
    const tree = await treeIn(pidFile);
    const { answer } = callTool(peer, 'exit', { code: 5 });
    expect(await failureOf(answer)).toMatchObject({ code: 'closed', exitCode: 5 });
    report(`escaped: ${alive(tree).join(', ')} still alive`);
    expect(alive(tree)).toEqual([tree.grandchild]);
  });

  it('keeps its client alive while something is asked', async () => {
    const { command, pidFile } = setup({});
    const parent = await startParent(command, 'pending');
    const tree = await treeIn(pidFile);
    parent.stdin?.write('go on');
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
    expect(parent.exitCode).toBeNull();
    parent.kill('SIGKILL');
    expect(await leftAfter(tree, GONE_AFTER_MS)).toEqual([]);
  });

  it('leaves no watchdog behind', async () => {
    const { command } = setup({});
    const { peer } = openPeer(command);
    const before = await shells();
    await textOf(peer, 'pids');
    const during = (await shells()).filter((pid) => !before.includes(pid));
    await peer.close();
    // It ends by itself as soon as it reads that it may.
    for (let look = 0; look < 100 && (await shells()).some((pid) => during.includes(pid)); look++) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    const left = (await shells()).filter((pid) => during.includes(pid));
    report(`watchdog: seen alive ${during.join(', ')}; left ${left.join(', ') || 'none'}`);
    expect(during).not.toEqual([]);
    expect(left).toEqual([]);
  });
});

/** Child processes of this one that are shells. */
async function shells(): Promise<readonly string[]> {
  const ps = spawn('ps', ['-o', 'pid=,stat=,comm=', '--ppid', String(process.pid)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  for await (const chunk of ps.stdout) text += String(chunk);
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, state = 'Z', name = '']) => !state.startsWith('Z') && /^(?:sh|dash|bash)$/.test(name))
    .map(([pid = '']) => pid);
}

async function startParent(command: StdioCommand, ending: string): Promise<ChildProcess> {
  const argument = JSON.stringify({ command, ending });
  const parent = spawn(process.execPath, ['--import', 'tsx', fixture('parent.ts'), argument], {
    stdio: ['pipe', 'pipe', ending === 'throw' ? 'ignore' : 'inherit'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  await once(parent.stdout, 'data');
  return parent;
}

/** Starts a client with a server behind it, and looks what is left when the client has ended. */
async function endParent(
  behaviour: ServerBehaviour,
  ending: string,
  fault: string,
  end: (parent: ChildProcess) => void = () => undefined,
): Promise<ChildProcess> {
  const { command, pidFile } = setup(behaviour);
  const parent = await startParent(command, ending);
  const tree = await treeIn(pidFile);
  const seen = alive(tree);
  const exited = once(parent, 'exit');
  parent.stdin?.write('go on');
  end(parent);
  await exited;
  await expectGone(tree, seen, `the end of the client of a server (${fault})`);
  return parent;
}
