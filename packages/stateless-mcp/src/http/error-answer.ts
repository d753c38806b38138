import { type McpError, toMcpError } from '../protocol/errors.ts';
import { serialiseError } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import type { Logger } from '../protocol/logger.ts';
import { httpStatus } from './http-status.ts';

/** A whole answer with a JSON body. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** An error as an HTTP answer. One whose data JSON cannot carry is an unexpected error itself. */
export function errorAnswer(error: McpError, id: RequestId | undefined, logger: Logger): ErrorAnswer {
  const headers = { 'Content-Type': 'application/json', ...error.headers };
  try {
    return { status: httpStatus(error), headers, text: serialiseError(id, error) };
  } catch (unsendable) {
    const replacement = toMcpError(unsendable, `the data of error ${error.code}`, logger);
    return { status: httpStatus(replacement), headers, text: serialiseError(id, replacement) };
  }
}
