import type { StandardSchema } from './standard-schema.ts';

const TARGET = 'draft-2020-12';

// ArkType's converter silently drops what JSON Schema lacks (a Date becomes `{}`); with these it says so.
const VENDOR_OPTIONS: ReadonlyMap<string, Record<string, unknown>> = new Map([
  [
    'arktype',
    {
      fallback: Object.fromEntries(
        ['proto', 'domain', 'date', 'unit', 'symbolKey'].map((code) => [code, refuse(code)]),
      ),
    },
  ],
]);

/**
 * The JSON Schema 2020-12 that a Standard Schema gives of itself, without the `$schema` that only repeats the default
 * dialect. A root that is nothing but a reference is replaced by its target, because many readers look for `properties`
 * at the root.
 *
 * @throws TypeError when it cannot describe itself, or not completely.
 */
export function convertStandardSchema(
  schema: StandardSchema,
  direction: 'input' | 'output',
  where: string,
): Record<string, unknown> {
  const { vendor, jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined) {
    throw new TypeError(`${where} is a "${vendor}" schema that gives no JSON Schema of itself: ${remedyFor(vendor)}`);
  }
  const libraryOptions = VENDOR_OPTIONS.get(vendor);
  let converted: Record<string, unknown>;
  try {
    converted = jsonSchema[direction]({ target: TARGET, ...(libraryOptions && { libraryOptions }) });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const hint = direction === 'output' ? ' Describe what a transformation results in, or pass a JSON Schema.' : '';
    throw new TypeError(`${where} cannot be expressed as JSON Schema: ${reason.replace(/\.?$/, '.')}${hint}`, {
      cause,
    });
  }
  const { $schema: _, ...described } = converted;
  return inlineRoot(described);
}

function remedyFor(vendor: string): string {
  if (vendor === 'valibot')
    return 'wrap it in toStandardJsonSchema() of @valibot/to-json-schema, or pass a JSON Schema';
  if (vendor === 'zod') return 'use Zod 4.2 or newer, or pass a JSON Schema';
  return 'use a version of the library that implements Standard JSON Schema, or pass a JSON Schema';
}

function inlineRoot(schema: Record<string, unknown>): Record<string, unknown> {
  const { $ref, $defs, ...others } = schema;
  if (typeof $ref !== 'string' || Object.keys(others).length > 0 || typeof $defs !== 'object' || $defs === null)
    return schema;
  const target = Object.entries($defs).find(([name]) => $ref === `#/$defs/${name}`)?.[1] as unknown;
  return typeof target === 'object' && target !== null && !('$defs' in target) ? { ...target, $defs } : schema;
}

function refuse(code: string): () => never {
  return () => {
    throw new Error(`it has a part (${code}) that has no JSON form`);
  };
}
