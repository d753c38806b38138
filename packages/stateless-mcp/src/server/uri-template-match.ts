import {
  encodeReserved,
  prefixOf,
  templateError,
  type OperatorRules,
  type TemplateExpression,
  type TemplatePart,
  type TemplateVariable,
} from './uri-template-syntax.ts';

/** Longest URI that is matched, in UTF-16 code units; a longer one matches no template. */
export const MAX_MATCHED_URI_LENGTH = 65_536;

type Value = string | string[];
type Capture = readonly [variable: TemplateVariable, value: Value];
type Step = { readonly literal: string } | Run;

/** Allowed characters behind a prefix, or nothing at all. Without a prefix: at least one character. */
interface Run {
  readonly prefix: string;
  /** 1 for what may be in the run, by code of the packed character. */
  readonly allowed: Uint8Array;
  /** The values in the run, undefined if the expression cannot write it. */
  readonly read: (run: string) => readonly Capture[] | undefined;
}

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const reserved = ":/?#[]@!$&'()*+,;=";
// An expansion encodes these in a value, but other encoders and people leave them as they are. Not "+" in a query,
// where many mean a space by it, and nothing that separates path segments, parameters or the parts of a URI.
const toleratedInPath = ":@!$'()*+,=";
const toleratedInQuery = ":@!$'()*,=/?";

/** Makes the matcher of a template. Throws TypeError where nothing in a URI would tell two variables apart. */
export function compileMatcher(
  template: string,
  parts: readonly TemplatePart[],
): (uri: string) => Record<string, Value> | undefined {
  const steps = compileSteps(template, parts);
  const [start] = parts;
  const head = start !== undefined && 'literal' in start ? start.literal.split('%', 1).join('') : '';
  return (uri) => {
    if (!uri.startsWith(head)) return undefined; // a server tries a URI on all its templates
    const packed = packUri(uri);
    const captures = packed === undefined ? undefined : walk(steps, packed);
    return captures === undefined ? undefined : settle(captures);
  };
}

function compileSteps(template: string, parts: readonly TemplatePart[]): readonly Step[] {
  const steps: Step[] = [];
  let touching = ''; // what the expressions that touch this one may contain
  for (const [index, part] of parts.entries()) {
    if ('literal' in part) {
      steps.push({ literal: packBytes(part.literal) });
      touching = '';
      continue;
    }
    const { first, separator } = part.rules;
    if (touching !== '' && (first === '' || touching.includes(first))) {
      throw templateError(
        template,
        part.position,
        'ambiguous, nothing tells where this expression begins: it ' +
          (first === '' ? 'has no leading character' : `begins with "${first}", which the one before may contain`) +
          '. Write literal text between the two, or one expression',
      );
    }
    const characters = valueCharacters(parts, index, part.rules);
    steps.push(...expressionSteps(template, part, characters));
    touching += characters + first + separator;
  }
  return steps;
}

/** What the values of an expression may contain beside percent-encoded bytes. */
function valueCharacters(parts: readonly TemplatePart[], index: number, rules: OperatorRules): string {
  // `{+path}{?page}`: the path ends at the "?".
  let ends = '';
  for (const next of parts.slice(index + 1)) {
    if ('literal' in next) break;
    if (next.rules.first === '?' || next.rules.first === '#') ends += next.rules.first;
  }
  if (rules.reserved) return without(unreserved + reserved, ends);

  // `{a}:{b}`: a ":" after the start of the template separates, so no value has a bare one.
  const start = parts.findIndex((part) => !('literal' in part));
  const delimiters = parts
    .slice(start)
    .map((part) => ('literal' in part ? part.literal : ''))
    .join('');
  return unreserved + without(rules.separator === '&' ? toleratedInQuery : toleratedInPath, delimiters + ends);
}

function expressionSteps(template: string, expression: TemplateExpression, characters: string): readonly Run[] {
  const { rules, variables, position } = expression;
  const { first, separator } = rules;
  if (rules.named) {
    const byName = new Map(variables.map((variable) => [packBytes(variable.name), variable]));
    if (byName.size < variables.length) throw templateError(template, position, 'ambiguous: one name is given twice');
    const read = (run: string): readonly Capture[] | undefined => readNamed(run, separator, byName);
    return [{ prefix: first, allowed: characterTable(`${characters}=${separator}`), read }];
  }
  const isOne = variables.length === 1 && variables[0]?.explode === false;
  const item = isOne ? characters : without(characters, separator);
  return variables.map((variable, index) => {
    const prefix = index === 0 ? first : separator;
    if (!variable.explode) {
      return { prefix, allowed: characterTable(item), read: (run) => [[variable, unpack(run)]] };
    }
    if (index < variables.length - 1) {
      throw templateError(template, position, `ambiguous: "${variable.name}*" must be the last in its expression`);
    }
    const read = (run: string): readonly Capture[] => [[variable, run.split(separator).map(unpack)]];
    return { prefix, allowed: characterTable(item + separator), read };
  });
}

