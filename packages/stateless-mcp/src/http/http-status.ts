import {
  HEADER_MISMATCH,
  METHOD_NOT_FOUND,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/error-codes.ts';
import type { McpError } from '../protocol/errors.ts';

/**
 * The HTTP status of an error. Clients take a 400, 404 or 405 with an unknown body for an older server, so these three
 * are only ever what the protocol says. Codes of our own are their status.
 */
export function httpStatus({ status, code }: McpError): number {
  if (status !== undefined) return status;
  if (code === METHOD_NOT_FOUND) return 404;
  if (
    code === HEADER_MISMATCH ||
    code === MISSING_REQUIRED_CLIENT_CAPABILITY ||
    code === UNSUPPORTED_PROTOCOL_VERSION
  ) {
    return 400;
  }
  return code >= 401 && code <= 599 && code !== 404 && code !== 405 ? code : 200;
}
