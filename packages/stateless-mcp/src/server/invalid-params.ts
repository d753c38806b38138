import { INVALID_PARAMS } from '../protocol/error-codes.ts';
import { McpError } from '../protocol/errors.ts';
import { isObject } from '../protocol/json.ts';
import type { RequestParams } from '../protocol/result.ts';

export function invalidParams(reason: string): McpError {
  return new McpError(INVALID_PARAMS, `Invalid params: ${reason}`);
}

/** A parameter that must be there and be a string. */
export function stringParameter(params: RequestParams, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw invalidParams(`params.${name} must be a string`);
  return value;
}

/** A parameter that is an object or absent; absent reads as `{}`. */
export function objectParameter(params: RequestParams, name: string): Readonly<Record<string, unknown>> {
  const value = params[name];
  if (value === undefined) return {};
  if (!isObject(value)) throw invalidParams(`params.${name} must be an object`);
  return value;
}
