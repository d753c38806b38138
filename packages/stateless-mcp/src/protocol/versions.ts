import type { Implementation } from './implementation.ts';

/** The revision that this library speaks: the first one without a handshake. */
export const PROTOCOL_VERSION = '2026-07-28';

/** Every revision this library serves under the rules of the stateless protocol, the newest first. */
export const MODERN_VERSIONS: readonly string[] = Object.freeze([PROTOCOL_VERSION]);

/** Whether a revision is written by the rules of the stateless protocol, spoken here or not. */
export function isModernVersion(version: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(version) && version >= PROTOCOL_VERSION;
}

/** This library, as it describes itself to servers. */
export const LIBRARY: Implementation = Object.freeze({ name: 'stateless-mcp', version: '0.0.0' });
