/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];

/** A JSON object: capability settings, provider metadata and other members whose shape this protocol leaves open. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Whether a value is an object in the sense of JSON: neither `null` nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
