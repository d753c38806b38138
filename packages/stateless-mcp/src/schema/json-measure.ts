/** How deep a value may nest that is checked against a schema: as deep as a message may. */
const MAX_VALUE_DEPTH = 128;

/** Size and kind of a value, for those who must bound their work on it. */
export interface JsonMeasure {
  /** Values in it, itself included. */
  readonly nodes: number;
  /** Number of members of its largest object. */
  readonly largestObject: number;
  /** Length of its longest member name, in UTF-16 code units. */
  readonly longestName: number;
  /** False when JSON would write it differently: `undefined`, dates, class instances, `NaN`, … */
  readonly isPlain: boolean;
}

/** Measures a value; `undefined` when it nests too deep or in a cycle. */
export function measureJson(value: unknown): JsonMeasure | undefined {
  let nodes = 0;
  let largestObject = 0;
  let longestName = 0;
  let isPlain = true;

  const visit = (current: unknown, depth: number): boolean => {
    nodes++;
    if (typeof current !== 'object' || current === null) {
      isPlain &&=
        current === null || typeof current === 'string' || typeof current === 'boolean' || Number.isFinite(current);
      return true;
    }
    if (depth >= MAX_VALUE_DEPTH) return false;
    if (Array.isArray(current)) {
      for (const item of current) if (!visit(item, depth + 1)) return false;
      return true;
    }
    const prototype: unknown = Object.getPrototypeOf(current);
    isPlain &&= prototype === null || prototype === Object.prototype;
    let size = 0;
    for (const [name, member] of Object.entries(current)) {
      size++;
      if (name.length > longestName) longestName = name.length;
      if (name === 'toJSON' && typeof member === 'function') isPlain = false;
      if (!visit(member, depth + 1)) return false;
    }
    if (size > largestObject) largestObject = size;
    return true;
  };

  return visit(value, 0) ? { nodes, largestObject, longestName, isPlain } : undefined;
}
