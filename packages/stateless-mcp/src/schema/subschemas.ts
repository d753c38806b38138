import type { JsonObject, JsonValue } from '../protocol/json.ts';
import { childPointer } from './json-pointer.ts';
import { isJsonArray, isJsonObject } from './schema-copy.ts';
import { KEYWORD_SHAPES } from './schema-keywords.ts';

/** A schema directly inside another one. */
export interface Subschema {
  /** The keyword of the outer schema that holds it. */
  readonly keyword: string;
  /** Position below the outer schema, e.g. `/properties/city`. */
  readonly pointer: string;
  readonly schema: JsonObject | boolean;
}

/** The schemas directly inside a schema. Data (`const`, `default`, `examples`) and unknown keywords hold none. */
export function subschemas(schema: JsonObject): readonly Subschema[] {
  const found: Subschema[] = [];
  const add = (keyword: string, pointer: string, value: JsonValue | undefined): void => {
    if (typeof value === 'boolean' || isJsonObject(value)) found.push({ keyword, pointer, schema: value });
  };
  for (const [keyword, value] of Object.entries(schema)) {
    const pointer = childPointer('', keyword);
    switch (KEYWORD_SHAPES.get(keyword)) {
      case 'schema':
        add(keyword, pointer, value);
        break;
      case 'schema list':
      case 'schema or schema list':
        if (isJsonArray(value)) value.forEach((item, index) => add(keyword, childPointer(pointer, index), item));
        else add(keyword, pointer, value);
        break;
      case 'schemas by name':
      case 'schemas or names by name':
        if (isJsonObject(value)) {
          for (const [name, member] of Object.entries(value)) add(keyword, childPointer(pointer, name), member);
        }
        break;
    }
  }
  return found;
}
