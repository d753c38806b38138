/** For tests of the client end with real processes. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Exchange,
  type ExtensionNotification,
  LocalError,
  type McpNotification,
  type McpPeer,
  type McpResult,
} from '../../src/protocol/index.ts';
import { type StdioCommand, stdioPeer, type StdioPeerOptions } from '../../src/stdio/index.ts';
import { type RecordingLogger, recordingLogger } from '../recording-logger.ts';

export interface ServerBehaviour {
  /** Gets the ids of the processes. */
  readonly pidFile?: string;
  readonly ignoreEof?: boolean;
  readonly ignoreTerm?: boolean;
  /** Start a process that outlives the server if nobody ends it. */
  readonly grandchild?: boolean;
  /** Start a process that leaves the process group and holds the server's streams. */
  readonly escapee?: boolean;
  /** End at once, before anything is answered. */
  readonly exitCode?: number;
  readonly stderr?: readonly string[];
  /** Written to standard output at once. */
  readonly print?: string;
  readonly closeOutput?: boolean;
  /** Answer nothing. */
  readonly silent?: boolean;
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`./client-fixtures/${name}`, import.meta.url));
}

export function serverCommand(behaviour: ServerBehaviour = {}, ...args: readonly string[]): StdioCommand {
  return { command: process.execPath, args: [fixture('server.mjs'), JSON.stringify(behaviour), ...args] };
}

/** The same behind a shell script. */
export function wrapped({ command, args = [] }: StdioCommand, script = 'wrapper.sh'): StdioCommand {
  return { command: '/bin/sh', args: [fixture(script), command, ...args] };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stdio-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

export interface OpenPeer {
  readonly peer: McpPeer;
  readonly logger: RecordingLogger;
}

export function openPeer(command: StdioCommand, options: StdioPeerOptions = {}): OpenPeer {
  const logger = recordingLogger();
  const peer = stdioPeer(command, { logger, shutdownGraceMs: 500, ...options });
  onTestFinished(async () => peer.close());
  return { peer, logger };
}

export interface Call {
  readonly answer: Promise<McpResult>;
  readonly notifications: readonly (McpNotification | ExtensionNotification)[];
  readonly leave: (reason?: unknown) => void;
}

export function callTool(
  peer: McpPeer,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  changes: Partial<Exchange> = {},
): Call {
  const leaving = new AbortController();
  const notifications: (McpNotification | ExtensionNotification)[] = [];
  const answer = peer(
    { method: 'tools/call', params: { name, arguments: args, _meta: { [CLIENT_CAPABILITIES_META_KEY]: {} } } },
    {
      signal: leaving.signal,
      closing: new AbortController().signal,
      wantsProgress: false,
      versions: [],
      notify: (notification) => void notifications.push(notification),
      ...changes,
    },
  );
  answer.catch(() => undefined);
  return { answer, notifications, leave: (reason) => leaving.abort(reason) };
}

/** The text that a tool returns. */
export async function textOf(
  peer: McpPeer,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { content } = await callTool(peer, name, args).answer;
  const [first] = content as readonly { readonly text: string }[];
  return first?.text ?? '';
}

export async function failureOf(promise: Promise<unknown>): Promise<LocalError> {
  const error = await promise.then(
    () => new Error('It succeeded'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof LocalError)) throw error;
  return error;
}

/** Waits until `look` finds something. The test's own time limit ends the wait. */
export async function found<Value>(look: () => Value | undefined): Promise<Value> {
  for (;;) {
    const value = look();
    if (value !== undefined) return value;
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

export interface Tree {
  readonly wrapper: number;
  readonly server: number;
  readonly grandchild: number;
}

/** The processes that a server with a grandchild and a wrapper tells of. Whatever is left of them after the test is ended. */
export async function treeIn(pidFile: string): Promise<Tree> {
  const tree = await found(() => {
    try {
      return JSON.parse(readFileSync(pidFile, 'utf8')) as Tree;
    } catch {
      return undefined;
    }
  });
  onTestFinished(() => {
    for (const pid of alive(tree)) process.kill(pid, 'SIGKILL');
  });
  return tree;
}

/** Which of them run. What has ended and was not fetched by its parent does not count. */
export function alive({ wrapper, server, grandchild }: Tree): readonly number[] {
  return [wrapper, server, grandchild].filter(isRunning);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // The state comes behind the name, which is in brackets.
    const [, state] = /.*\) (\S)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return state !== 'Z' && state !== 'X';
  } catch (error) {
    // There are systems without /proc.
    return existsSync('/proc') ? false : !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Those that still run after that time. */
export async function leftAfter(tree: Tree, limitMs: number): Promise<readonly number[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const left = alive(tree);
    if (left.length === 0 || performance.now() >= deadline) return left;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** Shows in the output of the run that a test hit what it is about. */
export function report(text: string): void {
  process.stdout.write(`  [stdio client] ${text}\n`);
}
