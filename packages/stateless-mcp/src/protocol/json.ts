/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];

/** A JSON object: capability settings, provider metadata and other members whose shape this protocol leaves open. */
export type JsonObject = { readonly [key: string]: JsonValue };
