import { describe, expect, it } from 'vitest';
import { hideSecrets, redactSecrets } from './redact.ts';

describe('redactSecrets', () => {
  it.each([
    ['Authorization: Bearer abc', 'Authorization: [redacted]'],
    ['authorization=abc', 'authorization=[redacted]'],
    ['{"authorization":"Bearer abc.def"}', '{"authorization":"[redacted]"}'],
    ["{'api_key': 'abc'}", "{'api_key': '[redacted]'}"],
    ['X-API-Key: 12', 'X-API-Key: [redacted]'],
    ['--token=abc --verbose', '--token=[redacted] --verbose'],
    ['https://example.com/mcp?access_token=abc&tenant=a', 'https://example.com/mcp?access_token=[redacted]&tenant=a'],
    ['password: hunter2, user: bob', 'password: [redacted], user: bob'],
    ['PASSWD=x', 'PASSWD=[redacted]'],
    ['client_secret=abc', 'client_secret=[redacted]'],
    ['Set-Cookie: session=abc; Path=/', 'Set-Cookie: [redacted]'],
    ['Authorization: Token abc def', 'Authorization: [redacted]'],
    ['password="two words" next', 'password="[redacted]" next'],
    ['Pwd=abc;', 'Pwd=[redacted];'],
    ['redis://:secret@host/0', 'redis://[redacted]@host/0'],
    ['key AKIAABCDEFGHIJKLMNOP', 'key [redacted]'],
    ['sent Bearer abcdefgh to it', 'sent Bearer [redacted] to it'],
    ['Basic dXNlcjpwYXNz', 'Basic [redacted]'],
    ['postgres://user:pass@db.example/x', 'postgres://[redacted]@db.example/x'],
    ['key sk-abcdefghijklmnop', 'key [redacted]'],
    ['ghp_abcdefghijklmnop!', '[redacted]!'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '[redacted]'],
  ])('%s', (text, shown) => {
    expect(redactSecrets(text)).toBe(shown);
  });

  it.each([
    'The bearer of bad news',
    'Unexpected end of JSON input',
    'Tokens are counted',
    'author: Bob',
    'https://example.com:8443/mcp?tenant=a',
    'mailto:bob@example.com',
    'ENOENT: no such file or directory, open /etc/app.json',
    '',
  ])('leaves %j as it is', (text) => {
    expect(redactSecrets(text)).toBe(text);
  });

  it('takes away what it is told, wherever it is and however often', () => {
    expect(redactSecrets('a-b.c+(d) and xa-b.c+(d)x', ['a-b.c+(d)'])).toBe('[redacted] and x[redacted]x');
    expect(redactSecrets('you are $& and $1', ['$& and'])).toBe('you are [redacted] $1');
  });

  it('leaves words alone that are too short to be told from others', () => {
    expect(redactSecrets('a man, a plan', ['a', 'man', ''])).toBe('a man, a plan');
  });

  it('reads a long text in no time, whatever it is', { timeout: 30_000 }, () => {
    const hostile = [
      'token:',
      'bearer ',
      'a://b:',
      'sk-',
      'eyJaaaaaaaaaa.',
      'token="',
      'a.',
      '://',
      'password= \t',
      'A',
    ];
    for (const text of hostile) {
      const started = process.cpuUsage();
      redactSecrets(text.repeat(200_000 / text.length));
      const { user, system } = process.cpuUsage(started);
      expect((user + system) / 1000, text).toBeLessThan(1500);
    }
  });
});

describe('hideSecrets', () => {
  it('takes away what is known and nothing that only looks like a secret', () => {
    const challenge = 'Bearer error_description="bad token: abcd", resource_metadata="https://a.example/b"';
    expect(hideSecrets(challenge, ['abcd'])).toBe(challenge.replace('abcd', '[redacted]'));
    expect(hideSecrets(challenge, [])).toBe(challenge);
  });
});
