/** A JSON-RPC message as it came off the wire. */
export interface WireMessage {
  readonly jsonrpc: string;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The messages of one HTTP answer, a JSON body or an event stream. */
export interface MessageReader {
  /** The next one as it arrives; `undefined` after the last. */
  next(): Promise<WireMessage | undefined>;
  /** Leaves the rest unread. */
  cancel(): Promise<void>;
}

export function readMessages({ headers, body }: Response): MessageReader {
  const reader = body?.getReader();
  const messages = reader === undefined ? undefined : parse(reader, isEventStream(headers));
  return {
    next: async () => (await messages?.next())?.value ?? undefined,
    cancel: async () => reader?.cancel().catch(() => undefined),
  };
}

export function isEventStream(headers: Headers): boolean {
  return headers.get('content-type') === 'text/event-stream';
}

async function* parse(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  isStream: boolean,
): AsyncGenerator<WireMessage, void> {
  const decoder = new TextDecoder();
  let text = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    text += decoder.decode(chunk.value, { stream: true });
    if (!isStream) continue;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      // Comments are signs of life.
      if (event.startsWith('data: ')) yield JSON.parse(event.slice('data: '.length)) as WireMessage;
    }
  }
  if (text !== '') yield JSON.parse(text) as WireMessage;
}
