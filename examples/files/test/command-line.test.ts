import { describe, expect, it } from 'vitest';
import { parseCommandLine, UsageError } from '../src/command-line.ts';

describe('the command line', () => {
  it('has defaults', () => {
    expect(parseCommandLine([])).toEqual({
      dir: expect.stringMatching(/docs$/) as string,
      port: 3000,
      stdio: false,
      help: false,
    });
  });

  it('takes a folder and a port', () => {
    expect(parseCommandLine(['--dir', 'notes', '--port=0'])).toEqual({
      dir: 'notes',
      port: 0,
      stdio: false,
      help: false,
    });
    expect(parseCommandLine(['-h'])).toMatchObject({ help: true });
  });

  it.each([
    [['--folder', 'x'], "Unknown option '--folder'"],
    [['docs'], "Unexpected argument 'docs'"],
    [['--dir'], "Option '--dir <value>' argument missing"],
    [['--dir', '--port', '1'], "Option '--dir' argument is ambiguous"],
    [['--help=yes'], "Option '-h, --help' does not take an argument"],
    [['--port', 'http'], '--port must be a number from 0 to 65535, not "http"'],
    [['--port', '70000'], '--port must be a number from 0 to 65535, not "70000"'],
    [['--port', ''], '--port must be a number from 0 to 65535, not ""'],
  ])('refuses %j in one line', (args, message) => {
    expect(() => parseCommandLine(args)).toThrow(new UsageError(message));
  });
});
