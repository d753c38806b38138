import { excerpt } from '../protocol/excerpt.ts';
import { isObject } from '../protocol/json.ts';
import { LocalError } from '../protocol/local-error.ts';
import type { Logger } from '../protocol/logger.ts';
import type { CallToolResult, Tool } from '../protocol/tools.ts';
import { type CompiledSchema, compileOutputSchema } from '../schema/compiled-schema.ts';
import { formatIssues } from '../schema/schema-issue.ts';
import type { SchemaValidator } from '../schema/schema-validator.ts';

/** What to do with a structured result that does not fit: say so in the log, refuse it, or do not look. */
export type OutputCheck = 'warn' | 'strict' | 'off';

/** More tools than this are not remembered. */
const MAX_TOOLS = 10_000;

interface KnownTool {
  readonly tool: Tool;
  /** Made with the first call: most tools of a list are never called. `null`: cannot be checked. */
  compiled: CompiledSchema | null | undefined;
}

/** What servers promised about their tools, as far as lists were read: hints for retries, and schemas of results. */
export class ToolOutputs {
  readonly #tools = new Map<string, KnownTool>();
  readonly #check: OutputCheck;
  readonly #validator: SchemaValidator | undefined;
  readonly #logger: Logger;

  constructor(check: OutputCheck, validator: SchemaValidator | undefined, logger: Logger) {
    this.#check = check;
    this.#validator = validator;
    this.#logger = logger;
  }

  learn(tools: readonly Tool[]): void {
    for (const tool of tools) {
      if (!isObject(tool)) continue;
      const known = this.#tools.get(tool.name);
      if (known === undefined && this.#tools.size >= MAX_TOOLS) continue;
      this.#tools.set(tool.name, { tool, compiled: known && compiledFor(tool, known) });
    }
  }

  /** Whether calling it twice does no more than calling it once, as far as its server says. */
  mayRepeat(name: string): boolean {
    const annotations = this.#tools.get(name)?.tool.annotations;
    return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
  }

  /** @throws LocalError `invalid_output`, if that is wanted */
  async check(name: string, result: CallToolResult): Promise<void> {
    // What an error says is for its reader and was never promised.
    if (this.#check === 'off' || result.isError === true) return;
    const schema = this.#schemaOf(name);
    if (schema === undefined) return;
    const problem = await this.#problemOf(schema, name, result.structuredContent);
    if (problem === undefined) return;
    const text = `The result of tool "${excerpt(name)}" does not fit its outputSchema: ${problem}`;
    if (this.#check === 'strict') {
      throw new LocalError('invalid_output', text, { phase: 'call', maybeExecuted: true, result });
    }
    this.#logger.warn(text, { tool: name });
  }

  #schemaOf(name: string): CompiledSchema | undefined {
    const known = this.#tools.get(name);
    // Some servers write `null` for what is absent.
    const outputSchema = known?.tool.outputSchema ?? undefined;
    if (known === undefined || outputSchema === undefined) return undefined;
    if (known.compiled === undefined) known.compiled = this.#compile(name, outputSchema);
    return known.compiled ?? undefined;
  }

  /** One schema that cannot be used costs the check of its own tool. */
  #compile(name: string, outputSchema: NonNullable<Tool['outputSchema']>): CompiledSchema | null {
    try {
      const where = `outputSchema of tool "${excerpt(name)}"`;
      return compileOutputSchema(outputSchema as Readonly<Record<string, unknown>>, {
        where,
        validator: this.#validator,
      });
    } catch (error) {
      this.#cannotCheck(name, error);
      return null;
    }
  }

  async #problemOf(schema: CompiledSchema, name: string, value: unknown): Promise<string | undefined> {
    if (value === undefined) return 'it has no structuredContent';
    try {
      const outcome = await schema.validate(value);
      return 'issues' in outcome ? formatIssues(outcome.issues) : undefined;
    } catch (error) {
      this.#cannotCheck(name, error);
      return undefined;
    }
  }

  #cannotCheck(name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#logger.warn(`Results of tool "${excerpt(name)}" are not checked: ${excerpt(reason)}`, { tool: name, error });
  }
}

/** Lists that are read again mostly say the same. */
function compiledFor({ outputSchema }: Tool, { tool, compiled }: KnownTool): KnownTool['compiled'] {
  if (compiled === undefined || tool.outputSchema === outputSchema) return compiled;
  return JSON.stringify(tool.outputSchema) === JSON.stringify(outputSchema) ? compiled : undefined;
}
