import type { JsonObject } from '../protocol/json.ts';
import type { SchemaIssue } from './schema-issue.ts';

/** The issues of a value; empty when it fits. */
export type SchemaCheck = (value: unknown) => readonly SchemaIssue[];

/**
 * Checks values against plain JSON Schemas. The built-in one generates no code, bounds its work and so runs everywhere
 * and on schemas of strangers; another one is worth its weight for large data under schemas that you trust. Not used
 * for Standard Schemas that validate themselves.
 *
 * Every schema was taken in before `compile` sees it: frozen JSON, its references resolve inside it, no dangerous
 * pattern.
 *
 * @example
 * import { Ajv2020 } from 'ajv/dist/2020.js';
 *
 * const ajv = new Ajv2020({ allErrors: true, ownProperties: true });
 * const validator: SchemaValidator = {
 *   compile(schema) {
 *     const check = ajv.compile(schema);
 *     return (value) => {
 *       if (check(value)) return [];
 *       return check.errors!.map(({ instancePath, message = '' }) => ({ path: instancePath, message }));
 *     };
 *   },
 * };
 */
export interface SchemaValidator {
  /** Called once for each schema, when it is registered. Throws when the schema cannot be used. */
  compile(schema: JsonObject): SchemaCheck;
}
