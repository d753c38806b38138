import type { AuthInfo } from '../protocol/auth-info.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import type { Icon } from '../protocol/implementation.ts';
import type { Meta } from '../protocol/meta.ts';

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
}

/** Checks what all kinds of definitions have in common. */
export function checkConfig(label: string, config: DefinitionConfig): void {
  for (const limit of ['timeoutMs', 'maxConcurrency'] as const) {
    const value = config[limit];
    if (value !== undefined && !(Number.isInteger(value) && value > 0)) {
      throw new RangeError(`${label}: ${limit} must be a positive integer, not ${String(value)}`);
    }
  }
}

/** The list entry of a definition: what is specific to its kind, and what all kinds show. */
export function advertise(
  entry: object,
  { title, description, icons, _meta }: DefinitionConfig,
): Pick<Definition, 'advertised' | 'json'> {
  const json = JSON.stringify({ ...entry, title, description, icons, _meta });
  return { advertised: Object.freeze(JSON.parse(json) as object), json };
}
