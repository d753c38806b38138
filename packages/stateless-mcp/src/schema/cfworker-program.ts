import type { Schema } from '@cfworker/json-schema';
import type { JsonObject, JsonValue } from '../protocol/json.ts';
import type { JsonMeasure } from './json-measure.ts';
import { assessPattern, type PatternCost, stepsFor } from './pattern-cost.ts';
import { isJsonArray, isJsonObject, ownMember } from './schema-copy.ts';
import { KEYWORD_SHAPES, type SchemaDialect } from './schema-keywords.ts';
import type { ResolvedSchema } from './schema-references.ts';

/**
 * A schema rewritten for `@cfworker/json-schema`. The library walks a schema on every check and knows no limits, so the
 * rewriting adds them: each visit of a schema is paid for, and patterns and `uniqueItems` only run on values of bounded
 * size. References are names of a table that was filled by our own resolution, the only one there is.
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
  #value: JsonMeasure | undefined;

  /** Begins another check; checks run one at a time, without interruption. */
  restart(units: number, value: JsonMeasure): void {
    this.#left = units;
    this.#value = value;
  }

  /** Pays for one schema on one value, and for testing the names of its members against `namePatterns`. */
  spend(units: number, namePatterns: readonly PatternCost[]): void {
    this.#left -= units;
    if (this.#value !== undefined) {
      for (const cost of namePatterns)
        this.#left -= patternUnits(cost, this.#value.longestName) * this.#value.largestObject;
    }
    if (this.#left < 0) throw new TooMuchWork('is too large or too complex to be checked');
  }
}

const STEPS_PER_UNIT = 100;
/** Sizes at which the price of what costs more than linear time goes up. */
const SIZE_TIERS = [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144];
/** More items are not compared with each other. */
const MAX_UNIQUE_ITEMS = 2_000;

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

/** Rewrites a schema that was checked. Does not touch the schema. */
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

  /**
   * A schema whose every evaluation is paid for: the library must read `$ref` first of all, so that is where it pays.
   */
  const paid = (
    members: MutableSchema,
    reference: string | undefined,
    units: number,
    namePatterns: readonly PatternCost[] = [],
  ): MutableSchema =>
    Object.defineProperty(members, '$ref', {
      enumerable: true,
      get() {
        work.spend(units, namePatterns);
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
    return paid(copy, reference, units, isJsonObject(patterns) ? Object.keys(patterns).map(costOf) : []);
  };

  const boundedPattern = (pattern: string): MutableSchema => {
    const cost = costOf(pattern);
    return bounded(
      { pattern },
      'maxLength',
      cost.maxLength,
      (length) => patternUnits(cost, length),
      `has a string of more than ${cost.maxLength} characters, too long for the pattern ${pattern}`,
    );
  };

  const boundedUniqueItems = (): MutableSchema =>
    bounded(
      { uniqueItems: true },
      'maxItems',
      MAX_UNIQUE_ITEMS,
      (count) => (count * count) / STEPS_PER_UNIT,
      `has an array of more than ${MAX_UNIQUE_ITEMS} items, too many to see whether they are unique`,
    );

  /** `assertion`, charged by the size of the value; one over the limit ends the check, whatever it is part of. */
  const bounded = (
    assertion: MutableSchema,
    sizeKeyword: 'maxLength' | 'maxItems',
    limit: number,
    unitsFor: (size: number) => number,
    reason: string,
  ): MutableSchema => {
    let result = refusal(reason);
    for (const size of [...SIZE_TIERS.filter((tier) => tier < limit), limit].reverse()) {
      const charged = paid({ ...assertion }, undefined, unitsFor(size));
      result = paid({ if: { [sizeKeyword]: size }, then: charged, else: result }, undefined, 1);
    }
    return result;
  };

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

function patternUnits(cost: PatternCost, length: number): number {
  return Math.ceil(stepsFor(cost, length) / STEPS_PER_UNIT);
}

function costOf(pattern: string): PatternCost {
  const cost = assessPattern(pattern);
  if (typeof cost === 'string') throw new TypeError(`the pattern ${cost}`); // was refused when the schema was taken in
  return cost;
}
