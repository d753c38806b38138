import { existsSync } from 'node:fs';
import { type Clock, systemClock } from '../protocol/clock.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import { givenUp, LocalError, phaseOf } from '../protocol/local-error.ts';
import { consoleLogger, guarded, type Logger } from '../protocol/logger.ts';
import { type MethodRow, METHODS, type MethodTable } from '../protocol/methods.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';
import { type McpPeer, PeerListeners, peerOf, type PeerReport } from '../protocol/peer.ts';
import { redactSecrets } from '../protocol/redact.ts';
import { IgnoredLines } from './ignored-lines.ts';
import { PeerRequests } from './peer-requests.ts';
import { type Program, ProcessTree } from './process-tree.ts';
import { RestartDelay } from './restart-delay.ts';
import { secretsOf, serverEnvironment } from './server-environment.ts';
import { ServerProcess } from './server-process.ts';
import type { ConnectionContext, StreamConnection } from './stream-connection.ts';

/** A server to start. No shell is involved: arguments are what they are. */
export interface StdioCommand {
  /** A program, found in `PATH`, or the path of one. On Windows also what only `cmd.exe` can run, such as `npx`. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /**
   * Variables that the server gets beside the few that programs need to run: HOME, LOGNAME, PATH, SHELL, TERM and USER; on
   * Windows APPDATA, ComSpec, HOMEDRIVE, HOMEPATH, LOCALAPPDATA, PATH, PATHEXT, PROCESSOR_ARCHITECTURE, SYSTEMDRIVE,
   * SYSTEMROOT, TEMP, USERNAME and USERPROFILE. Nothing else of this process's own environment is passed on.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: that of this process. */
  readonly cwd?: string | undefined;
}

export interface StdioPeerOptions {
  /** Bytes of a message from the server. What is longer is skipped, and its request fails. Default: 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /**
   * What happens to the server's error stream. It never counts as failure.
   * - `keep` (default): the last 20 lines, for errors and reports
   * - `inherit`: it is that of this process, and nothing is kept
   * - a function: gets each line, and the last ones are kept too
   */
  readonly stderr?: 'keep' | 'inherit' | ((line: string) => void) | undefined;
  /** Milliseconds between the end of a server's input and SIGTERM to it and all that it started. Default: 2000. */
  readonly shutdownGraceMs?: number | undefined;
  /** Methods that are known, those of extensions included. Default: those of the revision. */
  readonly methods?: MethodTable | undefined;
  /** Where warnings go. Default: the console's error stream. */
  readonly logger?: Logger | undefined;
  /** For the pauses between restarts. Default: the time of the platform. */
  readonly clock?: Clock | undefined;
}

