import type { Schema } from '@cfworker/json-schema';
import type { JsonObject, JsonValue } from '../protocol/json.ts';
import { assessPattern, type PatternCost } from './pattern-cost.ts';
import { isJsonArray, isJsonObject, ownMember } from './schema-copy.ts';
import { KEYWORD_SHAPES, type SchemaDialect } from './schema-keywords.ts';
import type { ResolvedSchema } from './schema-references.ts';

/**
 * A schema rewritten for `@cfworker/json-schema`. The library walks a schema on every check and knows no limits, so the rewriting
 * adds them: each visit of a schema is paid for, and patterns and `uniqueItems` only run on values of bounded size. References are
 * names of a table that was filled by our own resolution, the only one there is.
 */
export interface CfworkerProgram {
  readonly root: Schema;
  readonly dialect: SchemaDialect;
  readonly lookup: Record<string, Schema | boolean>;
  readonly work: WorkBudget;
  /** Whether property names are matched against patterns. */
  readonly testsNames: boolean;
}

/** Thrown out of a check that would take too long. */
export class TooMuchWork extends Error {}

/** What one check may still cost. A unit is about a microsecond. */
export class WorkBudget {
  #left = 0;
  #largestObject = 0;

  /** Begins another check; checks run one at a time, without interruption. */
  restart(units: number, largestObject: number): void {
    this.#left = units;
    this.#largestObject = largestObject;
  }

  spend(units: number, unitsPerMember: number): void {
    this.#left -= units + unitsPerMember * this.#largestObject;
    if (this.#left < 0) throw new TooMuchWork('is too large or too complex to be checked');
  }
}

/** The comparison of all items with each other is not worth more than that. */
const MAX_UNIQUE_ITEMS = 2_000;

const STEPS_PER_UNIT = 1_000;
/** The cost of a pattern is charged in steps, by the length of the string. */
const PATTERN_TIERS = [64, 512, 4_096, 32_768, 262_144];

// Assertions that the library would make, but that are annotations unless a vocabulary asks for them.
const ANNOTATIONS: ReadonlySet<string> = new Set(['format']);
const RESOLVED: ReadonlySet<string> = new Set([
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  '$recursiveAnchor',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$schema',
]);

type MutableSchema = Record<string, unknown>;

/** Rewrites a checked schema. Never fails and does not touch the schema. */
export function cfworkerProgram(resolved: ResolvedSchema): CfworkerProgram {
  const lookup: Record<string, Schema | boolean> = Object.create(null);
  const copies = new Map<JsonObject, MutableSchema>();
  const names = new Map<JsonObject | boolean, string>();
  const work = new WorkBudget();

  const nameOf = (target: JsonObject | boolean): string => {
    const known = names.get(target);
    if (known !== undefined) return known;
    const name = `target ${names.size}`;
    names.set(target, name);
    lookup[name] = typeof target === 'boolean' ? target : copySchema(target);
    return name;
  };

  /** A schema whose every evaluation is paid for: the library must read `$ref` first of all, so that is where it pays. */
  const paid = (
    members: MutableSchema,
    reference: string | undefined,
    units: number,
    unitsPerMember = 0,
  ): MutableSchema =>
    Object.defineProperty(members, '$ref', {
      enumerable: true,
      get() {
        work.spend(units, unitsPerMember);
        return reference;
      },
    });

  const emptySchema = (): MutableSchema => Object.create(null) as MutableSchema;

  const copyMember = (keyword: string, value: JsonValue): unknown => {
    const shape = KEYWORD_SHAPES.get(keyword);
    if (shape === undefined || !shape.includes('schema')) return value;
    if (isJsonArray(value)) return value.map((item) => copyAny(item));
    if (!shape.includes('by name')) return copyAny(value);
    const table = emptySchema();
    if (isJsonObject(value)) for (const [name, member] of Object.entries(value)) table[name] = copyAny(member);
    return table;
  };

  const copyAny = (value: JsonValue): unknown => (isJsonObject(value) ? copySchema(value) : value);

  const copySchema = (schema: JsonObject): MutableSchema => {
    const known = copies.get(schema);
    if (known !== undefined) return known;
    const copy = emptySchema();
    copies.set(schema, copy);
    const added: MutableSchema[] = [];
    let units = 1;
    for (const [keyword, value] of Object.entries(schema)) {
      if (!KEYWORD_SHAPES.has(keyword) && keyword !== 'const') continue;
      if (ANNOTATIONS.has(keyword) || RESOLVED.has(keyword)) continue;
      units += sizeOf(value);
      if (keyword === 'pattern' && typeof value === 'string') added.push(boundedPattern(value));
      else if (keyword === 'uniqueItems') {
        if (value === true) added.push(boundedUniqueItems());
      } else copy[keyword] = copyMember(keyword, value);
    }
    let reference: string | undefined;
    for (const target of resolved.targets.get(schema) ?? []) {
      if (target.keyword === '$ref') reference = nameOf(target.schema);
      else added.push(paid(emptySchema(), nameOf(target.schema), 1));
    }
    if (added.length > 0) copy['allOf'] = [...(Array.isArray(copy['allOf']) ? copy['allOf'] : []), ...added];
    const patterns = ownMember(schema, 'patternProperties');
    return paid(copy, reference, units, isJsonObject(patterns) ? nameUnits(Object.keys(patterns)) : 0);
  };

  /** `pattern`, charged by the length of the string; a string that is too long ends the check, whatever it is part of. */
  const boundedPattern = (pattern: string): MutableSchema => {
    const cost = assessPattern(pattern);
    const { maxLength } = typeof cost === 'string' ? { maxLength: 0 } : cost;
    let bounded = refusal(`has a string of more than ${maxLength} characters, too long for the pattern ${pattern}`);
    for (const length of [...PATTERN_TIERS.filter((tier) => tier < maxLength), maxLength].reverse()) {
      const test = paid(Object.assign(emptySchema(), { pattern }), undefined, patternUnits(cost, length));
      bounded = paid(
        Object.assign(emptySchema(), { if: { maxLength: length }, then: test, else: bounded }),
        undefined,
        1,
      );
    }
    return bounded;
  };

  const boundedUniqueItems = (): MutableSchema =>
    paid(
      Object.assign(emptySchema(), {
        if: { maxItems: MAX_UNIQUE_ITEMS },
        then: paid(Object.assign(emptySchema(), { uniqueItems: true }), undefined, 1),
        else: refusal(`has an array of more than ${MAX_UNIQUE_ITEMS} items, too many to see whether they are unique`),
      }),
      undefined,
      1,
    );

  const refusal = (reason: string): MutableSchema =>
    Object.defineProperty(emptySchema(), '$ref', {
      get() {
        throw new TooMuchWork(reason);
      },
    });

  const testsNames = [...resolved.schemas.values()].some((schema) => Object.hasOwn(schema, 'patternProperties'));
  return { root: copySchema(resolved.root), dialect: resolved.dialect, lookup, work, testsNames };
}

function sizeOf(value: JsonValue): number {
  if (isJsonArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

function patternUnits(cost: PatternCost | string, length: number): number {
  return typeof cost === 'string' ? Infinity : Math.ceil((cost.factor * length ** cost.exponent) / STEPS_PER_UNIT);
}

function nameUnits(patterns: readonly string[]): number {
  // names are short mostly; one unit for each covers those of common length
  return patterns.reduce((units, pattern) => units + Math.min(patternUnits(assessPattern(pattern), 32), 10), 0);
}
