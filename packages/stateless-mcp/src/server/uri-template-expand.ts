import {
  encodeReserved,
  prefixOf,
  type OperatorRules,
  type TemplatePart,
  type TemplateVariable,
} from './uri-template-syntax.ts';

/** A value to expand: a string, a list, or an associative array in the order of its keys. */
export type UriTemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

/** RFC 6570 section 3. Throws TypeError naming the variable whose value cannot be written. */
export function expandParts(
  parts: readonly TemplatePart[],
  values: Readonly<Record<string, UriTemplateValue | undefined>>,
): string {
  let uri = '';
  for (const part of parts) {
    if ('literal' in part) {
      uri += part.literal;
      continue;
    }
    const { rules } = part;
    const pieces = part.variables.flatMap((variable) => {
      const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
      return value === undefined ? [] : expandVariable(rules, variable, value);
    });
    if (pieces.length > 0) uri += rules.first + pieces.join(rules.separator);
  }
  return uri;
}

/** What the expression's separator goes between; nothing for a value that RFC 6570 calls undefined. */
function expandVariable(rules: OperatorRules, variable: TemplateVariable, value: UriTemplateValue): string[] {
  const { name, explode, prefixLength } = variable;
  const encode = (text: unknown): string => encodeValue(name, text, rules.reserved);
  const pair = (key: string, encoded: string): string => key + (encoded === '' ? rules.ifEmpty : `=${encoded}`);
  const whole = (encoded: string): string[] => [rules.named ? pair(name, encoded) : encoded];

  if (typeof value === 'string') {
    return whole(encode(prefixLength === undefined ? value : prefixOf(value, prefixLength)));
  }
  if (typeof value !== 'object' || value === null) return whole(encode(value));
  if (prefixLength !== undefined) {
    throw new TypeError(`URI variable "${name}" has a prefix (":${prefixLength}"): its value must be a string`);
  }
  if (isList(value)) {
    const items = value.map(encode);
    if (explode) return rules.named ? items.map((item) => pair(name, item)) : items;
    return items.length === 0 ? [] : whole(items.join(','));
  }
  const entries = Object.entries(value).map(([key, item]) => [encode(key), encode(item)] as const);
  if (explode) return entries.map(([key, item]) => (rules.named ? pair(key, item) : `${key}=${item}`));
  return entries.length === 0 ? [] : whole(entries.flat().join(','));
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}

function encodeValue(name: string, text: unknown, reserved: boolean): string {
  if (typeof text !== 'string') throw new TypeError(`URI variable "${name}" must hold strings, found ${typeof text}`);
  try {
    if (reserved) return encodeReserved(text);
    return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    throw new TypeError(`URI variable "${name}" holds a lone surrogate, which has no UTF-8 form`);
  }
}
