import type { JsonObject, JsonValue } from '../protocol/json.ts';
import { pointerKeys } from './json-pointer.ts';
import { isJsonArray, isJsonObject, ownMember } from './schema-copy.ts';
import { DEFAULT_DIALECT, dialectNamed, type SchemaDialect } from './schema-keywords.ts';
import { subschemas } from './subschemas.ts';

/** A schema whose references were all found inside it. */
export interface ResolvedSchema {
  readonly root: JsonObject;
  readonly dialect: SchemaDialect;
  /** Every schema that is part of it, by position. A position reached only by a reference counts too. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
  /** What the references of a schema stand for. */
  readonly targets: ReadonlyMap<JsonObject, readonly ReferenceTarget[]>;
}

export interface ReferenceTarget {
  readonly keyword: '$ref' | '$dynamicRef' | '$recursiveRef';
  readonly schema: JsonObject | boolean;
}

interface PendingReference {
  readonly from: JsonObject;
  readonly pointer: string;
  readonly keyword: ReferenceTarget['keyword'];
  readonly reference: string;
  readonly base: string;
}

// Relative references need a base; nothing is ever fetched from it, and no author can own it.
const DOCUMENT_BASE = 'https://schema.invalid/';

const REFERENCE_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/**
 * Finds the target of every reference: JSON Pointers, `$id`, `$anchor`, `$dynamicAnchor` and their older forms. Targets
 * must be inside the schema, nothing is fetched. A dynamic reference is accepted when its anchor exists once, because
 * then it means the same as a static one.
 *
 * @param where Names the schema in errors.
 * @throws TypeError for a dialect that cannot be checked and for a reference without a target, naming its position.
 */
export function resolveReferences(root: JsonObject, where: string): ResolvedSchema {
  const dialect = dialectOf(root, where, '');
  const schemas = new Map<string, JsonObject>();
  const resources = new Map<string, { readonly schema: JsonObject; readonly pointer: string }>();
  const anchors = new Map<string, JsonObject>();
  const dynamicAnchors = new Map<string, number>();
  const pending: PendingReference[] = [];
  const targets = new Map<JsonObject, ReferenceTarget[]>();

  const register = <Value>(table: Map<string, Value>, uri: string, value: Value, pointer: string): void => {
    if (table.has(uri))
      throw new TypeError(`${where} at ${pointer || '/'} reuses the identifier "${uri.replace(DOCUMENT_BASE, '')}"`);
    table.set(uri, value);
  };

  const visit = (schema: JsonObject, pointer: string, outerBase: string): void => {
    if (schemas.has(pointer)) return;
    schemas.set(pointer, schema);
    if (pointer !== '' && dialectOf(schema, where, pointer, dialect) !== dialect) {
      throw new TypeError(`${where} at ${pointer}/$schema changes the dialect: one schema has one dialect`);
    }
    // in older drafts the siblings of a reference mean nothing
    const onlyRef = (dialect === '7' || dialect === '4') && Object.hasOwn(schema, '$ref');
    let base = outerBase;
    const id = onlyRef ? undefined : ownMember(schema, dialect === '4' ? 'id' : '$id');
    if (typeof id === 'string') {
      const uri = parseReference(id, outerBase);
      if (uri === undefined) throw new TypeError(`${where} at ${pointer}/$id is not a URI reference: "${id}"`);
      if (uri.fragment !== '') register(anchors, `${uri.resource}#${uri.fragment}`, schema, pointer);
      else if (pointer !== '' || uri.resource !== outerBase) {
        base = uri.resource;
        register(resources, base, { schema, pointer }, pointer);
      }
    }
    const anchor = ownMember(schema, '$anchor');
    if (typeof anchor === 'string') register(anchors, `${base}#${anchor}`, schema, pointer);
    const dynamicAnchor = ownMember(schema, '$dynamicAnchor');
    if (typeof dynamicAnchor === 'string') {
      register(anchors, `${base}#${dynamicAnchor}`, schema, pointer);
      dynamicAnchors.set(dynamicAnchor, (dynamicAnchors.get(dynamicAnchor) ?? 0) + 1);
    }
    for (const keyword of REFERENCE_KEYWORDS) {
      const reference = ownMember(schema, keyword);
      if (typeof reference === 'string') pending.push({ from: schema, pointer, keyword, reference, base });
    }
    for (const child of subschemas(schema)) {
      if (typeof child.schema !== 'boolean') visit(child.schema, pointer + child.pointer, base);
    }
  };

  const resolve = ({ pointer, keyword, reference, base }: PendingReference): JsonObject | boolean => {
    const fail = (reason: string): never => {
      throw new TypeError(`${where} at ${pointer}/${keyword} ${reason}: "${reference}"`);
    };
    const uri = parseReference(reference, base);
    if (uri === undefined) return fail('is not a URI reference');
    const resource = resources.get(uri.resource);
    if (resource === undefined) {
      return fail('points outside of the schema. References are never fetched: put the target under $defs');
    }
    if (uri.fragment === '') return resource.schema;
    if (!uri.fragment.startsWith('/')) {
      if (keyword === '$dynamicRef' && (dynamicAnchors.get(uri.fragment) ?? 0) > 1) {
        return fail('is dynamic among several anchors of that name, which is not supported. Use $ref');
      }
      return anchors.get(`${uri.resource}#${uri.fragment}`) ?? fail('names an anchor that does not exist');
    }
    let target: JsonValue | undefined = resource.schema;
    for (const key of pointerKeys(uri.fragment)) {
      if (isJsonArray(target)) target = /^(?:0|[1-9]\d*)$/.test(key) ? target[Number(key)] : undefined;
      else target = isJsonObject(target) ? ownMember(target, key) : undefined;
    }
    if (typeof target === 'boolean') return target;
    if (!isJsonObject(target)) return fail('has no target');
    // a place that no keyword makes a schema becomes one by being referred to
    visit(target, resource.pointer + uri.fragment, uri.resource);
    return target;
  };

  resources.set(DOCUMENT_BASE, { schema: root, pointer: '' });
  visit(root, '', DOCUMENT_BASE);
  const recursiveAnchors = [...schemas.values()].filter(
    (schema) => ownMember(schema, '$recursiveAnchor') === true,
  ).length;
  for (const reference of pending) {
    if (reference.keyword === '$recursiveRef' && recursiveAnchors > 1) {
      throw new TypeError(
        `${where} at ${reference.pointer}/$recursiveRef has several recursive anchors to choose from, which is not supported`,
      );
    }
    const found = targets.get(reference.from) ?? [];
    const target = { keyword: reference.keyword, schema: resolve(reference) };
    // one frozen object may stand at several positions
    if (!found.some(({ keyword }) => keyword === target.keyword)) found.push(target);
    targets.set(reference.from, found);
  }
  return { root, dialect, schemas, targets };
}

function dialectOf(schema: JsonObject, where: string, pointer: string, otherwise = DEFAULT_DIALECT): SchemaDialect {
  const uri = ownMember(schema, '$schema');
  if (typeof uri !== 'string') return otherwise;
  const dialect = dialectNamed(uri);
  if (dialect === undefined) {
    throw new TypeError(
      `${where} at ${pointer}/$schema names a dialect that is not supported: "${uri}". Use JSON Schema 2020-12 (also: 2019-09, drafts 7, 6, 4)`,
    );
  }
  return dialect;
}

function parseReference(
  reference: string,
  base: string,
): { readonly resource: string; readonly fragment: string } | undefined {
  try {
    const url = new URL(reference, base);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = '';
    return { resource: url.href, fragment };
  } catch {
    return undefined;
  }
}
