import type { Exchange } from '../protocol/handler.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { CacheHints, McpResult } from '../protocol/result.ts';
import type { ResultMeta } from '../protocol/meta.ts';
import { shareJson } from '../protocol/shared-json.ts';
import { isVisible } from './access.ts';
import { encodeCursor, type Position } from './cursor.ts';
import type { Definition } from './definition.ts';
import type { Registry } from './registry.ts';

/** What all pages of a list have in common. */
export interface ListOptions {
  readonly row: MethodRow & { readonly pages: string };
  readonly pageSize: number | undefined;
  readonly cacheHints: CacheHints;
  /** Of every result: who serves it. */
  readonly meta: ResultMeta | undefined;
}

/** Callers with the same visible definitions share pages; more different sets than this start over. */
const MAX_VISIBLE_SETS = 64;

/** Pages that are kept beside those of a client that walks the list. */
const SPARE_PAGES = 8;

/** The definitions that one set of callers may see, and the pages made of them so far. */
interface VisibleSet<Kind extends Definition> {
  readonly definitions: readonly Kind[];
  readonly pages: Map<number, McpResult>;
}

/** One slice of a list. */
export interface ListSlice<Kind extends Definition> {
  readonly definitions: readonly Kind[];
  readonly isLast: boolean;
  /** The slice as a finished result, made once for all who see the same. */
  result(): McpResult;
}

/**
 * A list of registered definitions: in the order of their keys, cut into pages by the last key, and serialised once per
 * set of callers that see the same.
 */
export class ListPages<Kind extends Definition> {
  readonly #registry: Registry<Kind>;
  readonly #options: ListOptions;
  #sorted: readonly Kind[] = [];
  #hidesSome = false;
  #sets = new Map<string, VisibleSet<Kind>>();

  constructor(registry: Registry<Kind>, options: ListOptions) {
    this.#registry = registry;
    this.#options = options;
  }

  /** @param after the key behind which the slice starts; absent: at the beginning */
  async slice(after: string | undefined, exchange: Exchange): Promise<ListSlice<Kind>> {
    const set = await this.#visibleTo(exchange);
    const { pageSize = Infinity } = this.#options;
    const start = after === undefined ? 0 : firstBehind(set.definitions, after);
    const isLast = start + pageSize >= set.definitions.length;
    const definitions =
      start === 0 && isLast ? set.definitions : set.definitions.slice(start, isLast ? undefined : start + pageSize);
    return { definitions, isLast, result: () => this.#page(set, start, definitions, isLast) };
  }

  async #visibleTo(exchange: Exchange): Promise<VisibleSet<Kind>> {
    const sorted = this.#registry.sorted();
    if (this.#sorted !== sorted) {
      this.#sorted = sorted;
      this.#hidesSome = sorted.some(({ config }) => config.visible !== undefined);
      this.#sets = new Map();
    }
    const sets = this.#sets;
    const visible = this.#hidesSome
      ? await Promise.all(sorted.map(async (definition) => isVisible(definition, exchange)))
      : undefined;
    const key = visible === undefined ? '' : visible.map((flag) => (flag ? '1' : '0')).join('');
    let set = sets.get(key);
    if (set === undefined) {
      set = { definitions: visible ? sorted.filter((_, index) => visible[index]) : sorted, pages: new Map() };
      if (sets.size >= MAX_VISIBLE_SETS) sets.clear();
      sets.set(key, set);
    }
    return set;
  }

  #page(set: VisibleSet<Kind>, start: number, definitions: readonly Kind[], isLast: boolean): McpResult {
    let page = set.pages.get(start);
    if (page === undefined) {
      const last = definitions.at(-1);
      page = sharedListResult(
        this.#options,
        definitions,
        isLast || last === undefined ? undefined : { after: last.key },
      );
      // A client can name any key as the start of a page, so that there could be one for each.
      if (set.pages.size > set.definitions.length / (this.#options.pageSize ?? 1) + SPARE_PAGES) set.pages.clear();
      set.pages.set(start, page);
    }
    return page;
  }
}

/** A list result. Provider pages are made anew each time; registered definitions are shared, see below. */
export function listResult(options: ListOptions, entries: readonly object[], next: Position | undefined): McpResult {
  return { resultType: 'complete', [options.row.pages]: entries, ...membersBeside(options, next) };
}

/** The same for definitions that have their JSON already: their texts are joined, not made again. */
function sharedListResult(
  options: ListOptions,
  definitions: readonly Definition[],
  next: Position | undefined,
): McpResult {
  const entries = definitions.map(({ advertised }) => advertised);
  const texts = definitions.map(({ json }) => json);
  const beside = JSON.stringify(membersBeside(options, next)).slice(1);
  const json = `{"resultType":"complete",${JSON.stringify(options.row.pages)}:[${texts.join(',')}],${beside}`;
  return shareJson(listResult(options, entries, next), json);
}

function membersBeside({ row, cacheHints, meta }: ListOptions, next: Position | undefined): object {
  return {
    ...(next !== undefined && { nextCursor: encodeCursor(row.name, next) }),
    ...cacheHints,
    ...(meta !== undefined && { _meta: meta }),
  };
}

/** Index of the first definition whose key is greater; they are sorted. */
function firstBehind(definitions: readonly Definition[], key: string): number {
  let low = 0;
  let high = definitions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((definitions[middle]?.key ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
