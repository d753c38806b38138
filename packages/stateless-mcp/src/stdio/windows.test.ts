import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Launch, taskkillArguments, windowsEnvironment, type WindowsHost, windowsLaunch } from './windows.ts';

/** How another library writes the same. */
const oracle = createRequire(import.meta.url)('cross-spawn/lib/util/escape.js') as {
  command(text: string): string;
  argument(text: string, twice: boolean): string;
};

function host(files: readonly string[], env: Readonly<Record<string, string>> = {}): WindowsHost {
  const known = new Set(files.map((file) => file.toLowerCase()));
  return {
    env: {
      Path: 'C:\\Windows\\System32;"C:\\Program Files\\nodejs";;D:\\tools',
      ComSpec: 'C:\\Windows\\System32\\cmd.exe',
      ...env,
    },
    cwd: 'C:\\work',
    isFile: (path) => known.has(path.toLowerCase()),
  };
}

const npx = 'C:\\Program Files\\nodejs\\npx.cmd';
const node = 'C:\\Program Files\\nodejs\\node.exe';

describe('finding a program on Windows', () => {
  it('takes the first folder of PATH, and in it the first extension of PATHEXT', () => {
    const files = [
      node,
      'D:\\tools\\node.exe',
      'C:\\Program Files\\nodejs\\node.cmd',
      'C:\\Program Files\\nodejs\\node',
    ];
    expect(windowsLaunch('node', ['a b', '"'], host(files))).toEqual({
      file: node,
      args: ['a b', '"'],
      isVerbatim: false,
    });
    const { file } = windowsLaunch('node', [], host(files, { PATHEXT: '.CMD;.EXE' }));
    expect(file).toBe('C:\\Windows\\System32\\cmd.exe');
  });

  it.each([
    ['node.exe', node],
    ['NODE.EXE', 'C:\\Program Files\\nodejs\\NODE.EXE'],
    ['C:\\Program Files\\nodejs\\node', node],
    ['C:/Program Files/nodejs/node.exe', node],
    ['.\\bin\\server', 'C:\\work\\bin\\server.exe'],
    ['bin/server', 'C:\\work\\bin\\server.exe'],
  ])('%s is %s', (command, file) => {
    const { file: found } = windowsLaunch(command, [], host([node, 'C:\\work\\bin\\server.exe']));
    expect(found).toBe(file);
  });

  it('does not take one that only lies in the current directory', () => {
    expect(windowsLaunch('npx', ['x'], host(['C:\\work\\npx.cmd', 'C:\\work\\npx.exe']))).toEqual({
      file: 'npx',
      args: ['x'],
      isVerbatim: false,
    });
  });

  it('leaves it to the system to say that there is none', () => {
    expect(windowsLaunch('nothing', [], host([]))).toEqual({ file: 'nothing', args: [], isVerbatim: false });
  });
});

