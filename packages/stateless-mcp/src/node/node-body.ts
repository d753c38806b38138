import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { McpError } from '../protocol/errors.ts';
import { GatheredBytes } from '../protocol/gathered-bytes.ts';
import type { HttpBinding } from '../http/http-binding.ts';

/** Reads a request body and hands it over whole, or says why it is refused. Neither if the client left. */
export function readNodeBody(
  request: IncomingMessage,
  binding: HttpBinding,
  done: (body: Uint8Array) => void,
  refused: (error: McpError) => void,
): void {
  const { maxBodyBytes, bodyTimeoutMs } = binding.limits;
  const deadline = Date.now() + bodyTimeoutMs;
  const body = new GatheredBytes(maxBodyBytes);
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
    body.clear();
    refused(error);
  };
  binding.sweep.add(watch);
  request.on('data', (chunk: Buffer) => {
    if (isOver) return;
    if (body.length + chunk.length > maxBodyBytes) stop(binding.bodyTooLarge());
    else body.append(chunk);
  });
  request.on('end', () => {
    if (isOver) return;
    stop();
    done(body.bytes);
  });
}

/** Faster than `TextDecoder`, and as strict. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8');
}
