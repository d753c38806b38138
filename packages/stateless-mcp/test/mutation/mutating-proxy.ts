import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { formatFrame, isEvent, type SseFrame, SseReader } from '../wire/sse-frames.ts';
import {
  type HeaderPairs,
  isJsonObject,
  parseJson,
  readHeader,
  type WireHead,
  type WireMutation,
  type WireReply,
  type WireRequest,
  withHeader,
} from './wire-model.ts';

export interface MutatingProxy {
  /** Where clients find the server instead. */
  readonly url: string;
  /** How often the mutation changed something. */
  readonly changes: () => number;
  /** What went wrong in the proxy itself. */
  readonly failures: readonly unknown[];
  close(): Promise<void>;
}

/** Stands in front of a server and violates one rule in its name. Streams keep flowing; a client that leaves is reported. */
export async function startMutatingProxy(upstreamUrl: string, mutation: WireMutation): Promise<MutatingProxy> {
  const upstream = new URL(upstreamUrl);
  const failures: unknown[] = [];
  let changes = 0;

  /** Counts what is not the same any more. */
  function changed<T>(before: T, after: T): T {
    if (before !== after) changes += 1;
    return after;
  }

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const original = await readRequest(incoming, upstream.host);
    const request = changed(original, mutation.request?.(original) ?? original);
    const onward = httpRequest({
      host: upstream.hostname,
      port: upstream.port,
      method: request.method,
      path: request.path,
      headers: withBodyLength(request.headers, request.body.byteLength).flat(),
      agent: false,
    });
    outgoing.once('close', () => {
      if (outgoing.writableFinished) return;
      if (mutation.ignoresLeaving) changes += 1;
      else onward.destroy();
    });
    onward.once('response', (response) => {
      answer(response, outgoing, original).catch((reason: unknown) => {
        // A connection that broke off breaks off here too; only the mutation's own mistakes are failures.
        if (!response.errored) failures.push(reason);
        outgoing.destroy();
      });
    });
    onward.on('error', () => outgoing.destroy());
    onward.end(request.body);
  }

  async function answer(response: IncomingMessage, outgoing: ServerResponse, request: WireRequest): Promise<void> {
    const received: WireHead = { status: response.statusCode ?? 0, headers: pairs(response.rawHeaders) };
    const head = changed(received, mutation.head?.(received, request) ?? received);
    const isStream = readHeader(received.headers, 'content-type')?.startsWith('text/event-stream') ?? false;
    await (isStream ? stream(response, outgoing, head, request) : reply(response, outgoing, head, request));
  }

  async function reply(
    response: IncomingMessage,
    outgoing: ServerResponse,
    head: WireHead,
    request: WireRequest,
  ): Promise<void> {
    const text = Buffer.concat(await response.toArray()).toString();
    const received: WireReply = { ...head, text: mutateMessage(text, request) };
    const sent = changed(received, mutation.reply?.(received, request) ?? received);
    const body = Buffer.from(sent.text);
    outgoing.writeHead(sent.status, withBodyLength(sent.headers, body.byteLength).flat());
    outgoing.end(body);
  }

  async function stream(
    response: IncomingMessage,
    outgoing: ServerResponse,
    head: WireHead,
    request: WireRequest,
  ): Promise<void> {
    outgoing.writeHead(head.status, head.headers.flat());
    outgoing.flushHeaders();
    const reader = new SseReader();
    let index = 0;
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      for (const frame of reader.push(chunk)) {
        for (const sent of mutateFrame(frame, index, request)) outgoing.write(formatFrame(sent));
        if (isEvent(frame)) index += 1;
      }
    }
    if (mutation.neverEnds) changes += 1;
    else outgoing.end();
  }

  function mutateFrame(frame: SseFrame, index: number, request: WireRequest): readonly SseFrame[] {
    const data = isEvent(frame) ? mutateMessage(frame.data, request) : undefined;
    const received = isEvent(frame) && data !== undefined && data !== frame.data ? { ...frame, data } : frame;
    const sent = mutation.frames?.(received, index, request) ?? [received];
    if (sent.length !== 1 || sent[0] !== received) changes += 1;
    return sent;
  }

  function mutateMessage(text: string, request: WireRequest): string {
    const message = mutation.message === undefined ? undefined : parseJson(text);
    if (!isJsonObject(message)) return text;
    const sent = changed(message, mutation.message?.(message, request) ?? message);
    return sent === message ? text : JSON.stringify(sent);
  }

  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing).catch((reason: unknown) => {
      if (!incoming.errored) failures.push(reason);
      outgoing.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}${upstream.pathname}`,
    changes: () => changes,
    failures,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRequest(incoming: IncomingMessage, upstreamHost: string): Promise<WireRequest> {
  const body = Buffer.concat(await incoming.toArray());
  const ownHost = `127.0.0.1:${incoming.socket.localPort}`;
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    // To the server it has to look as if the client had come straight to it.
    headers: pairs(incoming.rawHeaders).map(([name, value]) => [name, value.replace(ownHost, upstreamHost)] as const),
    body,
    message: parseJson(body.toString()),
  };
}

function pairs(rawHeaders: readonly string[]): HeaderPairs {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => {
    return [rawHeaders[2 * index] ?? '', rawHeaders[2 * index + 1] ?? ''] as const;
  });
}

/** A body that may have changed is sent with its own length; without any, as the headers say. */
function withBodyLength(headers: HeaderPairs, length: number): HeaderPairs {
  const unframed = withHeader(headers, 'transfer-encoding', undefined);
  return length === 0 && readHeader(headers, 'content-length') === undefined
    ? unframed
    : withHeader(unframed, 'content-length', String(length));
}
