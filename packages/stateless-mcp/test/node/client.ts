import { onTestFinished } from 'vitest';
import {
  HttpFetchError,
  type HttpFetch,
  type HttpFetchRequest,
  type HttpFetchResponse,
} from '../../src/http/http-fetch.ts';
import { type NodeFetch, nodeFetch, type NodeFetchOptions } from '../../src/node/node-fetch.ts';

/** A client that is closed when the test is over. */
export function client(options?: NodeFetchOptions): NodeFetch {
  const fetch = nodeFetch(options);
  onTestFinished(() => fetch.close());
  return fetch;
}

/** A POST that only says what matters to a test. */
export async function post(
  fetch: HttpFetch,
  url: string,
  request: Partial<Pick<HttpFetchRequest, 'headers' | 'body' | 'signal'>> = {},
): Promise<HttpFetchResponse> {
  const { headers = {}, body = '{}', signal = new AbortController().signal } = request;
  return fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual', timeout: false });
}

/** The iterator of the body, for tests that read step by step. */
export function chunksOf({ body }: HttpFetchResponse): AsyncIterator<Uint8Array> {
  if (body === null || !(Symbol.asyncIterator in body)) throw new TypeError('There is no body to iterate over');
  return body[Symbol.asyncIterator]();
}

export async function textOf({ body }: HttpFetchResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  if (body !== null && Symbol.asyncIterator in body) for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** What a promise that must fail has rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<HttpFetchError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof HttpFetchError)) throw new TypeError(`Not an HttpFetchError: ${String(thrown)}`);
  return thrown;
}

export function codeOf({ cause }: HttpFetchError): unknown {
  return (cause as { readonly code?: unknown }).code;
}

/** Lets the event loop read what has arrived on loopback. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
