/** How an operator joins its variables: the table of RFC 6570, appendix A. */
export interface OperatorRules {
  /** What the expansion starts with when any variable is defined. */
  readonly first: string;
  readonly separator: string;
  /** Variables are written `name=value`. */
  readonly named: boolean;
  /** What stands after the name of an empty value. */
  readonly ifEmpty: string;
  /** Reserved characters and %XX are written as they are. */
  readonly reserved: boolean;
}

export interface TemplateVariable {
  readonly name: string;
  readonly explode: boolean;
  /** The `n` of `{name:n}`, in code points. */
  readonly prefixLength: number | undefined;
}

export interface TemplateExpression {
  readonly rules: OperatorRules;
  readonly variables: readonly TemplateVariable[];
  /** Index of its "{" in the template. */
  readonly position: number;
}

/** A literal is percent-encoded already. */
export type TemplatePart = { readonly literal: string } | TemplateExpression;

/** Longest template, in UTF-16 code units. */
export const MAX_URI_TEMPLATE_LENGTH = 4096;
/** Most variables in one template; matching time grows with the number of variables. */
export const MAX_URI_TEMPLATE_VARIABLES = 64;

const operators: ReadonlyMap<string, OperatorRules> = new Map([
  ['', { first: '', separator: ',', named: false, ifEmpty: '', reserved: false }],
  ['+', { first: '', separator: ',', named: false, ifEmpty: '', reserved: true }],
  ['#', { first: '#', separator: ',', named: false, ifEmpty: '', reserved: true }],
  ['.', { first: '.', separator: '.', named: false, ifEmpty: '', reserved: false }],
  ['/', { first: '/', separator: '/', named: false, ifEmpty: '', reserved: false }],
  [';', { first: ';', separator: ';', named: true, ifEmpty: '', reserved: false }],
  ['?', { first: '?', separator: '&', named: true, ifEmpty: '=', reserved: false }],
  ['&', { first: '&', separator: '&', named: true, ifEmpty: '=', reserved: false }],
]);

const variablePattern = /^((?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/i;
const notLiteral = /[^\w\-.~:/?#[\]@!$&'()*+,;=%\P{ASCII}]|%(?![\da-f]{2})/iu;
const notUri = /%(?![\da-f]{2})|[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/gi;

/**
 * Percent-encodes what a URI cannot hold, and nothing else: reserved characters and %XX stay.
 * Throws URIError for text with a lone surrogate.
 */
export function encodeReserved(text: string): string {
  return text.replace(notUri, encodeURIComponent);
}

/** The first `length` code points. */
export function prefixOf(text: string, length: number): string {
  return text.length <= length ? text : Array.from(text).slice(0, length).join('');
}

export function templateError(template: string, position: number, problem: string): TypeError {
  return new TypeError(`URI template ${JSON.stringify(template)}, position ${position}: ${problem}`);
}

/** The literals and expressions of a template, in order. Throws TypeError for a malformed one. */
export function parseTemplateParts(template: string): readonly TemplatePart[] {
  if (template.length > MAX_URI_TEMPLATE_LENGTH) {
    throw new TypeError(`URI template has ${template.length} characters, the limit is ${MAX_URI_TEMPLATE_LENGTH}`);
  }
  const parts: TemplatePart[] = [];
  let variables = 0;
  let position = 0;
  while (position < template.length) {
    const brace = template.indexOf('{', position);
    const open = brace === -1 ? template.length : brace;
    if (open > position) parts.push({ literal: parseLiteral(template, position, open) });
    if (open === template.length) break;

    const close = template.indexOf('}', open);
    if (close === -1) throw templateError(template, open, '"{" is never closed');
    const expression = parseExpression(template, open, close);
    parts.push(expression);
    variables += expression.variables.length;
    if (variables > MAX_URI_TEMPLATE_VARIABLES) {
      throw templateError(template, open, `more than ${MAX_URI_TEMPLATE_VARIABLES} variables`);
    }
    position = close + 1;
  }
  return parts;
}

function parseLiteral(template: string, start: number, end: number): string {
  const text = template.slice(start, end);
  const wrong = notLiteral.exec(text);
  if (wrong !== null) {
    throw templateError(template, start + wrong.index, `${JSON.stringify(wrong[0])} must be percent-encoded in a URI`);
  }
  try {
    const literal = encodeReserved(text);
    decodeURIComponent(literal);
    return literal;
  } catch {
    throw templateError(template, start, `${JSON.stringify(text)} is not well-formed UTF-8 when percent-decoded`);
  }
}

function parseExpression(template: string, open: number, close: number): TemplateExpression {
  const text = template.slice(open + 1, close);
  const operator = /^[+#./;?&=,!@|]/.exec(text)?.[0] ?? '';
  const rules = operators.get(operator);
  if (rules === undefined) throw templateError(template, open + 1, `RFC 6570 gives operator "${operator}" no meaning`);

  const variables: TemplateVariable[] = [];
  let position = open + 1 + operator.length;
  for (const source of text.slice(operator.length).split(',')) {
    const [, name, star, length] = variablePattern.exec(source) ?? [];
    if (name === undefined) {
      throw templateError(
        template,
        position,
        `${JSON.stringify(source)} is not a variable: write a name of letters, ` +
          'digits, "_", %XX and single dots between them, then nothing, "*" or ":1" to ":9999"',
      );
    }
    variables.push({ name, explode: star !== undefined, prefixLength: length ? Number(length) : undefined });
    position += source.length + 1;
  }
  return { rules, variables, position: open };
}
