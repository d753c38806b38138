/** Cross-origin rules for pages of named origins. Specification of the mechanism: Fetch, "HTTP CORS protocol". */
import type { HttpHead } from './http-head.ts';
import type { OriginGuard } from './origin-guard.ts';

const ALLOWED_HEADERS = new Set([
  'accept',
  'authorization',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'traceparent',
  'tracestate',
  'baggage',
]);
const PARAMETER_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const MAX_REQUESTED_HEADERS = 100;

/** What most requests get. The same object each time, so that nobody copies it. */
export const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** What every answer to a page of a named origin carries, errors included. Empty for everybody else. */
export function corsHeaders(head: HttpHead, guard: OriginGuard): Readonly<Record<string, string>> {
  const origin = head.headers.get('origin');
  if (origin === null || !guard.isNamed(origin)) return NO_HEADERS;
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After',
    Vary: 'Origin',
  };
}

/** The answer to a preflight of a page of a named origin; `undefined` if it is none. Comes before authentication. */
export function preflightHeaders(head: HttpHead, guard: OriginGuard): Readonly<Record<string, string>> | undefined {
  if (head.method !== 'OPTIONS' || head.headers.get('access-control-request-method') === null) return undefined;
  const allowed = corsHeaders(head, guard);
  if (allowed === NO_HEADERS) return undefined;
  return {
    ...allowed,
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': allowedOf(head.headers.get('access-control-request-headers') ?? '').join(', '),
    'Access-Control-Max-Age': '600',
    Vary: 'Origin, Access-Control-Request-Headers',
  };
}

/** The fixed set, and those headers of tool parameters that the page asks for: a wildcard does not cover credentials. */
function allowedOf(requested: string): readonly string[] {
  const names = requested.toLowerCase().split(',', MAX_REQUESTED_HEADERS);
  return [...ALLOWED_HEADERS, ...names.map((name) => name.trim()).filter((name) => PARAMETER_HEADER.test(name))];
}
