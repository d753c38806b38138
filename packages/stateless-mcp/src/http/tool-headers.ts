import { isObject } from '../protocol/json.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { Logger } from '../protocol/logger.ts';
import { compileParameterHeaders, type ParameterHeader, parameterHeaderValues } from '../protocol/parameter-headers.ts';
import type { McpResult } from '../protocol/result.ts';

/** Tools beyond this are called without mirrored headers until the server asks for them. */
const MAX_TOOLS = 10_000;

/** Of one tool; absent: nothing was heard of it. */
export type KnownHeaders = readonly ParameterHeader[] | undefined;

const NO_HEADERS: readonly (readonly [string, string])[] = Object.freeze([]);

/**
 * Which arguments of which tool are mirrored into `Mcp-Param-*` headers: learnt from every list of tools that passes by, on
 * whose behalf ever. The last that was heard of a tool counts, however old; pages add to what other pages have told.
 */
export class ToolHeaders {
  readonly #headers = new Map<string, readonly ParameterHeader[]>();
  readonly #warned = new Set<string>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @returns the list without the tools whose annotations are invalid: they cannot be called over HTTP */
  learn(result: McpResult): McpResult {
    const { tools } = result;
    if (!Array.isArray(tools)) return result;
    const valid = tools.filter((tool) => this.#learnTool(tool));
    return valid.length === tools.length ? result : { ...result, tools: valid };
  }

  /** Forgets everything: in another name there may be other tools. */
  clear(): void {
    this.#headers.clear();
  }

  /** What is known of a tool now. It is not changed, but replaced. */
  known(name: unknown): KnownHeaders {
    return typeof name === 'string' ? this.#headers.get(name) : undefined;
  }

  /** Headers of a call, with their names in lower case. */
  of(name: unknown, toolArguments: unknown): readonly (readonly [string, string])[] {
    return mirrored(this.known(name), toolArguments);
  }

  #learnTool(tool: unknown): boolean {
    // What is no tool is left to whoever reads the list.
    if (!isObject(tool) || typeof tool.name !== 'string' || !isObject(tool.inputSchema)) return true;
    const compiled = compileParameterHeaders(tool.inputSchema);
    if ('headers' in compiled) {
      if (this.#headers.size < MAX_TOOLS || this.#headers.has(tool.name)) {
        this.#headers.set(tool.name, compiled.headers);
      }
      return true;
    }
    this.#headers.delete(tool.name);
    this.#warnOnce(tool.name, compiled.problem);
    return false;
  }

  #warnOnce(name: string, problem: string): void {
    const text = `The tool "${excerpt(name)}" was left out, because it cannot be called over HTTP: ${problem}`;
    if (this.#warned.has(text) || this.#warned.size >= MAX_TOOLS) return;
    this.#warned.add(text);
    this.#logger.warn(text, { tool: name, problem });
  }
}

/** The headers of a call by what was known of its tool. */
export function mirrored(headers: KnownHeaders, toolArguments: unknown): readonly (readonly [string, string])[] {
  if (headers === undefined || headers.length === 0) return NO_HEADERS;
  return parameterHeaderValues(headers, isObject(toolArguments) ? toolArguments : undefined);
}
