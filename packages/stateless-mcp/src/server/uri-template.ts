import { expandParts, type UriTemplateValue } from './uri-template-expand.ts';
import { compileMatcher } from './uri-template-match.ts';
import { parseTemplateParts } from './uri-template-syntax.ts';

export type { UriTemplateValue } from './uri-template-expand.ts';
export { MAX_MATCHED_URI_LENGTH } from './uri-template-match.ts';
export { MAX_URI_TEMPLATE_LENGTH, MAX_URI_TEMPLATE_VARIABLES } from './uri-template-syntax.ts';

/** Percent-decoded values: a list for `{name*}`, else a string. From `match`, an object without prototype. */
export type UriVariables = Readonly<Record<string, string | readonly string[]>>;

export interface UriTemplate {
  readonly template: string;
  /** In the order of their first place. */
  readonly variableNames: readonly string[];
  /**
   * The URI for these values. An absent or undefined variable is left out, as is an empty list. Throws TypeError for
   * a value that is not made of strings, has a lone surrogate, or is not one string where a prefix (`:n`) is asked for.
   */
  expand(values: Readonly<Record<string, UriTemplateValue | undefined>>): string;
  /**
   * The values that a URI was made from, or undefined if the template did not make it. Never throws for a string.
   *
   * The URI is not normalised: letter case, `.` and `..` count. What a URI can only hold percent-encoded (`é`, space)
   * is the same raw. A URI with a malformed %XX or one that is not UTF-8 is no match.
   * Values are decoded after the match, so `{name}` can be `../secret`: check values, not URIs.
   *
   * - `{name}` and `{+name}` have at least one character. Every other expression may be missing: no key.
   * - `{name}` never holds a bare `/ ? # [ ] & ;`, nor a bare reserved character that the template has as literal text
   *   after its first expression. It may hold the other reserved ones, which not everybody encodes (`o'brien@host`).
   *   A value in a query may hold a bare `/` and `?` too, but no `+`, which might mean a space.
   * - `{+name}` and `{#name}` hold anything, but end at a `{?...}` or `{#...}` right behind.
   * - Where several readings are left, the earlier variable is the longer: `{name}.{ext}` splits at the last dot.
   * - Several variables in one positional expression are filled from the left and do not hold its bare separator,
   *   so that in `{+a,b}` a value with a comma is no match.
   * - Parameters of `{?...}`, `{&...}` and `{;...}` come in any order; an unknown or repeated one is no match.
   * - `{name:n}` gives the first n characters, which is all that the URI has; a longer value is no match.
   * - A variable with several places must have one value.
   * - A URI longer than MAX_MATCHED_URI_LENGTH is no match. Time grows with length times number of variables.
   */
  match(uri: string): UriVariables | undefined;
}

/**
 * A URI template of RFC 6570, levels 1 to 4, that expands and matches.
 *
 * Throws TypeError with template, position and problem for a malformed template, one beyond
 * MAX_URI_TEMPLATE_LENGTH or MAX_URI_TEMPLATE_VARIABLES, and an ambiguous one: expressions that touch, unless the later
 * begins with a character that the earlier cannot hold (`{a}{/b}`, `{+a}{?b}`; not `{a}{b}`, `{a}{.b}`); a list that
 * is not the last of its positional expression (`{/a*,b}`); a name twice in one named expression (`{?a,a}`).
 *
 * @example
 * const template = parseUriTemplate('db://{table}/{id}{?fields*}');
 * template.match('db://users/5?fields=name&fields=e-mail'); // { table: 'users', id: '5', fields: ['name', 'e-mail'] }
 * template.expand({ table: 'users', id: '5' }); // 'db://users/5'
 */
export function parseUriTemplate(template: string): UriTemplate {
  const parts = parseTemplateParts(template);
  const names = parts.flatMap((part) => ('literal' in part ? [] : part.variables.map(({ name }) => name)));
  return {
    template,
    variableNames: [...new Set(names)],
    expand: (values) => expandParts(parts, values),
    match: compileMatcher(template, parts),
  };
}
