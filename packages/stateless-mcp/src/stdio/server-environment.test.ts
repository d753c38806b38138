import { describe, expect, it } from 'vitest';
import { secretsOf, serverEnvironment } from './server-environment.ts';

describe('serverEnvironment', () => {
  const own = {
    PATH: '/bin',
    HOME: '/home/me',
    TERM: '() { echo; }',
    API_KEY: 'mine',
    Temp: 'T',
    TEMP: 'T',
    USER: undefined,
  };

  it('passes on what programs need and nothing else, and no functions of the shell', () => {
    expect(serverEnvironment({}, own, 'linux')).toEqual({ PATH: '/bin', HOME: '/home/me' });
  });

  it('lets what is given win', () => {
    expect(serverEnvironment({ PATH: '/other', X: '1' }, own, 'linux')).toEqual({
      PATH: '/other',
      HOME: '/home/me',
      X: '1',
    });
  });

  it('knows other variables on Windows, and that their names have no case', () => {
    expect(serverEnvironment({ Path: 'C:\\' }, own, 'win32')).toEqual({ Path: 'C:\\', TEMP: 'T' });
  });
});

describe('secretsOf', () => {
  it('finds them by the names of variables and options', () => {
    const env = { GITHUB_TOKEN: 'one', DB_PASSWORD: 'two', apiKey: 'three', HOST: 'four' };
    const args = ['server', '--api-key', 'five', '--token=six', '--port', '80', '-v', '--client-secret', 'seven'];
    expect(secretsOf(args, env)).toEqual(['one', 'two', 'three', 'five', 'seven']);
  });
});
