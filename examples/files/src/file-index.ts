/** Which paths are wanted. */
export interface PathQuery {
  /** What they begin with. Default: all. */
  readonly prefix?: string;
  /** Only those that come after this one, which need not exist any more. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface FoundPaths {
  readonly paths: readonly string[];
  /** Further ones come after these. */
  readonly hasMore: boolean;
  /** All that begin with the prefix. */
  readonly total: number;
}

/**
 * The relative paths of all files, sorted by code units. What begins with the same prefix lies side by side, so that
 * pages, folders and completions are slices that a binary search finds, however many files there are.
 */
export class FileIndex {
  readonly #paths: string[];

  constructor(paths: Iterable<string> = []) {
    this.#paths = [...paths].sort();
  }

  get size(): number {
    return this.#paths.length;
  }

  find({ prefix = '', after = '', limit }: PathQuery): FoundPaths {
    const first = this.#firstWhere((path) => path >= prefix);
    const end = this.#firstWhere((path) => path >= prefix && !path.startsWith(prefix));
    const start =
      after < prefix
        ? first
        : Math.min(
            end,
            this.#firstWhere((path) => path > after),
          );
    const stop = Math.min(end, start + limit);
    return { paths: this.#paths.slice(start, stop), hasMore: stop < end, total: end - first };
  }

  /** @returns whether it was not there before */
  add(path: string): boolean {
    const position = this.#firstWhere((other) => other >= path);
    if (this.#paths[position] === path) return false;
    this.#paths.splice(position, 0, path);
    return true;
  }

  /** @returns whether it was there */
  delete(path: string): boolean {
    const position = this.#firstWhere((other) => other >= path);
    if (this.#paths[position] !== path) return false;
    this.#paths.splice(position, 1);
    return true;
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#paths.values();
  }

  /** Position of the first path for which the condition holds; it holds for all behind it too. */
  #firstWhere(condition: (path: string) => boolean): number {
    let low = 0;
    let high = this.#paths.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (condition(this.#paths[middle] ?? '')) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
