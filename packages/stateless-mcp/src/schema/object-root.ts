import type { JsonObject, JsonValue } from '../protocol/json.ts';
import { isJsonArray, isJsonObject, ownMember } from './schema-copy.ts';
import type { ResolvedSchema } from './schema-references.ts';

/** A schema that says itself that it describes objects, as `inputSchema` must. */
export type ObjectSchema = JsonObject & { readonly type: 'object' };

/**
 * Makes sure that a schema describes objects and says so at its root. A composition of objects only (a discriminated
 * union, an intersection, a reference) is kept and gets the `type` that it implies.
 *
 * @throws TypeError when anything else would be advertised, such as `{}`.
 */
export function withObjectRoot(resolved: ResolvedSchema, where: string): ObjectSchema {
  const { root } = resolved;
  if (hasObjectType(root)) return root;
  if (Object.hasOwn(root, 'type') || !describesObject(root, resolved, new Set())) {
    const text = JSON.stringify(root);
    throw new TypeError(
      `${where} would be advertised as ${text.length > 200 ? `${text.slice(0, 200)}…` : text}, ` +
        'but arguments are an object: the root must have "type": "object", or be a union or intersection of objects',
    );
  }
  return Object.freeze({ type: 'object', ...root });
}

function hasObjectType(schema: JsonObject): schema is ObjectSchema {
  return ownMember(schema, 'type') === 'object';
}

function describesObject(schema: JsonValue | undefined, resolved: ResolvedSchema, seen: Set<JsonObject>): boolean {
  if (!isJsonObject(schema) || seen.has(schema)) return false;
  if (hasObjectType(schema)) return true;
  if (Object.hasOwn(schema, 'type')) return false;
  const inside = new Set(seen).add(schema);
  const describes = (part: JsonValue): boolean => describesObject(part, resolved, inside);
  if (resolved.targets.get(schema)?.some((target) => describes(target.schema)) === true) return true;
  const allOf = ownMember(schema, 'allOf');
  if (isJsonArray(allOf) && allOf.some(describes)) return true;
  return ['oneOf', 'anyOf'].some((keyword) => {
    const branches = ownMember(schema, keyword);
    return isJsonArray(branches) && branches.length > 0 && branches.every(describes);
  });
}
