import type { Logger } from '../protocol/logger.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';
import type { Authenticate } from './http-head.ts';

/** Why a request got no further than the binding. */
export interface Refusal {
  readonly status: number;
  /** Of the JSON-RPC error in the answer. */
  readonly code: number;
  readonly reason: string;
  /** As far as it was known. */
  readonly method?: string;
  readonly principal?: string;
}

/** What all HTTP bindings have in common. */
export interface HttpOptions {
  /**
   * Host names under which clients reach this server, with or without a port (`mcp.example.com`, `localhost:3000`);
   * a request for another host is refused with 403. `'any'`: something in front checks them.
   */
  readonly allowedHosts?: readonly string[] | 'any';
  /**
   * Origins of web pages that may call (`https://app.example.com`), which also switches CORS on for them. A request from
   * another origin than these and the allowed hosts is refused with 403. `'any'`: every page in the world.
   */
  readonly allowedOrigins?: readonly string[] | 'any';
  /** Verifies the caller before the body is read. Default: nobody is verified. */
  readonly authenticate?: Authenticate;
  /** Bytes of a request body. Default: 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Bytes of a result. Default: 16 MiB. */
  readonly maxResponseBytes?: number;
  /** Milliseconds in which a request body must arrive. Default: 30,000. */
  readonly bodyTimeoutMs?: number;
  /** Milliseconds of silence after which a pending answer becomes an event stream, if the client takes one. Default: 10,000. */
  readonly upgradeAfterMs?: number;
  /** Milliseconds between signs of life on a silent event stream. Default: 15,000. */
  readonly keepAliveMs?: number;
  /** Milliseconds after which a reader that takes nothing is given up. Default: 120,000. */
  readonly readerTimeoutMs?: number;
  /** Is told of every request that was refused before it reached the handler. */
  readonly onRefused?: (refusal: Refusal) => void;
  /** Where unexpected errors go. Default: warnings and errors to the console's error stream. */
  readonly logger?: Logger;
}

export interface HttpLimits {
  readonly maxBodyBytes: number;
  readonly maxResponseBytes: number;
  readonly bodyTimeoutMs: number;
  readonly upgradeAfterMs: number;
  readonly keepAliveMs: number;
  readonly readerTimeoutMs: number;
}

const DEFAULT_LIMITS: HttpLimits = {
  maxBodyBytes: 4 * 1024 * 1024,
  maxResponseBytes: 16 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  upgradeAfterMs: 10_000,
  keepAliveMs: 15_000,
  readerTimeoutMs: 120_000,
};

/** @throws RangeError for a limit that is not a positive integer */
export function limitsOf(options: HttpOptions): HttpLimits {
  const limits: { -readonly [Name in keyof HttpLimits]: number } = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(DEFAULT_LIMITS) as (keyof HttpLimits)[]) {
    const value = options[name];
    if (value === undefined) continue;
    checkPositiveInteger('HttpOptions', name, value);
    limits[name] = value;
  }
  return limits;
}
