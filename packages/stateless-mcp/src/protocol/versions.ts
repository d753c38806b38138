/** The revision that this library speaks: the first one without a handshake. */
export const PROTOCOL_VERSION = '2026-07-28';

/** Every revision this library serves under the rules of the stateless protocol, the newest first. */
export const MODERN_VERSIONS: readonly string[] = Object.freeze([PROTOCOL_VERSION]);
