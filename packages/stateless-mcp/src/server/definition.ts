import type { AuthInfo } from '../protocol/auth-info.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import type { Icon } from '../protocol/implementation.ts';
import { isMetaKey, type Meta } from '../protocol/meta.ts';
import { checkPositiveInteger } from '../protocol/option-checks.ts';
import { deepFreeze } from '../protocol/shared-json.ts';

/** Whoever asks for a definition. Only what was verified may decide what is visible. */
export interface Caller {
  readonly auth: AuthInfo | undefined;
}

/** What every tool, resource, template and prompt may declare. */
export interface DefinitionConfig {
  /** For people. Default: the name. */
  readonly title?: string;
  /** For people and models. */
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
  /** Who may know of it. For everybody else it does not exist, in lists and everywhere else. Default: everybody. */
  readonly visible?: (caller: Caller) => boolean | Promise<boolean>;
  /** What the caller's credential must permit, or it is refused with 403 before the handler runs. */
  readonly scopes?: readonly string[];
  /** Client capabilities without which the handler cannot work; the request is refused with −32021 without them. */
  readonly requires?: ClientCapabilities;
  /** Milliseconds that the handler may take; then its signal aborts and the caller gets an error. Default: no limit. */
  readonly timeoutMs?: number;
  /** How many handlers may run at once in this process; more are refused with 503. Default: no limit. */
  readonly maxConcurrency?: number;
}

/** How many handlers of a definition run now. Lives as long as the registration, whatever is updated meanwhile. */
export interface Load {
  running: number;
}

/** A registered definition in the form in which requests use it. Shared by all of them. */
export interface Definition {
  /** Name or URI: what it is found by and sorted by. */
  readonly key: string;
  /** For error messages: `tool "forecast"`. */
  readonly label: string;
  /** Its entry in a list, frozen. */
  readonly advertised: object;
  /** The same as JSON: lists are joined of these. */
  readonly json: string;
  readonly config: DefinitionConfig;
  readonly load: Load;
}

// Scopes stand in a header between quotes (RFC 6750, scope-token).
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** @throws TypeError if what should do the work is no function */
export function checkHandler(label: string, handler: unknown): void {
  if (typeof handler === 'function') return;
  throw new TypeError(`${label}: the last argument must be its handler, a function, after the config`);
}

/**
 * Makes what all kinds of definitions have in common, once it has been checked.
 *
 * @param entry what is specific to the kind in its list entry
 * @throws TypeError, RangeError naming the definition and the member
 */
export function define(
  key: string,
  label: string,
  entry: object,
  config: DefinitionConfig,
): Omit<Definition, 'config'> {
  checkConfig(label, config);
  const { title, description, icons, _meta } = config;
  const json = JSON.stringify({ ...entry, title, description, icons, _meta });
  return { key, label, advertised: deepFreeze(JSON.parse(json) as object), json, load: { running: 0 } };
}

function checkConfig(label: string, config: DefinitionConfig): void {
  checkPositiveInteger(label, 'timeoutMs', config.timeoutMs);
  checkPositiveInteger(label, 'maxConcurrency', config.maxConcurrency);
  for (const scope of config.scopes ?? []) {
    if (!SCOPE.test(scope)) throw new TypeError(`${label}: ${JSON.stringify(scope)} is not a scope of OAuth`);
  }
  for (const key of Object.keys(config._meta ?? {})) {
    if (!isMetaKey(key)) throw new TypeError(`${label}: ${JSON.stringify(key)} is not a key that _meta may have`);
  }
  for (const { src } of config.icons ?? []) {
    if (!/^(?:https?|data):/i.test(src))
      throw new TypeError(`${label}: an icon is an http(s) or data URI, not "${src}"`);
  }
}
