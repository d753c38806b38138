/**
 * The structural part of Standard Schema v1 and Standard JSON Schema v1 (https://standardschema.dev) that is used here,
 * declared by hand so that our declarations need no other package. Zod 4, ArkType and wrapped Valibot schemas fit.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaProperties<Input, Output>;
}

export interface StandardSchemaProperties<Input, Output> {
  readonly version: 1;
  /** Name of the library that made the schema. */
  readonly vendor: string;
  /** Exists for the type checker only. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  /** Absent on schemas that only describe: those are checked as JSON Schema. */
  readonly validate?: ((value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>) | undefined;
  /** Absent on Zod 3 and on plain Valibot schemas, which therefore cannot be advertised. */
  readonly jsonSchema?: StandardJsonSchemaConverter | undefined;
}

export interface StandardJsonSchemaConverter {
  /** JSON Schema of what the schema takes. Throws for what JSON Schema cannot express. */
  readonly input: (options: StandardJsonSchemaOptions) => Record<string, unknown>;
  /** JSON Schema of what the schema makes of it. Throws for what JSON Schema cannot express. */
  readonly output: (options: StandardJsonSchemaOptions) => Record<string, unknown>;
}

export interface StandardJsonSchemaOptions {
  /** Dialect: `draft-2020-12`, `draft-07`, or another one that the library knows. */
  readonly target: 'draft-2020-12' | 'draft-07' | 'openapi-3.0' | ({} & string);
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

/** Success or failure; `issues` decides, because a failure may carry a `value` too. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a caller passes in. */
export type InferInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];

/** What the schema makes of it: the type that a handler sees. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Whether `value` is a Standard Schema of version 1. Some libraries make them as functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function') || !('~standard' in value))
    return false;
  const properties = value['~standard'];
  return typeof properties === 'object' && properties !== null && 'version' in properties && properties.version === 1;
}
