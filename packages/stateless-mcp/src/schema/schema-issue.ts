import type { JsonObject } from '../protocol/json.ts';
import { describeArguments } from './prompt-arguments.ts';

/** One reason why a value does not fit. */
export interface SchemaIssue {
  /** JSON Pointer into the value, e.g. `/items/0/price`; empty for the value itself. */
  readonly path: string;
  /** What is wrong and what was expected, in English. */
  readonly message: string;
}

const MAX_TEXT_LENGTH = 2_000;
const MAX_NAMES = 30;

/**
 * The issues as text that a model or a person can repair the value by: path and reason of each, then the properties
 * that the schema knows. At most 4,000 characters.
 *
 * @param schema The schema of the value, when the properties are to be named.
 *
 * @example
 * formatIssues([{ path: '/city', message: 'Required' }], schema);
 * // "/city: Required. Expected properties: city (required), days."
 */
export function formatIssues(issues: readonly SchemaIssue[], schema?: JsonObject): string {
  const reasons = issues
    .map(({ path, message }) => `${path === '' ? 'the value' : path}: ${message.replace(/\.$/, '')}`)
    .join('; ');
  const text = reasons.length > MAX_TEXT_LENGTH ? `${reasons.slice(0, MAX_TEXT_LENGTH)}…` : `${reasons}.`;
  const expected = schema === undefined ? [] : describeArguments(schema);
  if (expected.length === 0) return text;
  const names = expected.slice(0, MAX_NAMES).map(({ name, required }) => (required ? `${name} (required)` : name));
  if (expected.length > MAX_NAMES) names.push('…');
  return `${text} Expected properties: ${names.join(', ')}.`.slice(0, 2 * MAX_TEXT_LENGTH);
}
