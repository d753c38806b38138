export interface StringSchema {
  readonly type: 'string';
  readonly title?: string;
  readonly description?: string;
  /** Characters. */
  readonly minLength?: number;
  /** Characters. */
  readonly maxLength?: number;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly default?: string;
}

export interface NumberSchema {
  readonly type: 'number' | 'integer';
  readonly title?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface BooleanSchema {
  readonly type: 'boolean';
  readonly title?: string;
  readonly description?: string;
  readonly default?: boolean;
}

/** A choice and how it is shown. */
export interface EnumOption {
  readonly const: string;
  readonly title: string;
}

/** One of several values, shown as they are. */
export interface UntitledSingleSelectEnumSchema {
  readonly type: 'string';
  readonly title?: string;
  readonly description?: string;
  readonly enum: readonly string[];
  readonly default?: string;
}

/** One of several values, shown by titles. */
export interface TitledSingleSelectEnumSchema {
  readonly type: 'string';
  readonly title?: string;
  readonly description?: string;
  readonly oneOf: readonly EnumOption[];
  readonly default?: string;
}

/** Any of several values, shown as they are. */
export interface UntitledMultiSelectEnumSchema {
  readonly type: 'array';
  readonly title?: string;
  readonly description?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items: { readonly type: 'string'; readonly enum: readonly string[] };
  readonly default?: readonly string[];
}

/** Any of several values, shown by titles. */
export interface TitledMultiSelectEnumSchema {
  readonly type: 'array';
  readonly title?: string;
  readonly description?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items: { readonly anyOf: readonly EnumOption[] };
  readonly default?: readonly string[];
}

/** Titles in an array beside the values, an older way. New forms use {@link TitledSingleSelectEnumSchema}. */
export interface LegacyTitledEnumSchema {
  readonly type: 'string';
  readonly title?: string;
  readonly description?: string;
  readonly enum: readonly string[];
  readonly enumNames?: readonly string[];
  readonly default?: string;
}

export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** One field of a form. Fields cannot nest. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** The fields of a form: the part of JSON Schema that any client can draw. */
export interface ElicitFormSchema {
  readonly $schema?: string;
  readonly type: 'object';
  readonly properties: { readonly [name: string]: PrimitiveSchemaDefinition };
  readonly required?: readonly string[];
}

/** Asks the user to fill in a form. Not for passwords or other secrets. */
export interface ElicitFormParams {
  /** Default `form`. */
  readonly mode?: 'form';
  /** Tells the user what is wanted and why. */
  readonly message: string;
  readonly requestedSchema: ElicitFormSchema;
}

/** Asks the user to visit a page; what happens there does not pass through the client. */
export interface ElicitUrlParams {
  readonly mode: 'url';
  /** Tells the user why. */
  readonly message: string;
  readonly url: string;
}

export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/** A question to the user, embedded in an input-required result. */
export interface ElicitRequest {
  readonly method: 'elicitation/create';
  readonly params: ElicitParams;
}

/** A filled-in form by field name. */
export interface ElicitContent {
  readonly [name: string]: string | number | boolean | readonly string[];
}

/** What the user did. */
export interface ElicitResult {
  /** Agreed (for a URL: opened it), refused, or closed the question without deciding. */
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Only of an accepted form. */
  readonly content?: ElicitContent;
}
