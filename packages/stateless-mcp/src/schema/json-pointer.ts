/** The JSON Pointer (RFC 6901) of a member below the value at `pointer`. */
export function childPointer(pointer: string, key: PropertyKey): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The keys that a JSON Pointer names, in order. */
export function pointerKeys(pointer: string): readonly string[] {
  return pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
