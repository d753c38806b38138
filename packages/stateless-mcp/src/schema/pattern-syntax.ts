/** Inclusive ranges of code points. */
export type CharacterSet = readonly (readonly [number, number])[];

/** The part of a regular expression that decides how a backtracking matcher searches. */
export type PatternNode =
  | { readonly kind: 'character'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'start' };

export interface ParsedPattern {
  readonly body: PatternNode;
  /** Lookaheads and lookbehinds. In `body` they are empty. */
  readonly assertions: readonly PatternAssertion[];
}

export interface PatternAssertion {
  readonly body: PatternNode;
  /** Stands before everything that takes a character, so that it runs once for each place where a match may begin. */
  readonly leads: boolean;
}

export const EMPTY: PatternNode = { kind: 'sequence', parts: [] };

const LAST_CODE_POINT = 0x10ffff;
const ANY: CharacterSet = [[0, LAST_CODE_POINT]];
const DIGIT: CharacterSet = [[0x30, 0x39]];
const WORD: CharacterSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACE: CharacterSet = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_END: CharacterSet = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
  ['0', 0],
]);
const MAX_GROUP_DEPTH = 50;

/** Whether some code point is in both sets. */
export function overlap(left: CharacterSet, right: CharacterSet): boolean {
  return left.some(([low, high]) => right.some(([otherLow, otherHigh]) => low <= otherHigh && otherLow <= high));
}

/**
 * Reads a pattern that the `u` flag accepts.
 *
 * @throws SyntaxError for what makes the search unpredictable: back references, inline flags, groups nested too deep.
 */
