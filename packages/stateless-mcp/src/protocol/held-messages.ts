/** What is held back for a full channel; beyond it the oldest log messages go. */
const MAX_HELD_CHARACTERS = 256 * 1024;
/** What may not be dropped may not grow without end either. */
const MAX_KEPT_CHARACTERS = 4 * 1024 * 1024;

export type HeldKind = 'progress' | 'log' | 'other';

/**
 * Messages that wait for room in a channel, oldest first. The newest progress replaces the one that waits, and log messages
 * give way, because their senders need not wait; everything else stays.
 */
export class HeldMessages {
  readonly #events = new Map<number | 'progress', string>();
  /** Keys of those that may be dropped: looking for them among all others would take longer with every event. */
  readonly #logs = new Set<number | 'progress'>();
  #characters = 0;
  #next = 0;
  #droppedLogs = 0;

  get isEmpty(): boolean {
    return this.#events.size === 0;
  }

  get droppedLogs(): number {
    return this.#droppedLogs;
  }

  /** @returns whether it could be held: false if there is more than may ever wait */
  add(text: string, kind: HeldKind): boolean {
    const key = kind === 'progress' ? 'progress' : this.#next++;
    this.#remove(key);
    this.#events.set(key, text);
    if (kind === 'log') this.#logs.add(key);
    this.#characters += text.length;
    for (const oldest of this.#logs) {
      if (this.#characters <= MAX_HELD_CHARACTERS) break;
      this.#remove(oldest);
      this.#droppedLogs += 1;
    }
    return this.#characters <= MAX_KEPT_CHARACTERS;
  }

  /** Takes out the oldest. */
  take(): string | undefined {
    for (const [key, text] of this.#events) {
      this.#remove(key);
      return text;
    }
    return undefined;
  }

  clear(): void {
    this.#events.clear();
    this.#logs.clear();
    this.#characters = 0;
  }

  #remove(key: number | 'progress'): void {
    this.#characters -= this.#events.get(key)?.length ?? 0;
    this.#events.delete(key);
    this.#logs.delete(key);
  }
}
