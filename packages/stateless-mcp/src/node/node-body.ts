import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { McpError } from '../protocol/errors.ts';
import type { HttpBinding } from '../http/http-binding.ts';

/** Reads a request body and hands it over whole, or says why it is refused. Neither if the client left. */
export function readNodeBody(
  request: IncomingMessage,
  binding: HttpBinding,
  done: (body: Buffer) => void,
  refused: (error: McpError) => void,
): void {
  const { maxBodyBytes, bodyTimeoutMs } = binding.limits;
  const deadline = Date.now() + bodyTimeoutMs;
  let chunks: Buffer[] = [];
  let length = 0;
  let isOver = false;
  const watch = {
    tick: (now: number) => {
      // No listener for a client that left: one for each request would cost more than it finds.
      if (request.destroyed) stop();
      else if (now >= deadline) stop(binding.bodyTooSlow());
    },
  };
  const stop = (error?: McpError): void => {
    if (isOver) return;
    isOver = true;
    binding.sweep.remove(watch);
    if (error === undefined) return;
    chunks = [];
    refused(error);
  };
  binding.sweep.add(watch);
  request.on('data', (chunk: Buffer) => {
    if (isOver) return;
    length += chunk.length;
    if (length > maxBodyBytes) stop(binding.bodyTooLarge());
    else chunks.push(chunk);
  });
  request.on('end', () => {
    if (isOver) return;
    stop();
    const [first] = chunks;
    done(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length));
  });
}

/** Faster than `TextDecoder`, and as strict. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8');
}
