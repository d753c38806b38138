import type { Definition } from './definition.ts';

/** A registered definition, for changing it later. Clients that listen are told of every change. */
export interface Registration<Config, Handler> {
  /** Name or URI. */
  readonly key: string;
  readonly enabled: boolean;
  /** Replaces what is named in `changes`, and the handler if one is given. Throws what registering would throw. */
  update(changes: Partial<Config>, handler?: Handler): void;
  /** Makes it known again. */
  enable(): void;
  /** Makes it unknown, in lists and everywhere else. */
  disable(): void;
  /** Makes it unknown for good and its key free. */
  remove(): void;
}

interface Entry<Kind> {
  definition: Kind;
  enabled: boolean;
}

/** The definitions of one kind, by key. */
export class Registry<Kind extends Definition> {
  readonly #entries = new Map<string, Entry<Kind>>();
  readonly #onChange: () => void;
  #sorted: readonly Kind[] | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: string): Kind | undefined {
    const entry = this.#entries.get(key);
    return entry?.enabled === true ? entry.definition : undefined;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** What is enabled, in the order of registration. */
  *[Symbol.iterator](): Iterator<Kind> {
    for (const { definition, enabled } of this.#entries.values()) if (enabled) yield definition;
  }

  /** What is enabled, by code units of the key. The same array until something changes. */
  sorted(): readonly Kind[] {
    return (this.#sorted ??= [...this].sort((a, b) => (a.key < b.key ? -1 : 1)));
  }

  /** @param compile makes the definition anew from changed config and handler, and throws what is wrong with them */
  register<Config extends object, Handler>(
    config: Config,
    handler: Handler,
    compile: (config: Config, handler: Handler) => Kind,
  ): Registration<Config, Handler> {
    // What the caller does with its object afterwards changes nothing here.
    const current = { config: { ...config }, handler };
    const definition = compile(current.config, handler);
    const { key, label } = definition;
    if (this.#entries.has(key)) throw new TypeError(`${label} is registered already; update or remove that one`);
    const entry: Entry<Kind> = { definition, enabled: true };
    this.#entries.set(key, entry);
    this.#changed();

    const setEnabled = (enabled: boolean): void => {
      if (entry.enabled === enabled) return;
      entry.enabled = enabled;
      this.#changed(entry);
    };
    return {
      key,
      get enabled() {
        return entry.enabled;
      },
      update: (changes, newHandler = current.handler) => {
        const newConfig = { ...current.config, ...changes };
        // Who runs already goes on counting.
        entry.definition = { ...compile(newConfig, newHandler), load: entry.definition.load };
        current.config = newConfig;
        current.handler = newHandler;
        this.#changed(entry);
      },
      enable: () => setEnabled(true),
      disable: () => setEnabled(false),
      remove: () => {
        if (this.#entries.get(key) !== entry) return;
        this.#entries.delete(key);
        entry.enabled = false;
        this.#changed();
      },
    };
  }

  /** A handle may outlive its entry; then it changes nothing that anybody can see. */
  #changed(entry?: Entry<Kind>): void {
    if (entry !== undefined && this.#entries.get(entry.definition.key) !== entry) return;
    this.#sorted = undefined;
    this.#onChange();
  }
}
