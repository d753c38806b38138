import type { JsonObject, JsonValue } from '../protocol/json.ts';
import { childPointer } from './json-pointer.ts';
import { isStandardSchema } from './standard-schema.ts';

/** How deep a schema may nest; deeper ones would make the walks that follow recurse too far. */
const MAX_SCHEMA_DEPTH = 64;

/** How many arrays and objects a schema may hold. */
const MAX_SCHEMA_NODES = 10_000;

/**
 * A deeply frozen copy of a plain JSON Schema, so that what was checked and advertised cannot change afterwards. What
 * is frozen already keeps its identity, which lets caches by schema object work. Members that are `undefined` are left
 * out, as in JSON.
 *
 * @param where Names the schema in errors, e.g. `tool "forecast" inputSchema`.
 * @throws TypeError when `schema` is no JSON object, nests too deep or is too large.
 */
export function copySchema(schema: unknown, where: string): JsonObject {
  const budget = { nodes: MAX_SCHEMA_NODES };
  const copy = copyValue(schema, '', 0, where, budget);
  if (typeof copy !== 'object' || copy === null || isJsonArray(copy)) {
    throw new TypeError(`${where} must be a Standard Schema or a JSON Schema object, got ${kindOf(schema)}`);
  }
  return copy;
}

/** `Array.isArray` that narrows readonly JSON. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A JSON object, which includes neither `null` nor arrays. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isJsonArray(value);
}

/** The member of that name, if the object has it itself. */
export function ownMember(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function copyValue(
  value: unknown,
  pointer: string,
  depth: number,
  where: string,
  budget: { nodes: number },
): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isStandardSchema(value)) {
    const { vendor } = value['~standard'];
    throw new TypeError(
      `${at(where, pointer)} is a schema of "${vendor}" inside a plain object: wrap the object in that library's object schema, e.g. z.object({ … })`,
    );
  }
  if (typeof value !== 'object')
    throw new TypeError(`${at(where, pointer)} is ${kindOf(value)}, which JSON cannot carry`);
  if (depth >= MAX_SCHEMA_DEPTH)
    throw new TypeError(`${at(where, pointer)} nests deeper than ${MAX_SCHEMA_DEPTH} levels`);
  if (--budget.nodes < 0) throw new TypeError(`${where} holds more than ${MAX_SCHEMA_NODES} objects and arrays`);

  if (Array.isArray(value)) {
    const items = value.map((item, index) => copyValue(item, childPointer(pointer, index), depth + 1, where, budget));
    return Object.isFrozen(value) && items.every((item, index) => item === value[index]) ? value : Object.freeze(items);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new TypeError(`${at(where, pointer)} is ${kindOf(value)}, not a plain object`);
  }
  let unchanged = Object.isFrozen(value);
  const entries: [string, JsonValue][] = [];
  for (const [key, member] of Object.entries(value)) {
    const copied =
      member === undefined ? undefined : copyValue(member, childPointer(pointer, key), depth + 1, where, budget);
    if (copied !== undefined) entries.push([key, copied]);
    unchanged &&= copied === member && member !== undefined;
  }
  // fromEntries defines members, so that a key "__proto__" stays one
  return unchanged ? (value as JsonObject) : Object.freeze(Object.fromEntries(entries));
}

function at(where: string, pointer: string): string {
  return pointer === '' ? where : `${where} at ${pointer}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return 'a string';
  if (typeof value !== 'object') return `of type ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== 'Object' ? `an instance of ${name}` : 'an object';
}
