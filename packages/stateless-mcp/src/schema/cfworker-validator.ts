import type { validate } from '@cfworker/json-schema';
import type { JsonObject } from '../protocol/json.ts';
import { cfworkerProgram, TooMuchWork } from './cfworker-program.ts';
import { measureJson } from './json-measure.ts';
import { checkSchema, MAX_PATTERN_NAME_LENGTH } from './schema-guards.ts';
import type { SchemaIssue } from './schema-issue.ts';
import type { SchemaCheck, SchemaValidator } from './schema-validator.ts';

/** A value with so many faults is not worth a longer list. */
export const MAX_ISSUES = 10;

const MAX_MESSAGE_LENGTH = 300;
/** Work for one check, in units of about a microsecond. */
const WORK_UNITS = 2_000_000;
/** Larger values are checked up to the first fault of each object and array. */
const ALL_FAULTS_UP_TO_NODES = 1_000;

type Validate = typeof validate;
type Fault = ReturnType<Validate>['errors'][number];

// These say that something inside is wrong, which has its own entry.
const WRAPPERS: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'if',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'dependentSchemas',
  'prefixItems',
  'items',
  'additionalItems',
  'unevaluatedItems',
]);

let loaded: SchemaValidator | undefined;
let loading: Promise<SchemaValidator> | undefined;

/**
 * The built-in validator. Its library is loaded when the first plain JSON Schema is registered, so that programs whose
 * schemas validate themselves never load it; from then on it is returned at once.
 */
export function builtInValidator(): SchemaValidator | Promise<SchemaValidator> {
  if (loaded !== undefined) return loaded;
  loading ??= import('@cfworker/json-schema').then(
    (library) => (loaded = makeValidator(library.validate)),
    (cause: unknown) => {
      loading = undefined;
      throw new Error('@cfworker/json-schema, which checks plain JSON Schemas, cannot be loaded', { cause });
    },
  );
  return loading;
}

function makeValidator(validateWith: Validate): SchemaValidator {
  const compiled = new WeakMap<JsonObject, SchemaCheck>();
  return {
    compile(schema) {
      let check = compiled.get(schema);
      if (check === undefined) {
        check = makeCheck(schema, validateWith);
        compiled.set(schema, check);
      }
      return check;
    },
  };
}

function makeCheck(schema: JsonObject, validateWith: Validate): SchemaCheck {
  const { root, dialect, lookup, work, testsNames } = cfworkerProgram(checkSchema(schema, 'JSON Schema'));
  return (value) => {
    const measure = measureJson(value);
    if (measure === undefined) return [{ path: '', message: 'nests too deep or contains itself' }];
    if (testsNames && measure.longestName > MAX_PATTERN_NAME_LENGTH) {
      return [{ path: '', message: `has a property name of more than ${MAX_PATTERN_NAME_LENGTH} characters` }];
    }
    try {
      const instance: unknown = measure.isPlain ? value : throughJson(value);
      if (instance === undefined) return [{ path: '', message: 'is nothing that JSON can carry' }];
      work.restart(WORK_UNITS, measure);
      const { valid, errors } = validateWith(instance, root, dialect, lookup, measure.nodes > ALL_FAULTS_UP_TO_NODES);
      return valid ? [] : issuesOf(errors);
    } catch (error) {
      if (error instanceof TooMuchWork) return [{ path: '', message: error.message }];
      // from the library's pointer encoding, and from the stack or from spreading very many faults
      if (error instanceof URIError)
        return [{ path: '', message: 'has a property name that is not well-formed Unicode' }];
      if (error instanceof RangeError) return [{ path: '', message: 'is too large or too complex to be checked' }];
      throw error;
    }
  };
}

/**
 * What JSON makes of a value: that is what a peer will see, so that is what is checked. `undefined` when there is no
 * JSON.
 */
function throughJson(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function issuesOf(faults: readonly Fault[]): readonly SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  for (const [index, fault] of faults.entries()) {
    if (WRAPPERS.has(fault.keyword) || isExplained(fault, faults[index + 1])) continue;
    issues.push({ path: decodeURIComponent(fault.instanceLocation.slice(1)), message: messageOf(fault) });
    if (issues.length === MAX_ISSUES) break;
  }
  return issues;
}

/** `dependencies` wraps only when it holds a schema. */
function isExplained(fault: Fault, next: Fault | undefined): boolean {
  return fault.keyword === 'dependencies' && next?.keywordLocation.startsWith(`${fault.keywordLocation}/`) === true;
}

function messageOf(fault: Fault): string {
  const alternative = /.*\/(?:anyOf|oneOf)\/(\d+)\//.exec(fault.keywordLocation)?.[1];
  const prefix = alternative === undefined ? '' : `Alternative ${Number(alternative) + 1}: `;
  const text = fault.keyword === 'false' ? 'Nothing is allowed here.' : fault.error;
  return prefix + (text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text);
}
