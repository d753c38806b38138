import { deferred } from '../protocol/deferred.ts';
import { LocalError, type LocalErrorFacts, phaseOf } from '../protocol/local-error.ts';
import { ErrorLines, SHOWN_CHARACTERS } from './error-lines.ts';
import type { ProcessExit, ProcessTree } from './process-tree.ts';
import { settlesWithin } from './settles-within.ts';
import { type ConnectionContext, type LostRequest, StreamConnection } from './stream-connection.ts';

export interface ServerProcessOptions {
  /** Takes secrets out of a text. */
  redact(text: string): string;
  /** Gets the lines of the error stream. */
  readonly stderrListener: ((line: string) => void) | undefined;
  readonly shutdownGraceMs: number;
}

/** How a server process ended. */
export interface ProcessEnd {
  /** In words. */
  readonly how: string;
  /** Requests that were lost with it. */
  readonly lostRequests: number;
}

/** For what a process wrote before it ended. */
const LAST_OUTPUT_MS = 500;
/** For another request to a server that has not said a word, after the only one was given up. */
const UNWANTED_AFTER_MS = 250;
/** Of the error stream, in messages. */
const SHOWN_LINES = 8;

/** Where an error came from, which hides what it says. */
const STACK_FRAME = /^\s*at |^\s*requireStack|^\s*[{}\]]|^\s*code: |^Node\.js v|^\s*$/;

/** A server that runs as a child process, and the connection to it. */
export class ServerProcess {
  readonly connection: StreamConnection;
  /** Settles when it is gone with all that it started, and its requests have failed. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #tree: ProcessTree;
  readonly #endpoint: string;
  readonly #options: ServerProcessOptions;
  readonly #errorLines: ErrorLines;
  readonly #over = deferred();
  #graceMs: number;
  #hasSpoken = false;
  #isStopped = false;

  constructor(tree: ProcessTree, context: ConnectionContext, options: ServerProcessOptions) {
    this.#tree = tree;
    this.#endpoint = context.endpoint;
    this.#options = options;
    this.#graceMs = options.shutdownGraceMs;
    this.#errorLines = new ErrorLines(options.stderrListener);
    this.connection = new StreamConnection(tree.stdout, tree.stdin, context, {
      // While nothing is asked, a server keeps nobody awake.
      busy: (isBusy) => tree.hold(isBusy),
      abandoned: () => this.#stopUnlessWanted(),
      heard: () => {
        this.#hasSpoken = true;
      },
      lost: () => this.#over.resolve(),
    });
    void tree.exited.then(this.#over.resolve);
    this.ended = this.#end(this.#readErrors());
    tree.hold(false);
  }

  get pid(): number | undefined {
    return this.exit === undefined ? this.#tree.pid : undefined;
  }

  get exit(): ProcessExit | undefined {
    return this.#tree.exit;
  }

  /** It can be asked no more. */
  get isOver(): boolean {
    return this.connection.isLost || this.exit !== undefined || this.#isStopped;
  }

  /** Settles when that is so. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** It was ended from this side. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The last lines of its error stream, without secrets. */
  get stderr(): readonly string[] {
    return this.#errorLines.last.map((line) => {
      const shown = this.#options.redact(line);
      return shown.length <= SHOWN_CHARACTERS ? shown : `${shown.slice(0, SHOWN_CHARACTERS)}…`;
    });
  }

  /** Closes its input, and after `graceMs` ends it with all that it started. Resolves when it is gone. */
  async stop(graceMs: number): Promise<void> {
    if (!this.isOver) this.#graceMs = graceMs;
    this.#isStopped = true;
    this.#over.resolve();
    await this.ended;
  }

  async #end(errorsRead: Promise<void>): Promise<ProcessEnd> {
    await this.over;
    // One that closes its streams is about to leave.
    await this.#tree.stop(this.#graceMs);
    await settlesWithin(Promise.all([this.connection.finished, errorsRead]), LAST_OUTPUT_MS);
    this.#errorLines.end();
    const lostRequests = this.connection.openRequests;
    this.connection.fail((request) => this.#lostError(request));
    this.#tree.letGo();
    return { how: howItEnded(this.exit), lostRequests };
  }

  async #readErrors(): Promise<void> {
    const { stderr } = this.#tree;
    if (stderr === null) return;
    await new Promise<void>((resolve) => {
      stderr.on('data', (chunk: Buffer) => this.#errorLines.push(chunk));
      stderr.on('error', () => resolve());
      stderr.once('close', resolve);
    });
  }

  /** It may be a slow one that nobody waits for any more, or one that will never answer. */
  #stopUnlessWanted(): void {
    if (this.#hasSpoken) return;
    const timer = setTimeout(() => {
      if (!this.#hasSpoken && !this.isOver && this.connection.openRequests === 0) void this.stop(0);
    }, UNWANTED_AFTER_MS);
    timer.unref();
  }

  /** Who was given a request may have carried it out, even if it died without a word. */
  #lostError({ method, row, isWritten }: LostRequest): LocalError {
    const { stderr } = this;
    const facts: LocalErrorFacts = {
      maybeExecuted: isWritten,
      exitCode: this.exit?.code,
      exitSignal: this.exit?.signal ?? undefined,
      stderr,
    };
    const how = `${this.#endpoint} ${howItEnded(this.exit)}`;
    const told = stderr.filter((line) => !STACK_FRAME.test(line)).slice(-SHOWN_LINES);
    const lines = told.map((line) => `\n  ${line}`);
    const said = lines.length === 0 ? '' : `. The end of its error stream:${lines.join('')}`;
    return this.#hasSpoken
      ? new LocalError('closed', `${how} before ${method} was answered${said}`, { ...facts, phase: phaseOf(row) })
      : new LocalError('unreachable', `${how} before it sent any message${said}`, { ...facts, phase: 'spawn' });
  }
}

function howItEnded(exit: ProcessExit | undefined): string {
  if (exit === undefined) return 'closed its streams';
  return exit.signal === null ? `ended with exit code ${exit.code}` : `was ended by ${exit.signal}`;
}
