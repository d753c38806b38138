import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeResult, readInbound, remoteError, supportedVersions } from './inbound.ts';
import { LocalError } from './local-error.ts';
import { indexMethods, METHODS, type MethodRow } from './methods.ts';

const rows = indexMethods(METHODS);
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

function rowOf(method: string): MethodRow | undefined {
  return rows.get(method);
}

/** What the methods cannot do without. */
const MEMBERS = { content: [], tools: [], messages: [], contents: [] };

describe('readInbound', () => {
  it.each([
    [
      { jsonrpc: '2.0', id: 1, result: {} },
      { kind: 'result', id: 1, result: {} },
    ],
    [
      { jsonrpc: '2.0', id: 0, result: {} },
      { kind: 'result', id: 0, result: {} },
    ],
    [
      { jsonrpc: '2.0', id: '', result: null },
      { kind: 'result', id: '', result: null },
    ],
    [
      { id: 'a', result: {} },
      { kind: 'result', id: 'a', result: {} },
    ],
  ])('T-01: a result has an id, whatever it is: %j', (message, inbound) => {
    expect(readInbound(message)).toEqual(inbound);
  });

  it.each([
    [{ id: 1, error: { code: 1 } }, 1],
    [{ id: 'a', error: null }, 'a'],
    [{ error: {} }, undefined],
    [{ id: null, error: {} }, undefined],
  ])('T-03, T-09: the id of an error may be absent: %j', (message, id) => {
    expect(readInbound(message)).toEqual({ kind: 'error', id, error: message.error });
  });

  it.each([
    [null],
    [undefined],
    ['text'],
    [7],
    [[]],
    [[{ id: 1, result: {} }]],
    [{}],
    [{ id: 1 }],
    [{ result: {} }],
    [{ id: null, result: {} }],
    [{ id: {}, result: {} }],
    [{ id: true, error: {} }],
    [{ method: 7 }],
    [{ method: 'tools/call' }],
    [{ method: 'notifications/message', params: [] }],
    [{ method: 'notifications/message', params: 'text' }],
    [{ method: 'notifications/message', params: { data: 1 } }],
    [{ method: 'notifications/progress' }],
    [{ method: 'notifications/progress', params: { progressToken: 1 } }],
    [{ method: 'notifications/resources/updated', params: {} }],
    [{ method: 'notifications/subscriptions/acknowledged', params: { notifications: [] } }],
    [{ method: 'notifications/cancelled' }],
    [{ method: 'notifications/cancelled', params: { requestId: null } }],
  ])('%j is no message', (message) => {
    expect(readInbound(message)).toEqual({ kind: 'invalid', reason: expect.any(String) as string });
  });

  it.each([
    { id: 1, method: 'roots/list' },
    { id: 'a', method: 'notifications/message', params: { level: 'info', data: 1 } },
    { id: null, method: 'ping' },
    { id: 1, method: 'sampling/createMessage', result: {} },
  ])('JR-13, JR-14: %j is a request, which servers do not send', (message) => {
    const inbound = readInbound(message);
    expect(inbound).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(message.method) as string });
  });

  it('takes the tags of this hop off', () => {
    expect(
      readInbound({
        method: 'notifications/progress',
        params: { progressToken: 0, progress: 1, _meta: { [SUBSCRIPTION]: '', other: 1 } },
      }),
    ).toEqual({
      kind: 'notification',
      notification: { method: 'notifications/progress', params: { progress: 1, _meta: { other: 1 } } },
      progressToken: 0,
      subscriptionId: '',
    });
  });

  it('leaves what only looks like a tag', () => {
    const message = { method: 'notifications/com.example/x', params: { progressToken: 'mine', _meta: 'text' } };
    expect(readInbound(message)).toMatchObject({
      notification: { method: message.method, params: { progressToken: 'mine' } },
      progressToken: undefined,
      subscriptionId: undefined,
    });
  });

  it.each([
    [undefined, undefined],
    [{}, {}],
    [{ _meta: {} }, {}],
    [{ _meta: { [SUBSCRIPTION]: 1 } }, {}],
  ])('makes no empty metadata of %j', (params, read) => {
    const message = { method: 'notifications/tools/list_changed', ...(params !== undefined && { params }) };
    expect(readInbound(message)).toMatchObject({
      notification: { method: message.method, ...(read !== undefined && { params: read }) },
    });
  });

  it('D16: knows what a server cancels', () => {
    const message = { method: 'notifications/cancelled', params: { requestId: 0, reason: 'over' } };
    expect(readInbound(message)).toEqual({ kind: 'cancelled', requestId: 0 });
  });

  it('reads anything without a throw, and changes nothing', () => {
    const message = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          id: fc.jsonValue(),
          method: fc.oneof(fc.constantFrom('notifications/progress', 'notifications/message', 'ping'), fc.jsonValue()),
          params: fc.oneof(fc.record({ _meta: fc.jsonValue(), progressToken: fc.jsonValue() }), fc.jsonValue()),
          result: fc.jsonValue(),
          error: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(message, (value) => {
        const before = structuredClone(value);
        readInbound(value);
        expect(value).toEqual(before);
      }),
    );
  });
});

