import { Socket } from 'node:net';
import { Writable } from 'node:stream';

/** Where the real standard output is kept, for every copy of this library in the process. */
const OUTPUT = Symbol.for('stateless-mcp.stdout');

/**
 * Takes standard output over for the protocol: whatever else writes to `process.stdout` from now on (`console.log`, a
 * dependency, a pipe) lands on standard error. Returns the real one. Calling it again changes nothing.
 *
 * What writes to file descriptor 1 by its number, native code, and children that inherit it go past this.
 */
export function protectStdout(): Writable {
  const stdout: NodeJS.WriteStream & { [OUTPUT]?: Writable } = process.stdout;
  stdout[OUTPUT] ??= takeOver(stdout);
  return stdout[OUTPUT];
}

function takeOver(stdout: NodeJS.WriteStream): Writable {
  const { stderr } = process;
  const write = stdout.write.bind(stdout);
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, encoding, callback) {
      if (typeof chunk === 'string') write(chunk, encoding, callback);
      else write(chunk, callback);
    },
  });
  stdout.on('error', (error) => output.destroy(error));

  stdout.write = stderr.write.bind(stderr);
  // A client may have closed standard error; what is written there then is nobody's loss.
  stderr.on('error', () => {});
  // Whoever pipes into it waits for the one stream and hears of it from the other.
  stderr.on('drain', () => stdout.emit('drain'));
  Object.defineProperty(stdout, 'end', { value: endStray, configurable: true, writable: true });
  // A pipeline whose source fails destroys its target.
  Object.defineProperty(stdout, 'destroy', { value: () => stdout, configurable: true, writable: true });
  // For those who write to the descriptor themselves. The stream of a file needs its own.
  if (stdout instanceof Socket) Object.defineProperty(stdout, 'fd', { value: 2, configurable: true });
  return output;
}

/** In the place of `end`: only the protocol ends standard output. */
function endStray(this: Writable, ...rest: readonly unknown[]): Writable {
  const callback = rest.find((argument) => typeof argument === 'function');
  const [chunk, encoding] = rest.filter((argument) => typeof argument !== 'function');
  if (callback !== undefined) this.once('finish', callback as () => void);
  const finish = (): void => void this.emit('finish');
  if (chunk === undefined || chunk === null) process.nextTick(finish);
  else process.stderr.write(chunk as string, encoding as BufferEncoding | undefined, finish);
  return this;
}
