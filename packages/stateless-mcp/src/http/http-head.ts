import type { AuthInfo } from '../protocol/auth-info.ts';
import type { HttpRequestInfo } from '../protocol/handler.ts';

/** An HTTP request before its body is read. */
export interface HttpHead extends HttpRequestInfo {
  readonly method: string;
}

/**
 * Finds out who calls, from the head alone. `undefined`: nobody in particular. To refuse, throw an `McpError` whose code
 * is the status, such as 401 with a `WWW-Authenticate` header.
 */
export type Authenticate = (head: HttpHead) => AuthInfo | undefined | Promise<AuthInfo | undefined>;
