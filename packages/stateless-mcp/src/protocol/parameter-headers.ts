/**
 * Tool parameters that are mirrored into `Mcp-Param-*` headers because their schema says `x-mcp-header`: finding them in
 * a definition, writing the headers of a call, and checking those of a received one.
 *
 * Specification: basic/transports/streamable-http, "Custom Headers from Tool Parameters".
 */
import { excerpt } from './excerpt.ts';
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts';
import { isObject } from './json.ts';
import { isContainer } from './json-depth.ts';

/** One mirrored parameter of a tool. */
export interface ParameterHeader {
  /** The header in lower case, for look-ups: `mcp-param-region`. */
  readonly header: string;
  /** The annotation as the definition spells it: `Region`. */
  readonly name: string;
  /** Property names from the arguments to the value: `['target', 'region']`. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

const ANNOTATION = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Integers as JSON writes them, with `.0` allowed. No sign but minus, no leading zero, no exponent, no fraction that
// `Number` would round away.
const INTEGER = /^-?(?:0|[1-9][0-9]*)(?:\.0+)?$/;

// Arguments nest no deeper than a message may, so a deeper definition could not be called.
const MAX_SCHEMA_DEPTH = 128;
const MAX_SCHEMAS = 100_000;

// Where JSON Schema (drafts 4 to 2020-12) keeps schemas. Everything else is data: an `x-mcp-header` in a `default`, an
// `enum` or an unknown keyword annotates nothing.
const SUBSCHEMAS: ReadonlyMap<string, 'direct' | 'named'> = new Map([
  ...[
    'additionalItems',
    'additionalProperties',
    'allOf',
    'anyOf',
    'contains',
    'contentSchema',
    'else',
    'if',
    'items',
    'not',
    'oneOf',
    'prefixItems',
    'propertyNames',
    'then',
    'unevaluatedItems',
    'unevaluatedProperties',
  ].map((keyword) => [keyword, 'direct'] as const),
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'].map(
    (keyword) => [keyword, 'named'] as const,
  ),
]);

interface Visit {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly pointer: string;
  readonly depth: number;
  /** `undefined` once the way from the root took anything but `properties`. */
  readonly path: readonly string[] | undefined;
}

/**
 * Finds the mirrored parameters of a tool, or the first reason why its definition is invalid. A server refuses to register
 * such a tool; an HTTP client leaves it out of the list and warns.
 *
 * An annotation needs an own `type` of `string`, `integer` or `boolean`. `['string', 'null']` counts as `string`: null
 * is a value that mirrors as no header. Two mirrored types do not, as they would compare by different rules.
 *
 * @example
 * compileParameterHeaders({ type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } });
 * // { headers: [{ header: 'mcp-param-region', name: 'Region', path: ['region'], type: 'string' }] }
 */
export function compileParameterHeaders(
  inputSchema: object,
): { readonly headers: readonly ParameterHeader[] } | { readonly problem: string } {
  const found = new Map<string, ParameterHeader>();
  const visits: Visit[] = [];
  if (isObject(inputSchema)) visits.push({ schema: inputSchema, pointer: '#', depth: 0, path: [] });
  for (const visit of visits) {
    const annotated = readAnnotation(visit);
    if (typeof annotated === 'string') return { problem: annotated };
    if (annotated !== undefined) {
      const { header, name } = annotated;
      if (found.has(header)) {
        return {
          problem: `${ANNOTATION} ${quote(name)} at ${excerpt(visit.pointer)} is used twice (case does not count)`,
        };
      }
      found.set(header, annotated);
    }
    const subschemas = listSubschemas(visit);
    if (subschemas.length > 0 && visit.depth === MAX_SCHEMA_DEPTH) {
      return { problem: `inputSchema nests more than ${MAX_SCHEMA_DEPTH} schemas, at ${excerpt(visit.pointer)}` };
    }
    if (visits.length + subschemas.length > MAX_SCHEMAS) {
      return { problem: `inputSchema holds more than ${MAX_SCHEMAS} schemas` };
    }
    for (const subschema of subschemas) visits.push(subschema);
  }
  return { headers: [...found.values()] };
}

function readAnnotation({ schema, pointer, path }: Visit): ParameterHeader | string | undefined {
  const name = ownValue(schema, ANNOTATION);
  if (name === undefined) return undefined;
  if (path === undefined || path.length === 0) {
    return `${ANNOTATION} at ${excerpt(pointer)} is not on a property that is reached through "properties" alone`;
  }
  if (typeof name !== 'string' || !TOKEN.test(name)) {
    return `${ANNOTATION} ${quote(name)} at ${excerpt(pointer)} is not an HTTP token`;
  }
  const type = mirroredType(ownValue(schema, 'type'));
  if (type === undefined) {
    return `${ANNOTATION} ${quote(name)} at ${excerpt(pointer)} needs the type string, integer or boolean`;
  }
  return { header: `mcp-param-${name.toLowerCase()}`, name, path, type };
}