/**
 * A server that runs as a child process and speaks over its standard streams. It is started with the first request, and again
 * with the next request after it ended: at once if it had lived for some seconds, otherwise after a pause that grows from
 * 250 ms to 10 s. What was under way is lost and fails; nothing is asked twice. A server that has not said a word when its
 * only caller gives up is ended, unless it was a limit of time: then it may be in time for the next request.
 *
 * Closing the peer closes the server's input, and ends it and all that it started if that is not enough: after
 * `shutdownGraceMs` by SIGTERM, a second later by SIGKILL. The same happens, without the wait, when this process ends in
 * whatever way. A server of which nothing is asked does not keep this process alive. On Windows trees are ended by `taskkill`,
 * and nothing guards them when this process is killed.
 *
 * Rejects with `RemoteError` for an error of the server and `LocalError` for what went wrong on the way. One that never sent
 * a message is `unreachable` in the phase `spawn`, with exit code and the last lines of its error stream.
 *
 * @example
 * await using peer = stdioPeer({ command: 'npx', args: ['-y', 'weather-server'], env: { API_KEY: key } });
 * @throws TypeError, RangeError for a command or options that cannot be used
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function stdioPeer(command: StdioCommand, options: StdioPeerOptions = {}): McpPeer {
  const server = new StdioServer(command, options);
  return peerOf(server.requests.handler, {
    endpoint: server.endpoint,
    close: async () => server.close(),
    explain: () => server.explain(),
    on: server.listeners.on,
  });
}

class StdioServer {
  readonly endpoint: string;
  readonly listeners = new PeerListeners();
  readonly requests: PeerRequests;
  readonly #program: Program;
  readonly #secrets: readonly string[];
  readonly #context: ConnectionContext;
  readonly #stderrListener: ((line: string) => void) | undefined;
  readonly #shutdownGraceMs: number;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #delay = new RestartDelay();
  /** Those that are not gone yet. */
  readonly #processes = new Set<ServerProcess>();
  /** The one that was started last. */
  #process: ServerProcess | undefined;
  #starting: Promise<ServerProcess> | undefined;
  /** Requests that wait for it. */
  #waiting = 0;
  #callOffStart: ((error: LocalError) => void) | undefined;
  #starts = 0;
  #closing: Promise<void> | undefined;

  constructor({ command, args = [], env = {}, cwd }: StdioCommand, options: StdioPeerOptions) {
    const { maxMessageBytes = 16 * 1024 * 1024, shutdownGraceMs = 2000, stderr = 'keep', methods = METHODS } = options;
    checkPositiveInteger('stdioPeer', 'maxMessageBytes', maxMessageBytes);
    checkPositiveInteger('stdioPeer', 'shutdownGraceMs', shutdownGraceMs);
    checkTexts('command', [command]);
    checkTexts('args', args);
    checkTexts('env', Object.entries(env).flat());
    if (command === '') throw new TypeError('stdioPeer: command must name a program');
    if (stderr !== 'keep' && stderr !== 'inherit' && typeof stderr !== 'function') {
      throw new TypeError(`stdioPeer: stderr must be 'keep', 'inherit' or a function, not ${String(stderr)}`);
    }
    this.#secrets = secretsOf(args, env);
    this.endpoint = this.#redact([command, ...args].join(' '));
    this.#logger = guarded(options.logger ?? consoleLogger);
    this.#clock = options.clock ?? systemClock;
    this.#shutdownGraceMs = shutdownGraceMs;
    this.#program = {
      command,
      args,
      env: serverEnvironment(env),
      cwd,
      stderr: stderr === 'inherit' ? 'inherit' : 'pipe',
    };
    this.#stderrListener = typeof stderr === 'function' ? this.#guardedListener(stderr) : undefined;
    const hint = 'Standard output belongs to the protocol: let the server print to standard error.';
    const ignored = new IgnoredLines(this.endpoint, this.#logger, hint, (text) => this.#redact(text));
    const { endpoint, listeners } = this;
    this.#context = { endpoint, maxMessageBytes, logger: this.#logger, listeners, ignored };
    this.requests = new PeerRequests(methods, async (request, exchange, row) => this.#connect(request, exchange, row));
  }

  async #connect({ method }: McpRequest, { signal }: Exchange, row: MethodRow | undefined): Promise<StreamConnection> {
    const facts = { phase: phaseOf(row) };
    if (this.#closing !== undefined) throw this.#closedError(`: ${method} was not sent`);
    if (signal.aborted) throw givenUp(signal.reason, method, facts);
    const current = this.#process;
    if (current !== undefined && !current.isOver) return current.connection;
    this.#starting ??= this.#startOnce();
    this.#waiting += 1;
    try {
      const { connection } = await untilAborted(this.#starting, signal);
      return connection;
    } catch (error) {
      throw signal.aborted ? givenUp(signal.reason, method, facts) : error;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#callOffStart?.(this.#closedError(' before it was started'));
    }
  }

  #startOnce(): Promise<ServerProcess> {
    const starting = this.#start().finally(() => {
      // A start that was called off may have been followed by another.
      if (this.#starting === starting) this.#starting = undefined;
    });
    return starting;
  }

  async #start(): Promise<ServerProcess> {
    await this.#pause(this.#delay.remainingMs(this.#clock.now()));
    this.#starts += 1;
    const startedAt = this.#clock.now();
    const tree = await ProcessTree.start(this.#program, this.#logger).catch((error: unknown) => {
      this.#delay.ended(this.#clock.now(), 0);
      throw this.#startError(error);
    });
    const started = new ServerProcess(tree, this.#context, {
      redact: (text) => this.#redact(text),
      stderrListener: this.#stderrListener,
      shutdownGraceMs: this.#shutdownGraceMs,
    });
    this.#process = started;
    this.#processes.add(started);
    void this.#watch(started, startedAt);
    if (this.#closing === undefined) return started;
    await started.stop(this.#shutdownGraceMs);
    throw this.#closedError('');
  }

  async #pause(pauseMs: number): Promise<void> {
    if (pauseMs <= 0) return;
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#clock.after(pauseMs, () => {
        this.#callOffStart = undefined;
        resolve();
      });
      this.#callOffStart = (error) => {
        this.#callOffStart = undefined;
        // Whoever comes now starts anew.
        this.#starting = undefined;
        cancel();
        reject(error);
      };
    });
  }

  async #watch(started: ServerProcess, startedAt: number): Promise<void> {
    await started.over;
    const lifeMs = this.#clock.now() - startedAt;
    if (!started.isStopped) this.#delay.ended(this.#clock.now(), lifeMs);
    const { how, lostRequests } = await started.ended;
    this.#processes.delete(started);
    if (started.isStopped) return;
    const { exit, stderr } = started;
    const wasInOrder = exit?.code === 0 && lostRequests === 0;
    this.#logger[wasInOrder ? 'info' : 'warn'](
      `${this.endpoint} ${how} after ${Math.round(lifeMs)} ms; ${lostRequests} requests were lost. The next request starts it again`,
      { exitCode: exit?.code, exitSignal: exit?.signal, lostRequests, stderr },
    );
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#callOffStart?.(this.#closedError(' before it was started'));
    for (const { connection } of this.#processes) {
      connection.fail(({ method, row, isWritten }) => {
        const facts = { phase: phaseOf(row), maybeExecuted: isWritten };
        return new LocalError('closed', this.#closedError(` before ${method} was answered`).message, facts);
      });
    }
    const starting = this.#starting?.catch(() => undefined);
    await Promise.all([...this.#processes].map(async (started) => started.stop(this.#shutdownGraceMs)));
    await starting;
  }

  explain(): PeerReport {
    const pid = this.#process?.pid;
    const exit = this.#process?.exit;
    return {
      endpoint: this.endpoint,
      transport: 'stdio',
      ...this.requests.report(),
      ignoredLines: this.#context.ignored.count,
      process: {
        ...(pid !== undefined && { pid }),
        starts: this.#starts,
        ...(exit !== undefined && { exitCode: exit.code }),
        ...(exit !== undefined && exit.signal !== null && { exitSignal: exit.signal }),
        stderr: this.#process?.stderr ?? [],
      },
    };
  }

  #startError(cause: unknown): LocalError {
    const { command, cwd } = this.#program;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    let why = cause instanceof Error ? cause.message : String(cause);
    if (cwd !== undefined && !existsSync(cwd)) why = `there is no directory ${cwd} to run it in`;
    else if (code === 'ENOENT') why = `there is no program ${command}, or it is not in PATH`;
    else if (code === 'EACCES') why = `${command} may not be executed`;
    const text = `Cannot start ${this.endpoint}: ${this.#redact(why)}`;
    // The system's own error repeats the command line.
    const shown = Object.assign(new Error(this.#redact(cause instanceof Error ? cause.message : String(cause))), {
      code,
    });
    return new LocalError('unreachable', text, { phase: 'spawn' }, { cause: shown });
  }

  #closedError(detail: string): LocalError {
    return new LocalError('closed', `The peer of ${this.endpoint} was closed at this end${detail}`);
  }

  #redact(text: string): string {
    return redactSecrets(text, this.#secrets);
  }

  #guardedListener(listener: (line: string) => void): (line: string) => void {
    return (line) => {
      try {
        listener(line);
      } catch (error) {
        this.#logger.error(`${this.endpoint}: the listener of its error stream failed`, { error });
      }
    };
  }
}

function checkTexts(option: string, texts: readonly unknown[]): void {
  for (const text of texts) {
    if (typeof text !== 'string')
      throw new TypeError(`stdioPeer: ${option} must consist of strings, not ${String(text)}`);
    if (text.includes('\0')) throw new TypeError(`stdioPeer: ${option} must not contain null characters`);
  }
}

async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
