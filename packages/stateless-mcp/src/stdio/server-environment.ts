import { WINDOWS_VARIABLES, windowsEnvironment } from './windows.ts';

const POSIX_VARIABLES = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

const SECRET_NAME = /key|token|secret|pass|pwd|auth|credential|cookie|signature/i;

/**
 * The environment of a server: of this process's own only what programs need to run, because the rest may hold secrets that
 * are none of the server's business; and over it what its user gives.
 */
export function serverEnvironment(
  given: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): Record<string, string> {
  const isWindows = platform === 'win32';
  const inherited: Record<string, string> = {};
  for (const name of isWindows ? WINDOWS_VARIABLES : POSIX_VARIABLES) {
    const value = own[name];
    // Some shells export functions in variables.
    if (value !== undefined && !value.startsWith('()')) inherited[name] = value;
  }
  return isWindows ? windowsEnvironment(inherited, given) : { ...inherited, ...given };
}

/** What must not be shown: values of variables, and of options on the command line, whose names say so. */
export function secretsOf(args: readonly string[], env: Readonly<Record<string, string>>): readonly string[] {
  const values = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  // `--token=value` is recognised by its form.
  const operands = args.filter((_, index) => {
    const option = args[index - 1] ?? '';
    return option.startsWith('-') && !option.includes('=') && SECRET_NAME.test(option);
  });
  return [...values, ...operands];
}
