import { describe, expect, it } from 'vitest';
import type { FailurePhase } from '../protocol/local-error.ts';
import { fetchFailure } from './http-failure.ts';
import { HttpFetchError } from './http-fetch.ts';

const URL = 'https://mcp.example/mcp';

const coded = (code: string): Error => Object.assign(new Error(`failed: ${code}`), { code });
const during = (method: string, phase: FailurePhase, hasAnswer = false) => ({
  endpoint: URL,
  method,
  phase,
  hasAnswer,
});
/** What the `fetch` of Node throws. */
const fetchFailed = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });

describe('fetchFailure', () => {
  it.each([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'connect'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
  ])('%s: the server was not reached (%s)', (code, phase) => {
    for (const thrown of [coded(code), fetchFailed(coded(code)), fetchFailed(new AggregateError([coded(code)]))]) {
      const error = fetchFailure(thrown, during('tools/call', 'call'));
      expect(error).toMatchObject({ code: 'unreachable', phase, maybeExecuted: false, cause: thrown });
      expect(error.message).toContain(URL);
      expect(error.message).toContain(code);
    }
  });

  it.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])(
    '%s: the connection broke, in the phase of the request',
    (code) => {
      const error = fetchFailure(fetchFailed(coded(code)), during('tools/list', 'list'));
      expect(error).toMatchObject({ code: 'closed', phase: 'list', maybeExecuted: true });
      expect(error.message).toMatch(/tools\/list.*may have been carried out/);
      expect(error.message).toContain(code);
    },
  );

  it.each([new Error('no code'), new TypeError('fetch failed'), 'text', undefined, { code: 7 }])(
    'says nothing it does not know: %j',
    (thrown) => {
      expect(fetchFailure(thrown, during('tools/call', 'call'))).toMatchObject({ code: 'closed', maybeExecuted: true });
    },
  );

  it.each(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'])('%s counts together with what failed', (code) => {
    for (const [syscall, facts] of [
      ['connect', { code: 'unreachable', phase: 'connect', maybeExecuted: false }],
      ['read', { code: 'closed', phase: 'call', maybeExecuted: true }],
      [undefined, { code: 'closed', phase: 'call', maybeExecuted: true }],
    ] as const) {
      const thrown = fetchFailed(Object.assign(coded(code), { syscall }));
      expect(fetchFailure(thrown, during('tools/call', 'call'))).toMatchObject(facts);
    }
  });

  it.each(['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO'])('%s may come at any time', (code) => {
    const facts = { code: 'unreachable', phase: 'tls', maybeExecuted: true };
    expect(fetchFailure(fetchFailed(coded(code)), during('tools/call', 'call'))).toMatchObject(facts);
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EPROTO'])(
    '%s behind the head of an answer is no failure to reach it',
    (code) => {
      const facts = { code: 'closed', phase: 'call', maybeExecuted: true };
      expect(fetchFailure(fetchFailed(coded(code)), during('tools/call', 'call', true))).toMatchObject(facts);
    },
  );

  it('ends at causes that are each other’s', () => {
    const first = new Error('first');
    const second = new Error('second', { cause: first });
    first.cause = second;
    expect(fetchFailure(first, during('tools/call', 'call')).code).toBe('closed');
  });

  it.each(['dns', 'connect', 'tls'] as const)(
    'an HTTP client that knows it came no further than %s is believed',
    (phase) => {
      const thrown = new HttpFetchError('no', { cause: coded('ECONNRESET'), phase, bodySent: false });
      const error = fetchFailure(thrown, during('tools/call', 'call'));
      expect(error).toMatchObject({ code: 'unreachable', phase, maybeExecuted: false, cause: thrown });
      expect(error.message).toContain('ECONNRESET');
    },
  );

  it.each([true, false])('an HTTP client that knows whether the body was sent is believed: %j', (bodySent) => {
    const thrown = new HttpFetchError('no', { cause: coded('ECONNRESET'), phase: 'http', bodySent });
    const error = fetchFailure(thrown, during('tools/call', 'call'));
    expect(error).toMatchObject({ code: 'closed', phase: 'call', maybeExecuted: bodySent });
    expect(error.message).toContain(bodySent ? 'may have been carried out' : 'was not sent');
  });
});
