import type { JsonObject } from '../protocol/json.ts';
import { builtInValidator, MAX_ISSUES } from './cfworker-validator.ts';
import { childPointer } from './json-pointer.ts';
import { withObjectRoot, type ObjectSchema } from './object-root.ts';
import { copySchema } from './schema-copy.ts';
import { checkSchema } from './schema-guards.ts';
import { resolveReferences, type ResolvedSchema } from './schema-references.ts';
import type { SchemaIssue } from './schema-issue.ts';
import type { SchemaSource, ValueOf } from './schema-source.ts';
import type { SchemaCheck, SchemaValidator } from './schema-validator.ts';
import { convertStandardSchema } from './standard-conversion.ts';
import { isStandardSchema, type StandardIssue, type StandardResult, type StandardSchema } from './standard-schema.ts';

/** A schema that was taken in: what is advertised, and the check of values. */
export interface CompiledSchema<Value = unknown> {
  /** JSON Schema, frozen to its depth. 2020-12, unless the author's own schema names another dialect. */
  readonly json: JsonObject;
  /**
   * Checks a value. The outcome of a Standard Schema holds what the schema made of the value (defaults,
   * transformations), that of a plain JSON Schema the value itself.
   *
   * A promise only if the schema is asynchronous, or for values that arrive before the built-in validator was loaded.
   * Throws, or rejects, only when code of the schema's author does.
   */
  validate(value: unknown): ValidationOutcome<Value> | Promise<ValidationOutcome<Value>>;
}

export interface CompiledInputSchema<Value = unknown> extends CompiledSchema<Value> {
  readonly json: ObjectSchema;
}

/** The checked value, or at most ten issues. */
export type ValidationOutcome<Value> = { readonly value: Value } | { readonly issues: readonly SchemaIssue[] };

export interface CompileOptions {
  /** Names the schema in errors, e.g. `tool "forecast" inputSchema`. */
  readonly where: string;
  /** Checks plain JSON Schemas. Default: the built-in validator. */
  readonly validator?: SchemaValidator | undefined;
}

/**
 * Takes in the schema of arguments: a Standard Schema that can describe itself (Zod 4, ArkType, Valibot through
 * `toStandardJsonSchema`) or a plain JSON Schema object. What cannot be expressed is refused, never advertised as `{}`.
 *
 * @throws TypeError when the schema does not describe an object, cannot be expressed as JSON Schema, or is not safe to
 * check with.
 *
 * @example
 * const schema = z.object({ city: z.string() });
 * const { json, validate } = compileInputSchema(schema, { where: 'tool "forecast" inputSchema' });
 */
export function compileInputSchema<Schema extends SchemaSource>(
  schema: Schema,
  options: CompileOptions,
): CompiledInputSchema<ValueOf<Schema>> {
  const taken = takeIn(schema, 'input', options.where);
  const json = withObjectRoot(taken.resolved, options.where);
  return { json, validate: makeValidate<ValueOf<Schema>>(taken.standard, json, options) };
}

/**
 * Takes in the schema of a structured result, which may describe any JSON value. Otherwise like {@link
 * compileInputSchema}; what is advertised is what a Standard Schema makes of a value, not what it takes.
 */
export function compileOutputSchema<Schema extends SchemaSource>(
  schema: Schema,
  options: CompileOptions,
): CompiledSchema<ValueOf<Schema>> {
  const taken = takeIn(schema, 'output', options.where);
  const json = taken.resolved.root;
  return { json, validate: makeValidate<ValueOf<Schema>>(taken.standard, json, options) };
}

interface TakenIn {
  readonly resolved: ResolvedSchema;
  /** Present when the schema validates itself. */
  readonly standard?: StandardSchema;
}

function takeIn(schema: unknown, direction: 'input' | 'output', where: string): TakenIn {
  if (!isStandardSchema(schema)) return { resolved: checkSchema(copySchema(schema, where), where) };
  const json = copySchema(convertStandardSchema(schema, direction, where), where);
  if (schema['~standard'].validate === undefined) return { resolved: checkSchema(json, where) };
  // it is only shown, never checked with, so that its patterns are no danger here
  return { resolved: resolveReferences(json, where), standard: schema };
}

function makeValidate<Value>(
  standard: StandardSchema | undefined,
  json: JsonObject,
  { where, validator }: CompileOptions,
): CompiledSchema<Value>['validate'] {
  const check = standard?.['~standard'].validate;
  // Standard Schema promises that the value has the declared type; this is the one place that believes it
  return check === undefined
    ? (validateJsonSchema(json, where, validator) as CompiledSchema<Value>['validate'])
    : (validateStandard(check) as CompiledSchema<Value>['validate']);
}

function validateStandard(check: NonNullable<StandardSchema['~standard']['validate']>): CompiledSchema['validate'] {
  return (value) => {
    const result = check(value);
    return result instanceof Promise ? result.then(standardOutcome) : standardOutcome(result);
  };
}

function standardOutcome(result: StandardResult<unknown>): ValidationOutcome<unknown> {
  if (result.issues !== undefined) return { issues: result.issues.slice(0, MAX_ISSUES).map(standardIssue) };
  // most results are an outcome as they are; Valibot's have an `issues` without a value
  return 'issues' in result ? { value: result.value } : result;
}

function standardIssue({ message, path }: StandardIssue): SchemaIssue {
  const keys = (path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment));
  return { path: keys.reduce<string>(childPointer, ''), message };
}

function validateJsonSchema(
  json: JsonObject,
  where: string,
  validator: SchemaValidator | undefined,
): CompiledSchema['validate'] {
  let check: SchemaCheck | undefined;
  const outcome = (checkValue: SchemaCheck, value: unknown): ValidationOutcome<unknown> => {
    const issues = checkValue(value);
    return issues.length === 0 ? { value } : { issues: issues.slice(0, MAX_ISSUES) };
  };
  const compileWith = (ready: SchemaValidator): SchemaCheck => {
    try {
      return (check ??= ready.compile(json));
    } catch (cause) {
      throw new TypeError(`${where} cannot be used by the validator: ${messageOf(cause)}`, { cause });
    }
  };

  const available = validator ?? builtInValidator();
  // when loading fails, the first validation tries again and says why
  if (available instanceof Promise) available.then(compileWith).catch(() => {});
  else compileWith(available);
  return (value) => {
    if (check !== undefined) return outcome(check, value);
    const now = builtInValidator();
    return now instanceof Promise
      ? now.then((ready) => outcome(compileWith(ready), value))
      : outcome(compileWith(now), value);
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