/** `a=1&b=2` in any order. Undefined for an unknown name, and for a second value of one that is no list. */
function readNamed(
  run: string,
  separator: string,
  byName: ReadonlyMap<string, TemplateVariable>,
): readonly Capture[] | undefined {
  const values = new Map<TemplateVariable, Value>();
  for (const pair of run.split(separator)) {
    const [name = ''] = pair.split('=', 1);
    const variable = byName.get(name);
    if (variable === undefined) return undefined;
    const value = unpack(pair.slice(name.length + 1));
    const earlier = values.get(variable);
    if (Array.isArray(earlier)) earlier.push(value);
    else if (earlier === undefined) values.set(variable, variable.explode ? [value] : value);
    else return undefined;
  }
  return [...values];
}

/**
 * Two passes instead of backtracking: from the end, where can each step start so that the rest fits; from the
 * start, the longest run after which the rest fits. Every step looks at every character a fixed number of times.
 */
function walk(steps: readonly Step[], uri: string): readonly Capture[] | undefined {
  const fits: Uint8Array[] = [];
  let rest = new Uint8Array(uri.length + 1);
  rest[uri.length] = 1;
  for (const step of steps.toReversed()) {
    fits.unshift(rest);
    rest = 'literal' in step ? literalStarts(step.literal, uri, rest) : runStarts(step, uri, rest);
  }
  if (rest[0] !== 1) return undefined;

  const captures: Capture[] = [];
  let position = 0;
  for (const [index, step] of steps.entries()) {
    if ('literal' in step) {
      position += step.literal.length;
      continue;
    }
    if (!uri.startsWith(step.prefix, position)) continue;
    const begin = position + step.prefix.length;
    const shortest = step.prefix === '' ? begin + 1 : begin;
    let end = begin;
    while (end < uri.length && step.allowed[uri.charCodeAt(end)] === 1) end += 1;
    while (end >= shortest && fits[index]?.[end] !== 1) end -= 1;
    if (end < shortest) continue;

    const values = step.read(uri.slice(begin, end));
    if (values === undefined) return undefined;
    captures.push(...values);
    position = end;
  }
  return captures;
}

function literalStarts(literal: string, uri: string, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const starts = new Uint8Array(uri.length + 1);
  for (let at = uri.length - literal.length; at >= 0; at -= 1) {
    if (rest[at + literal.length] === 1 && uri.startsWith(literal, at)) starts[at] = 1;
  }
  return starts;
}

function runStarts({ prefix, allowed }: Run, uri: string, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const starts = new Uint8Array(uri.length + 1);
  const prefixCode = prefix === '' ? -1 : prefix.charCodeAt(0);
  let fitsAfter = false; // a run, possibly empty, from at + 1 on is followed by what fits
  for (let at = uri.length; at >= 0; at -= 1) {
    const code = at < uri.length ? uri.charCodeAt(at) : -1;
    const longer: boolean = fitsAfter && allowed[code] === 1;
    const absent = rest[at] === 1;
    if (prefix === '' ? longer : absent || (fitsAfter && code === prefixCode)) starts[at] = 1;
    fitsAfter = longer || absent;
  }
  return starts;
}

/** The values by name, undefined if two places of one variable disagree or a prefix is longer than it may be. */
function settle(captures: readonly Capture[]): Record<string, Value> | undefined {
  const found: Record<string, Value> = Object.create(null);
  const lengthOf = ([{ prefixLength = MAX_MATCHED_URI_LENGTH }]: Capture): number => prefixLength;
  // Longest first, so that the prefix in `{/id:1,id}` is compared with the whole.
  for (const capture of captures.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const [{ name }, value] = capture;
    const length = lengthOf(capture);
    if (typeof value === 'string' && prefixOf(value, length) !== value) return undefined;
    const known = found[name] ?? value;
    const expected = typeof known === 'string' ? prefixOf(known, length) : known;
    if (JSON.stringify(expected) !== JSON.stringify(value)) return undefined;
    found[name] = known;
  }
  return found;
}

function without(characters: string, removed: string): string {
  return Array.from(characters)
    .filter((character) => !removed.includes(character))
    .join('');
}

function characterTable(characters: string): Uint8Array {
  const table = new Uint8Array(0x200);
  table.fill(1, 0x100);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** What a URI cannot hold counts as percent-encoded. Undefined for a URI that has no decoded form. */
function packUri(uri: string): string | undefined {
  if (uri.length > MAX_MATCHED_URI_LENGTH) return undefined;
  try {
    decodeURIComponent(uri);
    return packBytes(encodeReserved(uri));
  } catch {
    return undefined;
  }
}

/** Each %XX as one character, U+0100 to U+01FF, so that no step can cut it and the case of the digits is gone. */
function packBytes(encoded: string): string {
  let packed = '';
  for (let at = 0; at < encoded.length; at += 1) {
    if (encoded.charCodeAt(at) !== 0x25) {
      packed += encoded.charAt(at);
      continue;
    }
    packed += String.fromCharCode(0x100 + parseInt(encoded.slice(at + 1, at + 3), 16));
    at += 2;
  }
  return packed;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function unpack(packed: string): string {
  return packed.replace(/[\u0100-\u01ff]+/g, (run) => {
    const bytes = new Uint8Array(run.length);
    for (let at = 0; at < run.length; at += 1) bytes[at] = run.charCodeAt(at) - 0x100;
    return utf8.decode(bytes);
  });
}
