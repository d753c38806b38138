import { EMPTY, overlap, parsePattern, type CharacterSet, type PatternNode } from './pattern-syntax.ts';

/** How much work a pattern can cost a backtracking matcher: at most about `factor · length ** exponent` steps. */
export interface PatternCost {
  readonly factor: number;
  readonly exponent: number;
  /** Longest string that it is tested on, in characters. */
  readonly maxLength: number;
}

const MAX_PATTERN_LENGTH = 2_000;
const MAX_POSITIONS = 200;
/** Counted repetitions up to this many copies are looked at copy by copy, others like `*`. */
const MAX_COPIES = 16;
const MAX_PAIRS = 100_000;
const MAX_FACTOR = 10_000;
/** Steps that one test may take, about a second. */
const MAX_STEPS = 1e8;
const MIN_USEFUL_LENGTH = 64;
/**
 * What can make a match fail that has taken all its characters; escaped ones count too, which errs on the safe side.
 */
const CONDITION = /\$|\\[bB]|\(\?[=!<]/;
const MAX_STRING_LENGTH = 1_048_576;

/** The most steps that a test on a string of that length takes. */
export function stepsFor(cost: PatternCost, length: number): number {
  return cost.factor * length ** cost.exponent;
}

/**
 * Bounds the search of a pattern, or says why it is not to be used: no valid expression, exponential (`^(a|a)*$`), or
 * too hard to tell. Works on the position automaton: exponential are two ways through a loop for the same text, each
 * loop that can be left in several places for the same text raises the exponent.
 *
 * @returns A reason to refuse, to be read after "pattern", or the cost.
 */
export function assessPattern(pattern: string): PatternCost | string {
  try {
    if (pattern.length > MAX_PATTERN_LENGTH) return `is longer than ${MAX_PATTERN_LENGTH} characters`;
    new RegExp(pattern, 'u');
    const { body, assertions } = parsePattern(pattern);
    const anchored = isAnchored(body);
    let { factor, exponent } = searchCost(body, anchored, !CONDITION.test(pattern));
    for (const assertion of assertions) {
      const cost = searchCost(assertion.body, true, false);
      factor *= cost.factor;
      if (assertion.leads) exponent = Math.max(exponent, cost.exponent + (anchored ? 0 : 1));
      else exponent += cost.exponent; // it may run at every step of the rest
    }
    exponent = Math.max(1, exponent);
    const maxLength = Math.min(MAX_STRING_LENGTH, Math.floor((MAX_STEPS / factor) ** (1 / exponent)));
    if (factor > MAX_FACTOR || maxLength < MIN_USEFUL_LENGTH) return 'can be matched in too many ways';
    return { factor, exponent, maxLength };
  } catch (error) {
    if (error instanceof SyntaxError)
      return error.message.replace(/^Invalid regular expression: /, 'is no regular expression: ');
    throw error;
  }
}

/** @param openEnded Whether a match is complete, whatever follows, once all characters of the pattern were taken. */
function searchCost(
  node: PatternNode,
  anchored: boolean,
  openEnded: boolean,
): { readonly factor: number; readonly exponent: number } {
  const built = buildAutomaton(node);
  const automaton = openEnded ? withoutFreeTail(built) : built;
  const { successors } = automaton;
  const component = components(successors);
  const cyclic = new Set<number>();
  successors.forEach((next, from) => {
    for (const to of next) if (component[from] === component[to]) cyclic.add(component[from] ?? -1);
  });
  const ambiguous = new Set<number>(); // loops that can be left and continued by the same character
  const choices: number[] = successors.map((next, from) => {
    const leaving = new Set<number>();
    for (const [left, right] of overlappingPairs(next, automaton.sets)) {
      const leftStays = component[left] === component[from];
      const rightStays = component[right] === component[from];
      if (leftStays && rightStays) refuseIfExponential(left, right, automaton, component);
      else if (leftStays || rightStays) ambiguous.add(component[from] ?? -1);
      else leaving.add(left).add(right);
    }
    return Math.max(1, leaving.size);
  });

  // component numbers are in reverse topological order: successors have smaller ones
  const count = Math.max(...component) + 1;
  const degree = new Array<number>(count).fill(0);
  const factor = new Array<number>(count).fill(1);
  for (let current = 0; current < count; current++) {
    let mostChoices = 1;
    successors.forEach((next, from) => {
      if (component[from] !== current) return;
      mostChoices = Math.max(mostChoices, choices[from] ?? 1);
      for (const to of next) {
        const reached = component[to] ?? current;
        if (reached === current) continue;
        degree[current] = Math.max(degree[current] ?? 0, degree[reached] ?? 0);
        factor[current] = Math.max(factor[current] ?? 1, factor[reached] ?? 1);
      }
    });
    if (ambiguous.has(current)) degree[current] = (degree[current] ?? 0) + 1;
    factor[current] = (factor[current] ?? 1) * mostChoices;
  }
  const start = component[0] ?? 0;
  const plainLoop = [...cyclic].some((loop) => !ambiguous.has(loop)) ? 1 : 0;
  const restarts = !anchored && cyclic.size > 0 ? 1 : 0;
  return { factor: factor[start] ?? 1, exponent: (degree[start] ?? 0) + plainLoop + restarts };
}

/**
 * Two paths that left a state with the same character and can meet again in the loop: the number of paths doubles each
 * time.
 */
function refuseIfExponential(left: number, right: number, automaton: Automaton, component: readonly number[]): void {
  const { sets, successors } = automaton;
  const size = sets.length;
  const seen = new Set([left * size + right]);
  for (const pair of seen) {
    const first = Math.floor(pair / size);
    const second = pair % size;
    if (first === second)
      throw new SyntaxError('can take exponential time: a loop matches the same text in several ways');
    for (const firstNext of successors[first] ?? []) {
      if (component[firstNext] !== component[left]) continue;
      for (const secondNext of successors[second] ?? []) {
        if (component[secondNext] !== component[left]) continue;
        if (overlap(sets[firstNext] ?? [], sets[secondNext] ?? [])) seen.add(firstNext * size + secondNext);
      }
    }
    if (seen.size > MAX_PAIRS) throw new SyntaxError('is too complex to be judged');
  }
}

/** State 0 is the start, the others stand for the characters of the pattern. */
interface Automaton {
  readonly sets: readonly CharacterSet[];
  readonly successors: readonly (readonly number[])[];
  /** States in which the whole pattern is matched. */
  readonly accepting: ReadonlySet<number>;
}

/** Leaves out the loops that no search can fail in, such as the one of `a.*`: they are run through once. */
function withoutFreeTail({ sets, successors, accepting }: Automaton): Automaton {
  const canFail = (state: number): boolean => {
    const reached = new Set([state]);
    for (const current of reached) {
      if (!accepting.has(current)) return true;
      for (const next of successors[current] ?? []) reached.add(next);
    }
    return false;
  };
  return { sets, accepting, successors: successors.map((next, state) => (canFail(state) ? next : [])) };
}

interface Fragment {
  readonly nullable: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

function buildAutomaton(root: PatternNode): Automaton {
  const sets: CharacterSet[] = [[]];
  const successors: Set<number>[] = [new Set()];

  const connect = (from: readonly number[], to: readonly number[]): boolean => {
    let twice = false;
    for (const source of from) {
      for (const target of to) {
        twice ||= successors[source]?.has(target) === true;
        successors[source]?.add(target);
      }
    }
    return twice;
  };

  const build = (node: PatternNode, copies: number): Fragment => {
    switch (node.kind) {
      case 'start':
        return { nullable: true, first: [], last: [] };
      case 'character': {
        if (sets.length > MAX_POSITIONS) throw new SyntaxError('is too large to be judged');
        const position = sets.push(node.set) - 1;
        successors.push(new Set());
        return { nullable: false, first: [position], last: [position] };
      }
      case 'choice': {
        const options = node.options.map((option) => build(option, copies));
        return {
          nullable: options.some((option) => option.nullable),
          first: options.flatMap((option) => option.first),
          last: options.flatMap((option) => option.last),
        };
      }
      case 'sequence': {
        let result: Fragment = { nullable: true, first: [], last: [] };
        for (const part of node.parts) {
          const next = build(part, copies);
          connect(result.last, next.first);
          result = {
            nullable: result.nullable && next.nullable,
            first: result.nullable ? [...result.first, ...next.first] : result.first,
            last: next.nullable ? [...result.last, ...next.last] : next.last,
          };
        }
        return result;
      }
      case 'repeat':
        return buildRepeat(node.body, node.min, node.max, copies);
    }
  };

  const buildRepeat = (body: PatternNode, min: number, max: number, copies: number): Fragment => {
    if (max === 0) return build(EMPTY, copies);
    if (max === 1) {
      const once = build(body, copies);
      return min === 0 ? { ...once, nullable: true } : once;
    }
    if (copies * max <= MAX_COPIES) return build(unrolled(body, min, max), copies * max);
    const loop = build(body, copies);
    if (loop.nullable && (min > 1 || max !== Infinity)) throw new SyntaxError('repeats something that may be empty');
    if (connect(loop.last, loop.first)) {
      throw new SyntaxError('can take exponential time: a loop inside a loop matches the same text in several ways');
    }
    return min === 0 ? { ...loop, nullable: true } : loop;
  };

  const whole = build(root, 1);
  connect([0], whole.first);
  const accepting = new Set(whole.nullable ? [0, ...whole.last] : whole.last);
  return { sets, successors: successors.map((next) => [...next]), accepting };
}

/** `x{2,4}` as `xx(?:x(?:x)?)?`, which offers the same paths as the counted form. */
function unrolled(body: PatternNode, min: number, max: number): PatternNode {
  let optional: PatternNode = EMPTY;
  for (let copy = min; copy < max; copy++) {
    optional = { kind: 'repeat', body: { kind: 'sequence', parts: [body, optional] }, min: 0, max: 1 };
  }
  return { kind: 'sequence', parts: [...new Array<PatternNode>(min).fill(body), optional] };
}

function overlappingPairs(
  positions: readonly number[],
  sets: readonly CharacterSet[],
): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  positions.forEach((left, index) => {
    for (const right of positions.slice(index + 1)) {
      if (overlap(sets[left] ?? [], sets[right] ?? [])) pairs.push([left, right]);
    }
  });
  return pairs;
}

/** Strongly connected components (Tarjan), numbered so that what can be reached has a smaller or the same number. */
function components(successors: readonly (readonly number[])[]): readonly number[] {
  const component = new Array<number>(successors.length).fill(-1);
  const order = new Array<number>(successors.length).fill(-1);
  const lowest = new Array<number>(successors.length).fill(-1);
  const stack: number[] = [];
  let visited = 0;
  let found = 0;
  const visit = (node: number): void => {
    order[node] = lowest[node] = visited++;
    stack.push(node);
    for (const next of successors[node] ?? []) {
      if (order[next] === -1) visit(next);
      if (component[next] === -1) lowest[node] = Math.min(lowest[node] ?? 0, lowest[next] ?? 0);
    }
    if (lowest[node] !== order[node]) return;
    for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
      component[member] = found;
      if (member === node) break;
    }
    found++;
  };
  successors.forEach((_, node) => {
    if (order[node] === -1) visit(node);
  });
  return component;
}

function isAnchored(node: PatternNode): boolean {
  switch (node.kind) {
    case 'start':
      return true;
    case 'choice':
      return node.options.every(isAnchored);
    case 'sequence': {
      const [head, ...rest] = node.parts;
      if (head === undefined) return false;
      // a zero-width head (an assertion) leaves the decision to the next part
      const empty = head.kind === 'sequence' && head.parts.length === 0;
      return empty ? isAnchored({ kind: 'sequence', parts: rest }) : isAnchored(head);
    }
    default:
      return false;
  }
}
