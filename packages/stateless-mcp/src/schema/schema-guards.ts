import type { JsonObject, JsonValue } from '../protocol/json.ts';
import { childPointer } from './json-pointer.ts';
import { assessPattern } from './pattern-cost.ts';
import { isJsonArray, isJsonObject, ownMember } from './schema-copy.ts';
import { KEYWORD_SHAPES, SAME_VALUE_KEYWORDS, type KeywordShape, type SchemaDialect } from './schema-keywords.ts';
import { resolveReferences, type ResolvedSchema } from './schema-references.ts';
import { subschemas } from './subschemas.ts';

/** How many schemas may be applied to one value one inside the other, references included. */
const MAX_SAME_VALUE_DEPTH = 64;

/** Property names may be this long when they are tested against patterns. */
export const MAX_PATTERN_NAME_LENGTH = 256;

const TYPE_NAMES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const TYPES: ReadonlySet<JsonValue> = new Set(TYPE_NAMES);
const LONE_SURROGATE = /\p{Surrogate}/u;

const checked = new WeakMap<JsonObject, ResolvedSchema>();

/**
 * Checks a schema that is to check values: a known dialect, keywords of the right shape, references that resolve
 * inside, an end to every recursion, no pattern that can take exponential time. The same rules for own and for foreign
 * schemas, because the values they check come from a peer either way.
 *
 * @param where Names the schema in errors.
 * @throws TypeError that names the position and the reason.
 */
export function checkSchema(schema: JsonObject, where: string): ResolvedSchema {
  const known = checked.get(schema);
  if (known !== undefined) return known;
  const resolved = resolveReferences(schema, where);
  for (const [pointer, part] of resolved.schemas) checkKeywords(part, pointer, resolved.dialect, where);
  checkRecursion(resolved, where);
  checked.set(schema, resolved);
  return resolved;
}

function checkKeywords(schema: JsonObject, pointer: string, dialect: SchemaDialect, where: string): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = KEYWORD_SHAPES.get(keyword);
    const problem = shape === undefined ? undefined : shapeProblem(shape, value, dialect);
    if (problem !== undefined) throw new TypeError(`${where} at ${childPointer(pointer, keyword)} must be ${problem}`);
  }
  const pattern = ownMember(schema, 'pattern');
  if (typeof pattern === 'string') checkPattern(pattern, `${where} at ${pointer}/pattern`, 0);
  const named = ownMember(schema, 'patternProperties');
  if (!isJsonObject(named)) return;
  for (const name of Object.keys(named)) {
    checkPattern(name, `${where} at ${childPointer(`${pointer}/patternProperties`, name)}`, MAX_PATTERN_NAME_LENGTH);
  }
}

function checkPattern(pattern: string, at: string, neededLength: number): void {
  const cost = assessPattern(pattern);
  if (typeof cost === 'string') throw new TypeError(`${at}: the pattern ${cost}`);
  if (cost.maxLength < neededLength) throw new TypeError(`${at}: the pattern can be matched in too many ways`);
}

/** What the value should have been, `undefined` when it is right. */
function shapeProblem(shape: KeywordShape, value: JsonValue, dialect: SchemaDialect): string | undefined {
  switch (shape) {
    case 'schema':
      return isSchema(value) ? undefined : 'a schema';
    case 'schema list':
      return isJsonArray(value) && value.length > 0 && value.every(isSchema)
        ? undefined
        : 'an array of at least one schema';
    case 'schema or schema list':
      if (isSchema(value)) return undefined;
      if (dialect === '2020-12') return 'a schema (tuples are "prefixItems" in JSON Schema 2020-12)';
      return isJsonArray(value) && value.every(isSchema) ? undefined : 'a schema or an array of schemas';
    case 'schemas by name':
      return isNameTable(value, isSchema) ? undefined : 'an object whose members are schemas';
    case 'schemas or names by name':
      return isNameTable(value, (member) => isSchema(member) || isNames(member))
        ? undefined
        : 'an object whose members are schemas or arrays of names';
    case 'names by name':
      return isNameTable(value, isNames) ? undefined : 'an object whose members are arrays of names';
    case 'unique names':
      return isNames(value) ? undefined : 'an array of different property names';
    case 'list':
      return isJsonArray(value) ? undefined : 'an array';
    case 'text':
      return typeof value === 'string' ? undefined : 'a string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'number':
      return typeof value === 'number' ? undefined : 'a number';
    case 'number or boolean':
      return typeof value === (dialect === '4' ? 'boolean' : 'number')
        ? undefined
        : dialect === '4'
          ? 'true or false'
          : 'a number';
    case 'positive number':
      return typeof value === 'number' && value > 0 ? undefined : 'a number above 0';
    case 'count':
      return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'an integer of 0 or more';
    case 'type':
      if (TYPES.has(value)) return undefined;
      return isJsonArray(value) && value.length > 0 && value.every((type) => TYPES.has(type))
        ? undefined
        : `one or several of ${TYPE_NAMES.join(', ')}`;
  }
}

function isSchema(value: JsonValue): boolean {
  return typeof value === 'boolean' || isJsonObject(value);
}

function isNames(value: JsonValue): boolean {
  return isJsonArray(value) && value.every((name) => typeof name === 'string') && new Set(value).size === value.length;
}

function isNameTable(value: JsonValue, isMember: (member: JsonValue) => boolean): boolean {
  // a lone surrogate has no place in a pointer, so that no issue could name it
  return (
    isJsonObject(value) &&
    Object.entries(value).every(([name, member]) => !LONE_SURROGATE.test(name) && isMember(member))
  );
}

/** Refuses what would apply itself to the same value forever, or too deep for the stack. */
function checkRecursion({ schemas, targets }: ResolvedSchema, where: string): void {
  const open = new Set<JsonObject>();
  const depths = new Map<JsonObject, number>();

  /** How many schemas are applied to the same value, one inside the other, from this one on. */
  const depthOf = (schema: JsonObject, pointer: string): number => {
    const known = depths.get(schema);
    if (known !== undefined) return known;
    if (open.has(schema))
      throw new TypeError(`${where} at ${pointer || '/'} refers to itself without going into the value`);
    if (open.size >= MAX_SAME_VALUE_DEPTH) {
      throw new TypeError(
        `${where} at ${pointer || '/'} applies more than ${MAX_SAME_VALUE_DEPTH} schemas to one value, one inside the other`,
      );
    }
    open.add(schema);
    let deepest = 0;
    for (const target of targets.get(schema) ?? []) {
      if (typeof target.schema !== 'boolean') deepest = Math.max(deepest, depthOf(target.schema, pointer));
    }
    for (const child of subschemas(schema)) {
      if (typeof child.schema === 'boolean' || !SAME_VALUE_KEYWORDS.has(child.keyword)) continue;
      deepest = Math.max(deepest, depthOf(child.schema, pointer));
    }
    open.delete(schema);
    const depth = deepest + 1;
    if (depth > MAX_SAME_VALUE_DEPTH) {
      throw new TypeError(
        `${where} at ${pointer || '/'} applies more than ${MAX_SAME_VALUE_DEPTH} schemas to one value, one inside the other`,
      );
    }
    depths.set(schema, depth);
    return depth;
  };
  for (const [pointer, schema] of schemas) depthOf(schema, pointer);
}