describe('completeResult', () => {
  const complete = (result: unknown, method: string) => completeResult(result, method, rowOf(method));

  it('JR-09: adds what older servers leave out, in another object', () => {
    const result = Object.freeze({ tools: [], extra: 1 });
    expect(complete(result, 'tools/list')).toEqual({
      resultType: 'complete',
      tools: [],
      extra: 1,
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect(complete({ content: [] }, 'tools/call')).toEqual({ resultType: 'complete', content: [] });
  });

  it('is the same object if nothing is missing', () => {
    const call = { resultType: 'complete', content: [] };
    expect(complete(call, 'tools/call')).toBe(call);
    const list = { resultType: 'complete', tools: [], ttlMs: 5, cacheScope: 'public' };
    expect(complete(list, 'tools/list')).toBe(list);
    const question = { resultType: 'input_required', requestState: 's' };
    expect(complete(question, 'tools/call')).toBe(question);
  });

  it.each(['complete', undefined])('takes resultType %j from a method that it does not know', (resultType) => {
    expect(completeResult({ resultType, a: 1 }, 'com.example/x', undefined)).toMatchObject({
      resultType: 'complete',
      a: 1,
    });
  });

  it('JR-10: refuses every other one, for every method', () => {
    const otherType = fc.jsonValue().filter((value) => value !== 'complete' && value !== 'input_required');
    fc.assert(
      fc.property(otherType, fc.constantFrom(...METHODS, undefined), (resultType, row) => {
        const attempt = (): unknown => completeResult({ ...MEMBERS, resultType }, row?.name ?? 'x/y', row);
        expect(attempt).toThrow(LocalError);
        expect(attempt).toThrow(/resultType/);
      }),
    );
  });

  it('T-112: a question answers only the methods that may ask', () => {
    const asking = METHODS.filter(({ name }) => {
      try {
        return complete({ resultType: 'input_required', requestState: 's' }, name).resultType === 'input_required';
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_answer', maybeExecuted: true });
        return false;
      }
    });
    expect(asking.map(({ name }) => name)).toEqual(['tools/call', 'resources/read', 'prompts/get']);
  });

  it.each([
    [-1, 0],
    [0, 0],
    [0.5, 0.5],
    ['5', 0],
    [null, 0],
    [undefined, 0],
  ])('CACHE-03: a ttlMs of %j is %d', (ttlMs, read) => {
    expect(complete({ resultType: 'complete', tools: [], ttlMs, cacheScope: 'public' }, 'tools/list').ttlMs).toBe(read);
  });

  it('T-121: a cacheScope that is not public is private', () => {
    for (const cacheScope of ['private', 'PUBLIC', true, undefined]) {
      expect(complete({ tools: [], cacheScope }, 'tools/list')).toMatchObject({ cacheScope: 'private' });
    }
  });
});

describe('remoteError', () => {
  it('keeps what the server said', () => {
    expect(remoteError({ code: -32602, message: 'No', data: { a: 1 } }, 'x', { status: 400 })).toMatchObject({
      code: -32602,
      message: 'No',
      data: { a: 1 },
      status: 400,
    });
  });

  it('tells how long to wait, in words and milliseconds', () => {
    const error = remoteError({ code: 1, message: 'Slow down' }, 'x', { status: 429, retryAfterMs: 1500 });
    expect(error).toMatchObject({ message: 'Slow down (it asks to wait 2 s)', retryAfterMs: 1500 });
  });

  it.each([null, 'text', {}, { code: '1' }, { code: null }, []])('%j is no error', (error) => {
    expect(() => remoteError(error, 'tools/call')).toThrow(LocalError);
  });

  it.each([
    [-32602, { supported: ['2026-07-28'] }, -32022],
    [-32004, { supported: ['2025-06-18', '2027-01-01'] }, -32022],
    [-32602, { supported: ['2025-06-18'] }, -32602],
    [-32602, { supported: ['2026-07-28', 1] }, -32602],
    [-32602, { uri: 'a:b' }, -32602],
    [-32003, { requiredCapabilities: {} }, -32021],
    [-32003, { requiredCapabilities: [] }, -32003],
    [-32003, undefined, -32003],
    [-32001, { supported: ['2026-07-28'] }, -32001],
    [-32000, { requiredCapabilities: {} }, -32000],
  ])('D01, D02, D03, JR-19: %d with %j is read as %d', (code, data, read) => {
    expect(remoteError({ code, message: '', data }, 'x').code).toBe(read);
  });
});

describe('supportedVersions', () => {
  it.each([
    [{ supported: ['a', 'b'] }, ['a', 'b']],
    [{ supported: [] }, []],
    [{ supported: ['a', null] }, []],
    [{ supported: 'a' }, []],
    [{ supportedVersions: ['a'] }, []],
    [['a'], []],
    [null, []],
    [undefined, []],
  ])('T-18: of %j are %j', (data, versions) => {
    expect(supportedVersions(data)).toEqual(versions);
  });
});
