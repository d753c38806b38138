/** Dialects that can be checked. Draft 6 differs from draft 7 only in what it lacks. */
export type SchemaDialect = '2020-12' | '2019-09' | '7' | '4';

export const DEFAULT_DIALECT: SchemaDialect = '2020-12';

const DIALECTS: ReadonlyMap<string, SchemaDialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['http://json-schema.org/draft-07/schema', '7'],
  ['https://json-schema.org/draft-07/schema', '7'],
  ['http://json-schema.org/draft-06/schema', '7'],
  ['https://json-schema.org/draft-06/schema', '7'],
  ['http://json-schema.org/draft-04/schema', '4'],
  ['https://json-schema.org/draft-04/schema', '4'],
]);

/** The dialect that a `$schema` value names, `undefined` when it cannot be checked here. */
export function dialectNamed(uri: string): SchemaDialect | undefined {
  return DIALECTS.get(uri.endsWith('#') ? uri.slice(0, -1) : uri);
}

/** What the value of a keyword must look like. */
export type KeywordShape =
  | 'schema'
  | 'schema list'
  | 'schema or schema list'
  | 'schemas by name'
  | 'schemas or names by name'
  | 'names by name'
  | 'unique names'
  | 'list'
  | 'text'
  | 'boolean'
  | 'number'
  | 'number or boolean'
  | 'positive number'
  | 'count'
  | 'type';

/** Every keyword that holds schemas or takes part in checking. Others are annotations and may hold anything. */
export const KEYWORD_SHAPES: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ['$schema', 'text'],
  ['$id', 'text'],
  ['$anchor', 'text'],
  ['$dynamicAnchor', 'text'],
  ['$ref', 'text'],
  ['$dynamicRef', 'text'],
  ['$recursiveRef', 'text'],
  ['$recursiveAnchor', 'boolean'],
  ['$defs', 'schemas by name'],
  ['definitions', 'schemas by name'],
  ['title', 'text'],
  ['description', 'text'],
  ['type', 'type'],
  ['enum', 'list'],
  ['allOf', 'schema list'],
  ['anyOf', 'schema list'],
  ['oneOf', 'schema list'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['properties', 'schemas by name'],
  ['patternProperties', 'schemas by name'],
  ['additionalProperties', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['dependentSchemas', 'schemas by name'],
  ['dependentRequired', 'names by name'],
  ['dependencies', 'schemas or names by name'],
  ['required', 'unique names'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['prefixItems', 'schema list'],
  ['items', 'schema or schema list'],
  ['additionalItems', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['contains', 'schema'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number or boolean'],
  ['exclusiveMaximum', 'number or boolean'],
  ['multipleOf', 'positive number'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['pattern', 'text'],
  ['format', 'text'],
]);

/** Keywords whose schemas are applied to the same value, not to a part of it. */
export const SAME_VALUE_KEYWORDS: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);
