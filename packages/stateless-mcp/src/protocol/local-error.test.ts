import { describe, expect, it } from 'vitest';
import { RemoteError } from './errors.ts';
import { givenUp, LocalError, phaseOf } from './local-error.ts';
import { CALL_TOOL, DISCOVER, LIST_TOOLS, LISTEN, METHODS } from './methods.ts';

describe('LocalError', () => {
  it('JR-22: is an error of its own class, with a code that is no number', () => {
    const error = new LocalError('timeout', 'too late');
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RemoteError);
    expect(String(error)).toBe('LocalError: too late');
    expect(error.code).toBe('timeout');
  });

  it('has the facts that are known, and no others', () => {
    const error = new LocalError('http_status', 'no', { status: 502, body: '', phase: undefined, exitCode: null });
    expect({ ...error }).toEqual({
      name: 'LocalError',
      code: 'http_status',
      maybeExecuted: false,
      status: 502,
      body: '',
      exitCode: null,
    });
    expect('phase' in error).toBe(false);
    expect('timer' in error).toBe(false);
  });

  it.each([
    [undefined, false],
    [false, false],
    [true, true],
  ])('maybeExecuted of %s is %s', (maybeExecuted, expected) => {
    expect(new LocalError('closed', '', { maybeExecuted }).maybeExecuted).toBe(expected);
  });

  it('keeps its cause', () => {
    const cause = new TypeError('deep');
    expect(new LocalError('closed', '', {}, { cause }).cause).toBe(cause);
    expect(new LocalError('closed', '')).not.toHaveProperty('cause');
  });

  it('facts are not changed afterwards', () => {
    const error: { status?: number } = new LocalError('closed', '', { status: 500 });
    expect(() => (error.status = 200)).toThrow(TypeError);
  });
});

describe('givenUp', () => {
  it('for reasons of the caller: aborted, with the reason as its cause', () => {
    for (const reason of [new DOMException('x', 'AbortError'), 'text', undefined, new RemoteError(1, '')]) {
      const error = givenUp(reason, 'tools/call', { phase: 'connect', maybeExecuted: true });
      expect(error).toMatchObject({ code: 'aborted', phase: 'connect', maybeExecuted: true });
      expect(error.message).toBe('tools/call was given up by its caller');
      expect(error.cause).toBe(reason);
    }
  });

  it('by a limit of time: that limit, with what the peer knows', () => {
    const cause = new Error('deep');
    const lastProgress = { progress: 1 };
    const facts = { timer: 'idle', lastProgress, phase: 'call', maybeExecuted: true } as const;
    const reason = new LocalError('timeout', 'too late', facts, { cause });
    expect({ ...givenUp(reason, 'tools/call', { phase: 'spawn', stderr: ['a'] }) }).toEqual({
      name: 'LocalError',
      code: 'timeout',
      timer: 'idle',
      lastProgress,
      phase: 'spawn',
      maybeExecuted: false,
      stderr: ['a'],
    });
    expect(givenUp(reason, 'tools/call', {})).toMatchObject({ message: 'too late', cause });
  });
});

describe('phaseOf', () => {
  it('tells lists and discover from all the rest', () => {
    expect(phaseOf(LIST_TOOLS)).toBe('list');
    expect(phaseOf(DISCOVER)).toBe('negotiate');
    expect(phaseOf(CALL_TOOL)).toBe('call');
    expect(phaseOf(LISTEN)).toBe('call');
    expect(phaseOf(undefined)).toBe('call');
    expect(METHODS.filter((row) => phaseOf(row) === 'list')).toHaveLength(4);
  });
});
