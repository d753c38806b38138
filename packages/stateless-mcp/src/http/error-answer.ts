import type { McpError } from '../protocol/errors.ts';
import { serialiseFailure } from '../protocol/exchange-messages.ts';
import type { RequestId } from '../protocol/json-rpc-types.ts';
import type { Logger } from '../protocol/logger.ts';
import { httpStatus } from './http-status.ts';

/** A whole answer with a JSON body. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** An error as an HTTP answer. */
export function errorAnswer(error: McpError, id: RequestId | undefined, logger: Logger): ErrorAnswer {
  const { sent, text } = serialiseFailure(error, id, logger);
  return { status: httpStatus(sent), headers: { 'Content-Type': 'application/json', ...error.headers }, text };
}
