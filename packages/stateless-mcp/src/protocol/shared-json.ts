/**
 * A shared object is serialised once. Lists and change notifications are the same for many callers; whoever makes such
 * an object registers its JSON here, and bindings write that text with the id of their own exchange around it. The
 * object is frozen and the text kept by identity: a changed copy is another object, so that nothing can go stale.
 */
const textOf = new WeakMap<object, string>();

/** Freezes `value` to its depth and keeps `json` as its text. The caller answers for the two being the same. */
export function shareJson<Value extends object>(value: Value, json: string): Value {
  textOf.set(deepFreeze(value), json);
  return value;
}

/** What is frozen already is taken to be so to its depth: nothing here freezes halfway. */
export function deepFreeze<Value extends object>(value: Value): Value {
  Object.freeze(value);
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null && !Object.isFrozen(member)) deepFreeze(member);
  }
  return value;
}

/** Whether `value` has a kept text, and is therefore finished and frozen. */
export function isShared(value: object): boolean {
  return textOf.has(value);
}

/** The JSON of `value`: the kept text of a shared object, otherwise made now. */
export function jsonOf(value: object): string | undefined {
  // `toJSON` may leave nothing, whatever the declaration of JSON.stringify says.
  return textOf.get(value) ?? JSON.stringify(value);
}
