import type { HttpBinding } from './http-binding.ts';

/**
 * The bytes of a request body, never more than the limit of the binding and not longer than it waits.
 *
 * @throws McpError 413, 408
 */
export async function readFetchBody(request: Request, binding: HttpBinding): Promise<Uint8Array> {
  const { maxBodyBytes, bodyTimeoutMs } = binding.limits;
  if (request.bodyUsed) throw new TypeError('The body was used already');
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const deadline = Date.now() + bodyTimeoutMs;
  let isLate = false;
  const watch = {
    tick: (now: number) => {
      if (now < deadline) return;
      isLate = true;
      void reader.cancel().catch(() => {});
    },
  };
  binding.sweep.add(watch);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.length;
      if (length > maxBodyBytes) {
        void reader.cancel().catch(() => {});
        throw binding.bodyTooLarge();
      }
      chunks.push(next.value);
    }
  } finally {
    binding.sweep.remove(watch);
  }
  if (isLate) throw binding.bodyTooSlow();
  return joined(chunks, length);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