function mirroredType(type: unknown): ParameterHeader['type'] | undefined {
  const candidates: readonly unknown[] = Array.isArray(type) ? type.filter((member) => member !== 'null') : [type];
  const [only] = candidates;
  const isMirroredType = only === 'string' || only === 'integer' || only === 'boolean';
  return candidates.length === 1 && isMirroredType ? only : undefined;
}

function listSubschemas({ schema, pointer, depth, path }: Visit): Visit[] {
  const visits: Visit[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const kind = SUBSCHEMAS.get(keyword);
    if (kind === undefined || !isContainer(value)) continue;
    const at = `${pointer}/${keyword}`;
    if (kind === 'direct' && !Array.isArray(value)) {
      visits.push({ schema: value, pointer: at, depth: depth + 1, path: undefined });
      continue;
    }
    for (const [key, child] of Object.entries(value)) {
      if (!isObject(child)) continue;
      const childPath = keyword === 'properties' && path !== undefined ? [...path, key] : undefined;
      visits.push({ schema: child, pointer: `${at}/${key}`, depth: depth + 1, path: childPath });
    }
  }
  return visits;
}

/**
 * Compares the mirrored headers of a call with its arguments. `undefined` if they agree; otherwise a message for a
 * HeaderMismatch error that says which header, what the arguments ask for and what came.
 *
 * A value must have its header, and a null or absent one must have none. Strings are equal after decoding, integers
 * by their number (`42.0` is `42`). Values are mirrored by the type they have, so that one of the wrong type passes here
 * with its header and is refused by the schema, with a better message. One that no header can carry (array, object,
 * integer beyond the safe range) is a mismatch. Headers that the tool does not name are not looked at.
 *
 * @param read the received field value by lower-case name; null or undefined if absent (empty is not absent)
 */
export function checkParameterHeaders(
  headers: readonly ParameterHeader[],
  toolArguments: Readonly<Record<string, unknown>> | undefined,
  read: (header: string) => string | null | undefined,
): string | undefined {
  for (const parameter of headers) {
    const expected = readArgument(toolArguments, parameter.path);
    const raw = read(parameter.header) ?? undefined;
    if (expected === undefined && raw === undefined) continue;
    const received = raw === undefined ? undefined : decodeHeaderValue(raw);
    if (received !== undefined && isMirrored(expected, received)) continue;
    return explainMismatch(parameter, expected, raw, received);
  }
  return undefined;
}

/**
 * The mirrored headers of a call, encoded: `[['mcp-param-region', 'us-west1']]`. A null or absent value has none,
 * and neither has one that no header can carry; the server refuses that call.
 */
export function parameterHeaderValues(
  headers: readonly ParameterHeader[],
  toolArguments: Readonly<Record<string, unknown>> | undefined,
): readonly (readonly [string, string])[] {
  const values: (readonly [string, string])[] = [];
  for (const { header, path } of headers) {
    const value = readArgument(toolArguments, path);
    if (isMirrorable(value)) values.push([header, encodeHeaderValue(String(value))]);
  }
  return values;
}

/** The value at the exact path, through own properties of objects only; null counts as absent. */
function readArgument(toolArguments: Readonly<Record<string, unknown>> | undefined, path: readonly string[]): unknown {
  let value: unknown = toolArguments;
  for (const key of path) {
    if (!isObject(value)) return undefined;
    value = ownValue(value, key);
  }
  return value ?? undefined;
}

function isMirrorable(value: unknown): value is string | number | boolean {
  if (typeof value === 'number')
    return Number.isFinite(value) && Number.isInteger(value) === Number.isSafeInteger(value);
  return typeof value === 'string' || typeof value === 'boolean';
}

function isMirrored(value: unknown, received: string): boolean {
  if (Number.isSafeInteger(value)) return INTEGER.test(received) && Number(received) === value;
  return isMirrorable(value) && received === String(value);
}

function explainMismatch(
  { name, path }: ParameterHeader,
  expected: unknown,
  raw: string | undefined,
  received: string | undefined,
): string {
  const header = `Mcp-Param-${excerpt(name)}`;
  const argument = `arguments.${excerpt(path.join('.'))}`;
  const wanted =
    expected === undefined
      ? `no header, as ${argument} is null or absent`
      : isMirrorable(expected)
        ? `${quote(expected)} as in ${argument}`
        : `${argument} to be a string, boolean or safe integer`;
  const got =
    raw === undefined ? 'no header' : received === undefined ? `the invalid value ${quote(raw)}` : quote(received);
  return `Header mismatch: ${header}: expected ${wanted}, got ${got}`;
}

function quote(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(excerpt(value)) : isContainer(value) ? 'an object' : String(value);
}

/** Own properties only: a parameter may be called `constructor`. */
function ownValue(target: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(target, key) ? target[key] : undefined;
}
