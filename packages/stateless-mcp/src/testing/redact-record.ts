import { isObject } from '../protocol/json.ts';
import { redactSecrets } from '../protocol/redact.ts';

const PLACE = '[redacted]';

/** Takes out of records what looks like a secret, and what it is told is one. */
export class RecordRedaction {
  readonly #known: Set<string>;

  constructor(secrets: readonly string[]) {
    this.#known = new Set(secrets);
  }

  text(text: string): string {
    return redactSecrets(text, this.#known);
  }

  /** What was in a header that carries credentials is taken out of everything that follows, too. */
  header(name: string, value: string): string {
    if (!isSecretName(name)) return this.text(value);
    // Of `Bearer abc` the second word alone is a secret too.
    for (const secret of [value, ...value.split(' ').slice(1)]) this.#known.add(secret);
    return PLACE;
  }

  /** A JSON value, unchanged where there is nothing to hide. */
  value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.value(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' && isSecretName(name) ? PLACE : this.value(member),
    ]);
    const isChanged = members.some(([name, member]) => member !== value[String(name)]);
    return isChanged ? Object.fromEntries(members) : value;
  }
}

/** By the same rules as in a text. Names of tokens that are no credentials belong to the protocol. */
function isSecretName(name: string): boolean {
  const assignment = `${name}=0`;
  return name !== 'progressToken' && redactSecrets(assignment) !== assignment;
}
