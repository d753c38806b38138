import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../protocol/logger.ts';
import { settlesWithin } from './settles-within.ts';
import { killWindowsTree, windowsHost, windowsLaunch } from './windows.ts';

/** What to run. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly stderr: 'pipe' | 'inherit';
}

interface Handle {
  ref(): unknown;
  unref(): unknown;
}

export interface ProcessExit {
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** Between asking a group to end and ending it. */
const KILL_AFTER_MS = 1000;
/** For the system to clear away what was killed. */
const CLEARED_WITHIN_MS = 500;
const LOOK_EVERY_MS = 20;

const IS_WINDOWS = process.platform === 'win32';

/**
 * Waits until this process says that the group is gone, or is gone itself, in whatever way: then the group is asked to end,
 * and ended after a second. The number of the group comes first; a second line says that there is nothing to guard.
 */
const WATCHDOG = `read -r group || exit 0
read -r _ && exit 0
kill -s TERM -- "-$group"
sleep 1
kill -s KILL -- "-$group"`;

/**
 * A process and all that it starts. On POSIX they are a process group of their own, with a watchdog that outlives this
 * process, so that none of them is left behind, however this process ends. On Windows a tree is ended by its root, and a
 * server whose client dies has to notice the end of its input.
 */
export class ProcessTree {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** `null`: it is that of this process. */
  readonly stderr: Readable | null;
  /** Settles when the process that was started, the root of the tree, has ended. */
  readonly exited: Promise<void>;
  /** Settles when what it started has ended too, or cannot be ended. */
  readonly gone: Promise<void>;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #logger: Logger;
  #exit: ProcessExit | undefined;

  private constructor(child: ChildProcess, pid: number, watchdog: Watchdog | undefined, logger: Logger) {
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null) throw new TypeError('A process without pipes');
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = stderr;
    this.pid = pid;
    this.#child = child;
    this.#logger = logger;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        resolve();
      });
    });
    this.gone = this.#clearAway(watchdog);
  }

  /** @throws the error of the system if it cannot be started */
  static async start(program: Program, logger: Logger): Promise<ProcessTree> {
    // It stands ready before there is anything to guard: between the two, this process may be killed.
    const watchdog = IS_WINDOWS ? undefined : new Watchdog(logger);
    try {
      const child = spawnProgram(program);
      const { pid } = child;
      if (pid === undefined) {
        throw await new Promise((resolve) => {
          child.once('error', resolve);
        });
      }
      // Of a process that runs: it could not be signalled, say.
      child.on('error', (error) => logger.debug(`Process ${pid}: ${error.message}`));
      watchdog?.guard(pid);
      return new ProcessTree(child, pid, watchdog, logger);
    } catch (error) {
      watchdog?.dismiss();
      throw error;
    }
  }

  /** How the root ended. Absent: it has not. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /** Whether this process stays alive for it. */
  hold(isHeld: boolean): void {
    // The pipes of a child are sockets, whatever their declared type.
    const handles = [this.#child, this.stdin, this.stdout, this.stderr] as readonly (Handle | null)[];
    for (const handle of handles) {
      if (isHeld) handle?.ref();
      else handle?.unref();
    }
  }

  /** Closes its input, waits that long for it to end by itself, then asks it to, then ends it. Resolves when it is gone. */
  async stop(graceMs: number): Promise<void> {
    this.stdin.end();
    if (!(await settlesWithin(this.exited, graceMs))) {
      this.#signal('SIGTERM');
      if (!(await settlesWithin(this.exited, KILL_AFTER_MS))) this.#signal('SIGKILL');
    }
    const isGone = await settlesWithin(this.gone, KILL_AFTER_MS + 2 * CLEARED_WITHIN_MS);
    if (!isGone) this.#logger.error(`Process ${this.pid} cannot be ended`);
  }

  /** Stops reading and writing, even if somebody who left the tree still holds the other ends. */
  letGo(): void {
    this.stdin.destroy();
    this.stdout.destroy();
    this.stderr?.destroy();
  }

  async #clearAway(watchdog: Watchdog | undefined): Promise<void> {
    await this.exited;
    await this.#endRest();
    watchdog?.dismiss();
  }

  /** Those that the root left behind. */
  async #endRest(): Promise<void> {
    if (IS_WINDOWS || !this.#isGroupAlive()) return;
    this.#signal('SIGTERM');
    if (await this.#isGroupGoneWithin(KILL_AFTER_MS)) return;
    this.#signal('SIGKILL');
    await this.#isGroupGoneWithin(CLEARED_WITHIN_MS);
  }

  async #isGroupGoneWithin(limitMs: number): Promise<boolean> {
    const deadline = performance.now() + limitMs;
    while (this.#isGroupAlive()) {
      if (performance.now() >= deadline) return false;
      await new Promise((resolve) => {
        setTimeout(resolve, LOOK_EVERY_MS);
      });
    }
    return true;
  }

  #isGroupAlive(): boolean {
    return this.#signal(0);
  }

  /** @returns whether there was anybody to get it */
  #signal(signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
    if (IS_WINDOWS) {
      killWindowsTree(this.pid);
      return true;
    }
    try {
      process.kill(-this.pid, signal);
      return true;
    } catch {
      return false;
    }
  }
}

function spawnProgram({ command, args, env, cwd, stderr }: Program): ChildProcess {
  const launch = IS_WINDOWS
    ? windowsLaunch(command, args, windowsHost(env, cwd))
    : { file: command, args, isVerbatim: false };
  return spawn(launch.file, launch.args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', stderr],
    // A group of its own. On Windows it would mean a window of its own.
    detached: !IS_WINDOWS,
    windowsHide: true,
    windowsVerbatimArguments: launch.isVerbatim,
  });
}

class Watchdog {
  readonly #input: Writable;

  constructor(logger: Logger) {
    const { PATH } = process.env;
    const child = spawn('/bin/sh', ['-c', WATCHDOG], {
      stdio: ['pipe', 'ignore', 'ignore'],
      // Apart from the group and the terminal of this process, so that what ends them does not end it.
      detached: true,
      cwd: '/',
      env: PATH === undefined ? {} : { PATH },
    });
    child.on('error', (error) => {
      logger.warn('No watchdog could be started: child processes will outlive this one if it is killed', { error });
    });
    child.unref();
    this.#input = child.stdin;
    this.#input.on('error', () => undefined);
  }

  guard(group: number): void {
    this.#input.write(`${group}\n`);
  }

  dismiss(): void {
    this.#input.end('\n\n');
  }
}