describe('the command line of a batch file on Windows', () => {
  it('goes through the command processor, and nothing else does', () => {
    const { file, args, isVerbatim } = windowsLaunch('npx', ['-y', 'server'], host([npx]));
    expect(file).toBe('C:\\Windows\\System32\\cmd.exe');
    expect(args.slice(0, 3)).toEqual(['/d', '/s', '/c']);
    expect(args[3]).toBe('"C:\\Program^ Files\\nodejs\\npx.cmd ^^^"-y^^^" ^^^"server^^^""');
    expect(isVerbatim).toBe(true);
  });

  it('finds the command processor where the system says', () => {
    const command = 'D:\\tools\\run.bat';
    expect(windowsLaunch('run', [], host([command], { ComSpec: 'D:\\cmd.exe' })).file).toBe('D:\\cmd.exe');
    const bare = { ...host([command]), env: { PATH: 'D:\\tools', systemroot: 'E:\\Windows' } };
    expect(windowsLaunch('run', [], bare).file).toBe('E:\\Windows\\System32\\cmd.exe');
  });

  it('is refused for what it cannot carry', () => {
    expect(() => windowsLaunch('npx', ['a\nb'], host([npx]))).toThrow(/line breaks/);
    expect(windowsLaunch('node', ['a\nb'], host([node])).args).toEqual(['a\nb']);
  });

  it.each([
    '"&calc.exe',
    '%PATH%',
    '%CMDCMDLINE:~-1%&calc.exe',
    '%CMDCMDLINE:a=b%&calc.exe',
    '^%PATH^%',
    'a\\',
    'a\\"',
    '\\\\server\\share\\',
    '>out.txt',
    '(x)|more',
    '!PATH!',
    '',
    ' ',
    'Grüße 🎉',
    '{"key": "value with \\"quotes\\" & more"}',
  ])('brings %j to the program as it is', (arg) => {
    expect(argumentsThatArrive(windowsLaunch('npx', ['first', arg, 'last'], host([npx])))).toEqual([
      'first',
      arg,
      'last',
    ]);
  });

  const texts = fc.array(
    fc
      .oneof(
        fc.string({ maxLength: 12 }),
        fc
          .array(
            fc.constantFrom(
              '"',
              '\\',
              '^',
              '%',
              '&',
              '|',
              '<',
              '>',
              '(',
              ')',
              '!',
              ' ',
              '=',
              ',',
              ';',
              'PATH',
              ':',
              '~',
              'a',
            ),
            {
              maxLength: 12,
            },
          )
          .map((parts) => parts.join('')),
      )
      .filter((text) => !/[\r\n\0]/.test(text)),
    { maxLength: 5 },
  );

  it('brings any arguments to the program as they are, and none becomes a command', () => {
    fc.assert(
      fc.property(texts, (args) => {
        expect(argumentsThatArrive(windowsLaunch('npx', args, host([npx])))).toEqual(args);
      }),
      { numRuns: 500 },
    );
  });

  it('says the same as another library does for what npm installs', () => {
    fc.assert(
      // It loses one of several backslashes before a quote, and lets variables with a colon in.
      fc.property(
        texts.filter((args) => !args.some((arg) => /\\\\|%.*:/.test(arg))),
        (args) => {
          const shim = 'D:\\my app\\node_modules\\.bin\\server.cmd';
          const line = [oracle.command(shim), ...args.map((arg) => oracle.argument(arg, true))].join(' ');
          const theirs: Launch = { file: 'cmd.exe', args: ['/d', '/s', '/c', `"${line}"`], isVerbatim: true };
          const ours = windowsLaunch(shim, args, host([shim]));
          expect(argumentsThatArrive(ours)).toEqual(argumentsThatArrive(theirs));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('would not be safe if it were escaped once only: this is what the model here finds', () => {
    const line = `${oracle.command(npx)} ${oracle.argument('"&calc.exe', false)}`;
    expect(() =>
      argumentsThatArrive({ file: 'cmd.exe', args: ['/d', '/s', '/c', `"${line}"`], isVerbatim: true }),
    ).toThrow(/command/);
  });
});

describe('other things of Windows', () => {
  it('variables that are given replace those of the same name in any case', () => {
    expect(windowsEnvironment({ PATH: 'a', TEMP: 'b' }, { Path: 'c', EXTRA: 'd' })).toEqual({
      TEMP: 'b',
      Path: 'c',
      EXTRA: 'd',
    });
  });

  it('a process is ended with all that it started', () => {
    expect(taskkillArguments(42)).toEqual(['/pid', '42', '/T', '/F']);
  });
});

/**
 * What a C program behind a batch file gets: the command processor reads the line, then the batch file's own command into
 * which it puts all arguments, then the program splits what is left.
 */
function argumentsThatArrive({ args }: Launch): readonly string[] {
  const outer = args[3] ?? '';
  expect(outer).toMatch(/^".*"$/s);
  const read = readByCommandProcessor(outer.slice(1, -1), true);
  const all = read.slice(read.toLowerCase().indexOf('.cmd') + '.cmd'.length);
  return splitByProgram(readByCommandProcessor(`node cli.js${all}`, false)).slice(2);
}

/** Variables, then quotes and carets. Throws where a part of the line would be a command, or a redirection. */
function readByCommandProcessor(line: string, expandsVariables: boolean): string {
  const variables: Readonly<Record<string, string>> = { PATH: '"&evil', CMDCMDLINE: '"&evil' };
  const expanded = expandsVariables
    ? line.replaceAll(/%([^%:]+)(?::[^%]*)?%/g, (whole, name: string) => variables[name.toUpperCase()] ?? whole)
    : line;
  let isQuoted = false;
  let read = '';
  for (let index = 0; index < expanded.length; index++) {
    const character = expanded[index] ?? '';
    if (character === '^' && !isQuoted) {
      index += 1;
      read += expanded[index] ?? '';
      continue;
    }
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /[&|<>()]/.test(character)) throw new Error(`"${character}" starts a command in ${line}`);
    read += character;
  }
  return read;
}

/** As the C runtime does it. */
function splitByProgram(line: string): readonly string[] {
  const found: string[] = [];
  let current: string | undefined;
  let isQuoted = false;
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? '';
    const [backslashes = ''] = /^\\*/.exec(line.slice(index)) ?? [];
    if (backslashes !== '' && line[index + backslashes.length] === '"') {
      current = (current ?? '') + '\\'.repeat(Math.floor(backslashes.length / 2));
      index += backslashes.length - 1;
      if (backslashes.length % 2 === 1) {
        current += '"';
        index += 1;
      }
    } else if (character === '"') {
      isQuoted = !isQuoted;
      current ??= '';
    } else if ((character === ' ' || character === '\t') && !isQuoted) {
      if (current !== undefined) found.push(current);
      current = undefined;
    } else {
      current = (current ?? '') + character;
    }
  }
  if (current !== undefined) found.push(current);
  return found;
}
