export type { SchemaIssue } from './schema-issue.ts';
export type { ArgumentsOf, ResultOf, SchemaSource } from './schema-source.ts';
export type { SchemaCheck, SchemaValidator } from './schema-validator.ts';
export type {
  InferInput,
  InferOutput,
  StandardIssue,
  StandardJsonSchemaConverter,
  StandardJsonSchemaOptions,
  StandardResult,
  StandardSchema,
  StandardSchemaProperties,
} from './standard-schema.ts';
