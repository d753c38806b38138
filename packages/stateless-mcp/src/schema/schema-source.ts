import type { InferInput, InferOutput, StandardSchema } from './standard-schema.ts';

/**
 * What a schema may be given as: a Standard Schema that can describe itself (Zod 4, ArkType, Valibot through
 * `toStandardJsonSchema`), or a plain JSON Schema object. Everything else is refused when it is registered.
 */
export type SchemaSource = StandardSchema | object;

/** A value that was checked: what a Standard Schema makes of it, unknown under a JSON Schema. */
export type ValueOf<Source> = Source extends StandardSchema ? InferOutput<Source> : unknown;

/** Checked arguments, as a handler sees them. */
export type ArgumentsOf<Source> = Source extends StandardSchema
  ? InferOutput<Source>
  : { readonly [name: string]: unknown };

/** What a handler returns to be checked: before defaults and transformations of the schema. */
export type ResultOf<Source> = Source extends StandardSchema ? InferInput<Source> : unknown;
