import type { JsonObject } from '../protocol/json.ts';
import { isJsonArray, isJsonObject, ownMember } from './schema-copy.ts';

/** One argument of a prompt, as `prompts/list` shows it. */
export interface ArgumentDescription {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
}

/** The arguments that an object schema describes: its own `properties`, in their order. */
export function describeArguments(schema: JsonObject): readonly ArgumentDescription[] {
  const properties = ownMember(schema, 'properties');
  if (!isJsonObject(properties)) return [];
  const required = ownMember(schema, 'required');
  const requiredNames = new Set(isJsonArray(required) ? required : []);
  return Object.entries(properties).map(([name, property]) => {
    const title = isJsonObject(property) ? ownMember(property, 'title') : undefined;
    const description = isJsonObject(property) ? ownMember(property, 'description') : undefined;
    return {
      name,
      ...(typeof title === 'string' && { title }),
      ...(typeof description === 'string' && { description }),
      required: requiredNames.has(name),
    };
  });
}
