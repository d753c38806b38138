/**
 * Everything that is particular to Windows: how a program is found, how its command line is written, which variables it needs,
 * and how it is ended with all that it started.
 */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { win32 } from 'node:path';

/** A program to start, with its arguments. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are written as they are to stand on the command line. */
  readonly isVerbatim: boolean;
}

/** What is looked at to find a program. */
export interface WindowsHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  isFile(path: string): boolean;
}

/** Variables without which programs do not run there. */
export const WINDOWS_VARIABLES: readonly string[] = [
  'APPDATA',
  'ComSpec',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'USERNAME',
  'USERPROFILE',
];

/**
 * How to start `command`. Programs are started directly, without a shell; what only the command processor can run, such as
 * the `npx.cmd` behind `npx`, goes through it with every argument quoted, so that none of them can become a command.
 * The current directory is not searched.
 *
 * @throws TypeError for an argument that the command processor cannot be given
 */
export function windowsLaunch(command: string, args: readonly string[], host: WindowsHost): Launch {
  const file = resolveCommand(command, host);
  if (file === undefined || /\.(?:exe|com)$/i.test(file)) return { file: file ?? command, args, isVerbatim: false };
  const broken = [file, ...args].find((text) => /[\r\n\0]/.test(text));
  if (broken !== undefined) {
    throw new TypeError(`${command} is run by cmd.exe, which takes no line breaks in arguments`);
  }
  // A batch file writes its arguments into a command of its own, which is read a second time.
  const times = /\.(?:cmd|bat)$/i.test(file) ? 2 : 1;
  // Paths have no other colon than that of their drive, which has to be seen.
  const line = [caretEscaped(file).replace('^:', ':'), ...args.map((arg) => quotedArgument(arg, times))].join(' ');
  return { file: commandProcessor(host), args: ['/d', '/s', '/c', `"${line}"`], isVerbatim: true };
}

/** `given` over `inherited`, where names differ in more than their case. */
export function windowsEnvironment(
  inherited: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(given).map((name) => name.toUpperCase()));
  const kept = Object.entries(inherited).filter(([name]) => !names.has(name.toUpperCase()));
  return { ...Object.fromEntries(kept), ...given };
}

/** Ends a process and all that it started. There is no gentle way. */
export function killWindowsTree(pid: number): void {
  const root = variable(process.env, 'SYSTEMROOT');
  const file = root === undefined ? 'taskkill.exe' : win32.join(root, 'System32', 'taskkill.exe');
  const killer = spawn(file, taskkillArguments(pid), { stdio: 'ignore', windowsHide: true });
  // It may be gone already.
  killer.on('error', () => undefined);
  killer.unref();
}

export function taskkillArguments(pid: number): readonly string[] {
  return ['/pid', String(pid), '/T', '/F'];
}

function resolveCommand(command: string, host: WindowsHost): string | undefined {
  const hasPath = /[\\/]|^[a-z]:/i.test(command);
  const folders = hasPath ? [''] : (variable(host.env, 'PATH') ?? '').split(';').filter((folder) => folder !== '');
  const extensions = (variable(host.env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter((text) => text !== '');
  const isComplete = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()));
  for (const folder of folders) {
    // An entry with a semicolon in it is quoted.
    const path = win32.resolve(host.cwd, folder.replaceAll('"', ''), command);
    for (const candidate of [
      ...(isComplete ? [path] : []),
      ...extensions.map((extension) => path + extension.toLowerCase()),
    ]) {
      if (host.isFile(candidate)) return candidate;
    }
  }
  return undefined;
}

function commandProcessor(host: WindowsHost): string {
  const root = variable(host.env, 'SYSTEMROOT');
  return variable(host.env, 'COMSPEC') ?? (root === undefined ? 'cmd.exe' : win32.join(root, 'System32', 'cmd.exe'));
}

/** First as C programs read it, then so that the command processor, which reads it `times` times, changes nothing. */
function quotedArgument(arg: string, times: number): string {
  // Backslashes mean themselves unless a quote follows.
  const quoted = `"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
  let escaped = quoted;
  for (let time = 0; time < times; time++) escaped = caretEscaped(escaped);
  return escaped;
}

/**
 * A caret takes the meaning from any character, and those that have none do not mind it. Colons too: what stands between a
 * percent sign and a colon may be the name of a variable.
 */
function caretEscaped(text: string): string {
  return text.replaceAll(/[^\w.\\/\u0080-\uffff-]/g, '^$&');
}

/** Names of variables are the same in any case. */
function variable(env: WindowsHost['env'], name: string): string | undefined {
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

/** This machine, for a child with that environment. */
export function windowsHost(env: WindowsHost['env'], cwd: string | undefined): WindowsHost {
  return {
    env,
    cwd: cwd ?? process.cwd(),
    isFile(path) {
      try {
        return statSync(path).isFile();
      } catch {
        return false;
      }
    },
  };
}
