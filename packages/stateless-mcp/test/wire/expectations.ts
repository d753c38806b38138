import { expect } from 'vitest';
import type { JsonObject } from '../../src/protocol/json.ts';
import type { WireAnswer } from './exchange.ts';
import { at } from './messages.ts';

export interface ExpectedError {
  readonly code: number;
  /** Absent: any, for the specification leaves it open. */
  readonly status?: number;
  /** `null`: the error has no `id` member. Absent: not looked at. */
  readonly id?: unknown;
}

/** The answer is one JSON-RPC error; returns its `error`. */
export function expectError(answer: WireAnswer, { code, status, id }: ExpectedError): unknown {
  expect(answer.messages, answer.text).toHaveLength(1);
  const [message] = answer.messages;
  expect(at(message, 'error', 'code'), answer.text).toBe(code);
  if (status !== undefined) expect(answer.status, answer.text).toBe(status);
  if (id === null) expect(message, 'the error has an id').not.toHaveProperty('id');
  else if (id !== undefined) expect(at(message, 'id')).toBe(id);
  return at(message, 'error');
}

/** The answer ends with a result; returns that. */
export function expectResult(answer: WireAnswer): JsonObject {
  expect(answer.status, answer.text).toBe(200);
  const result = at(answer.messages.at(-1), 'result');
  expect(result, answer.text).toBeTypeOf('object');
  return result as JsonObject;
}

/** The text of a tool's result. */
export function textOf(result: unknown): unknown {
  return at(result, 'content', 0, 'text');
}
