import { join } from 'node:path';
import { parseArgs } from 'node:util';

export const USAGE = `Serves the text files of a folder over the Model Context Protocol.

Usage: npm start -- [options]

  --dir <folder>   the folder; default: the documentation of this repository
  --port <number>  the port, 0 for any that is free; default: 3000
  --stdio          speak over standard input and output instead, for a client that starts this program
  --help           show this
`;

/** A command line that cannot be followed. The message says why, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface CommandLine {
  readonly dir: string;
  readonly port: number;
  readonly stdio: boolean;
  readonly help: boolean;
}

const DEFAULT_DIR = join(import.meta.dirname, '../../../docs');

/** @throws UsageError */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { dir, port, stdio, help } = parseOptions(args);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, not "${port}"`);
  }
  return { dir, port: Number(port), stdio, help };
}

function parseOptions(args: readonly string[]): { dir: string; port: string; stdio: boolean; help: boolean } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        dir: { type: 'string', default: DEFAULT_DIR },
        port: { type: 'string', default: '3000' },
        stdio: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (error) {
    // Advice on the use of "--" follows the first sentence.
    const [problem = ''] = (error as Error).message.split(/\. |\n/, 1);
    throw new UsageError(problem.replace(/\.$/, ''));
  }
}
