/**
 * Keeps web pages from reaching a server through their visitor's browser (DNS rebinding).
 * Specification: basic/transports/streamable-http, "Security & Endpoint".
 */
import { McpError } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Logger } from '../protocol/logger.ts';
import type { HttpHead } from './http-head.ts';
import type { HttpOptions } from './http-options.ts';

/** The names of this machine for itself. */
export const LOOPBACK_HOSTS: readonly string[] = Object.freeze(['localhost', '127.0.0.1', '[::1]']);

const MAX_LOGGED_REASONS = 20;

export interface OriginGuard {
  /** Throws McpError 403 naming the value and the option, for a host or an origin that is not allowed. */
  check(head: HttpHead): void;
  /** Whether pages of this origin were named, so that their scripts may read answers. */
  isNamed(origin: string): boolean;
}

export function originGuard({ allowedHosts, allowedOrigins }: HttpOptions, logger: Logger): OriginGuard {
  const hosts =
    allowedHosts === undefined || allowedHosts === 'any' ? undefined : new Set(allowedHosts.map(checkedHost));
  const origins = allowedOrigins === 'any' ? undefined : new Set((allowedOrigins ?? []).map(checkedOrigin));
  const isAllowedHost = (host: string): boolean =>
    hosts === undefined || hosts.has(lower(host)) || hosts.has(withoutPort(lower(host)));
  let lastAllowed: string | undefined;
  const isNamed = (origin: string): boolean => origins === undefined || origins.has(lower(origin));
  const logged = new Set<string>();
  const refusal = (reason: string): McpError => {
    // Its operator has to learn why nothing works, but not from every request of a scanner.
    if (!logged.has(reason) && logged.size < MAX_LOGGED_REASONS) {
      logged.add(reason);
      logger.warn(`A request was refused: ${reason}`);
    }
    return new McpError(403, `Forbidden: ${reason}`);
  };
  return {
    isNamed,
    check({ headers, url }) {
      // In-process requests and some runtimes have the host in the URL alone.
      const host = headers.get('host') ?? (URL.canParse(url) ? new URL(url).host : null);
      // Nearly all requests name the same host.
      if (hosts !== undefined && host !== lastAllowed) {
        if (host === null || !isAllowedHost(host)) {
          throw refusal(`the host "${excerpt(host ?? '')}" is not one of allowedHosts`);
        }
        lastAllowed = host;
      }
      const origin = headers.get('origin');
      if (origin === null || isNamed(origin)) return;
      // A page that this server itself could have served, under a name that is known.
      const originHost = URL.canParse(origin) ? new URL(origin).host : undefined;
      if (hosts !== undefined && originHost !== undefined && originHost !== '' && isAllowedHost(originHost)) return;
      throw refusal(`the origin "${excerpt(origin)}" is not one of allowedOrigins`);
    },
  };
}

function checkedHost(host: string): string {
  if (host !== '' && !/[/*@?#\s]/.test(host) && URL.canParse(`http://${host}/`)) {
    // As clients send it: in lower case, other alphabets as Punycode. The port stays as it was given.
    return new URL(`http://${host}/`).hostname + (/:\d+$/.exec(host)?.[0] ?? '');
  }
  throw new TypeError(`allowedHosts: "${host}" is not a host such as mcp.example.com or localhost:3000`);
}

function checkedOrigin(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || origin.includes('*') || url.origin === 'null' || url.origin !== lower(origin)) {
    throw new TypeError(`allowedOrigins: "${origin}" is not an origin such as https://app.example.com`);
  }
  return url.origin;
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function lower(text: string): string {
  return text.toLowerCase();
}