export function parsePattern(pattern: string): ParsedPattern {
  const characters = Array.from(pattern);
  const assertions: PatternAssertion[] = [];
  let index = 0;
  let groupDepth = 0;
  let consuming = false;

  const take = (text: string): boolean => {
    const found = Array.from(text).every((character, offset) => characters[index + offset] === character);
    if (found) index += text.length;
    return found;
  };
  const takeUntil = (end: string): string => {
    const from = index;
    while (index < characters.length && characters[index] !== end) index++;
    return characters.slice(from, index++).join('');
  };

  const parseChoice = (): PatternNode => {
    const options = [parseSequence()];
    while (take('|')) options.push(parseSequence());
    return options.length === 1 ? (options[0] ?? EMPTY) : { kind: 'choice', options };
  };

  const parseSequence = (): PatternNode => {
    const parts: PatternNode[] = [];
    while (index < characters.length && characters[index] !== '|' && characters[index] !== ')') {
      parts.push(parseQuantifier(parseAtom()));
    }
    return parts.length === 1 ? (parts[0] ?? EMPTY) : { kind: 'sequence', parts };
  };

  const parseQuantifier = (body: PatternNode): PatternNode => {
    let bounds: readonly [number, number] | undefined;
    if (take('*')) bounds = [0, Infinity];
    else if (take('+')) bounds = [1, Infinity];
    else if (take('?')) bounds = [0, 1];
    else if (take('{')) {
      const [min = '0', max] = takeUntil('}').split(',');
      bounds = [Number(min), max === undefined ? Number(min) : max === '' ? Infinity : Number(max)];
    }
    if (bounds === undefined) return body;
    take('?'); // lazy or greedy: the same paths in another order
    return { kind: 'repeat', body, min: bounds[0], max: bounds[1] };
  };

  const parseAtom = (): PatternNode => {
    const character = characters[index++] ?? '';
    if (character !== '^' && character !== '(') consuming = true;
    switch (character) {
      case '^':
        return { kind: 'start' };
      case '$':
        return EMPTY;
      case '.':
        return { kind: 'character', set: complement(LINE_END) };
      case '(':
        return parseGroup();
      case '[':
        return { kind: 'character', set: parseClass() };
      case '\\':
        if (take('b') || take('B')) return EMPTY;
        return { kind: 'character', set: parseEscape() };
      default:
        return { kind: 'character', set: single(character) };
    }
  };

  const parseGroup = (): PatternNode => {
    if (++groupDepth > MAX_GROUP_DEPTH) throw new SyntaxError(`nests groups deeper than ${MAX_GROUP_DEPTH}`);
    let asserts = false;
    const leads = groupDepth === 1 && !consuming;
    if (take('?')) {
      if (take('=') || take('!') || take('<=') || take('<!')) asserts = true;
      else if (take('<')) takeUntil('>');
      else if (!take(':')) throw new SyntaxError('uses inline flags');
    }
    const body = parseChoice();
    take(')');
    groupDepth--;
    if (!asserts) return body;
    assertions.push({ body, leads });
    if (leads) consuming = false;
    return EMPTY;
  };

  const parseClass = (): CharacterSet => {
    const negated = take('^');
    const ranges: (readonly [number, number])[] = [];
    while (index < characters.length && !take(']')) {
      const low = parseClassMember();
      if (characters[index] === '-' && characters[index + 1] !== ']' && isSingle(low)) {
        index++;
        const high = parseClassMember();
        ranges.push([low[0]?.[0] ?? 0, high[0]?.[1] ?? LAST_CODE_POINT]);
      } else ranges.push(...low);
    }
    return negated ? complement(ranges) : ranges;
  };

  const parseClassMember = (): CharacterSet => {
    const character = characters[index++] ?? '';
    if (character !== '\\') return single(character);
    return take('b') ? [[8, 8]] : parseEscape();
  };

  const parseEscape = (): CharacterSet => {
    const character = characters[index++] ?? '';
    switch (character) {
      case 'd':
        return DIGIT;
      case 'D':
        return complement(DIGIT);
      case 'w':
        return WORD;
      case 'W':
        return complement(WORD);
      case 's':
        return SPACE;
      case 'S':
        return complement(SPACE);
      case 'p':
      case 'P':
        takeUntil('}');
        return ANY; // Unicode tables are not at hand; taking it for anything only errs towards refusing
      case 'c':
        return codePoint((characters[index++]?.codePointAt(0) ?? 0) % 32);
      case 'x':
        return codePoint(Number.parseInt(takeHex(2), 16));
      case 'u':
        return parseUnicodeEscape();
      case 'k':
        throw new SyntaxError('uses a back reference');
    }
    const control = CONTROLS.get(character);
    if (control !== undefined) return codePoint(control);
    if (/[1-9]/.test(character)) throw new SyntaxError('uses a back reference');
    return single(character);
  };

  const parseUnicodeEscape = (): CharacterSet => {
    if (take('{')) return codePoint(Number.parseInt(takeUntil('}'), 16));
    const lead = Number.parseInt(takeHex(4), 16);
    if (lead < 0xd800 || lead > 0xdbff || characters[index] !== '\\' || characters[index + 1] !== 'u')
      return codePoint(lead);
    index += 2;
    const trail = Number.parseInt(takeHex(4), 16);
    return codePoint((lead - 0xd800) * 0x400 + (trail - 0xdc00) + 0x10000);
  };

  const takeHex = (length: number): string => characters.slice(index, (index += length)).join('');

  return { body: parseChoice(), assertions };
}

function single(character: string): CharacterSet {
  return codePoint(character.codePointAt(0) ?? 0);
}

function codePoint(code: number): CharacterSet {
  return [[code, code]];
}

function isSingle(set: CharacterSet): boolean {
  return set.length === 1 && set[0]?.[0] === set[0]?.[1];
}

function complement(ranges: CharacterSet): CharacterSet {
  const result: (readonly [number, number])[] = [];
  let next = 0;
  for (const [low, high] of ranges.toSorted((left, right) => left[0] - right[0])) {
    if (low > next) result.push([next, low - 1]);
    next = Math.max(next, high + 1);
  }
  if (next <= LAST_CODE_POINT) result.push([next, LAST_CODE_POINT]);
  return result;
}
