import { GatheredBytes } from '../protocol/gathered-bytes.ts';
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
  const body = new GatheredBytes(maxBodyBytes);
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
      if (body.length + next.value.length > maxBodyBytes) {
        void reader.cancel().catch(() => {});
        throw binding.bodyTooLarge();
      }
      body.append(next.value);
    }
  } finally {
    binding.sweep.remove(watch);
  }
  if (isLate) throw binding.bodyTooSlow();
  return body.bytes;
}
