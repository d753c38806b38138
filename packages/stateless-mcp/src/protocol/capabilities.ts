import type { JsonObject } from './json.ts';

/**
 * What a client can do for a server, declared anew with every request. Members that are present (`{}` is enough)
 * declare support. The set is open: further members are allowed.
 */
export interface ClientCapabilities {
  /** Can ask its user. Neither mode named: `form`. */
  readonly elicitation?: { readonly form?: JsonObject; readonly url?: JsonObject };
  /**
   * Can run a model for the server; `tools`: with tools, `context`: with context of other servers.
   * @deprecated by revision 2026-07-28, still served.
   */
  readonly sampling?: { readonly tools?: JsonObject; readonly context?: JsonObject };
  /**
   * Can name the directories to work in.
   * @deprecated by revision 2026-07-28, still served.
   */
  readonly roots?: JsonObject;
  /** Settings of each extension by its identifier, such as `io.modelcontextprotocol/tasks`; `{}` for none. */
  readonly extensions?: { readonly [id: string]: JsonObject };
  readonly experimental?: { readonly [name: string]: JsonObject };
  readonly [capability: string]: unknown;
}

/**
 * What a server offers, told by `server/discover`. Members that are present (`{}` is enough) declare support.
 * The set is open: further members are allowed.
 */
export interface ServerCapabilities {
  /** `listChanged`: announces that the list of tools has changed. */
  readonly tools?: { readonly listChanged?: boolean };
  /** `listChanged` as for tools; `subscribe`: announces that a single resource has changed. */
  readonly resources?: { readonly listChanged?: boolean; readonly subscribe?: boolean };
  /** `listChanged`: announces that the list of prompts has changed. */
  readonly prompts?: { readonly listChanged?: boolean };
  /** Completes arguments of prompts and variables of resource templates. */
  readonly completions?: JsonObject;
  /**
   * Sends log messages to requests that ask for them.
   * @deprecated by revision 2026-07-28, still served.
   */
  readonly logging?: JsonObject;
  /** Settings of each extension by its identifier; `{}` for none. */
  readonly extensions?: { readonly [id: string]: JsonObject };
  readonly experimental?: { readonly [name: string]: JsonObject };
  readonly [capability: string]: unknown;
}
