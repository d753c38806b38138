/** A JSON-RPC message as it came off the wire. */
export interface WireMessage {
  readonly jsonrpc: string;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The messages of an HTTP answer, one JSON body or an event stream, as they arrive. */
export async function* readMessages(response: Response): AsyncGenerator<WireMessage, void> {
  if (response.headers.get('content-type') !== 'text/event-stream') {
    const text = await response.text();
    if (text !== '') yield JSON.parse(text) as WireMessage;
    return;
  }
  if (response.body === null) return;
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      if (event.startsWith('data: ')) yield JSON.parse(event.slice('data: '.length)) as WireMessage;
    }
  }
}
