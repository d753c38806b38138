import { serveHttp } from 'stateless-mcp';
import {
  CLIENT_CAPABILITIES_META_KEY,
  encodeHeaderValue,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
} from 'stateless-mcp/protocol';
import { onTestFinished } from 'vitest';
import { type Folder, openFolder } from '../src/folder.ts';
import { createFilesServer } from '../src/server.ts';

type Params = Readonly<Record<string, unknown>>;

/** A JSON-RPC message, as far as these tests look at it. */
export interface Message {
  readonly method?: string;
  readonly params?: Params;
  readonly result?: Params;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface FilesClient {
  /** The messages of one answer as they arrive, the response last. */
  open(method: string, params?: Params, meta?: Params, signal?: AbortSignal): AsyncGenerator<Message>;
  /** All of them. */
  messages(method: string, params?: Params, meta?: Params): Promise<readonly Message[]>;
  /** The response to one request. */
  request(method: string, params?: Params): Promise<Message>;
  /** The result of a request that must succeed. */
  result(method: string, params?: Params): Promise<Params>;
  /** The result of a call, which may be an error for the model. */
  call(tool: string, toolArguments: Params): Promise<Params>;
}

/** Serves a folder for the time of one test. */
export async function serveFolder(path: string): Promise<{ folder: Folder; client: FilesClient }> {
  const folder = await openFolder(path);
  return { folder, client: await serveFiles(createFilesServer(folder)) };
}

export async function serveFiles(server: ReturnType<typeof createFilesServer>): Promise<FilesClient> {
  const { url, close } = await serveHttp(server, { port: 0 });
  onTestFinished(close);
  return clientOf(url);
}

function clientOf(url: string): FilesClient {
  const open: FilesClient['open'] = async function* (method, params = {}, meta = {}, signal) {
    const _meta = { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {}, ...meta };
    const name = params[method === 'resources/read' ? 'uri' : 'name'];
    const { body } = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': PROTOCOL_VERSION,
        'Mcp-Method': method,
        ...(typeof name === 'string' && { 'Mcp-Name': encodeHeaderValue(name) }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta, ...params } }),
      ...(signal && { signal }),
    });
    let unread = '';
    for await (const text of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (unread + text).split('\n');
      unread = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as Message;
    }
    if (unread !== '') yield JSON.parse(unread) as Message;
  };
  const messages: FilesClient['messages'] = async (...request) => {
    const all: Message[] = [];
    for await (const message of open(...request)) all.push(message);
    return all;
  };
  const request: FilesClient['request'] = async (method, params) => (await messages(method, params)).at(-1) ?? {};
  const result: FilesClient['result'] = async (method, params) => {
    const message = await request(method, params);
    if (message.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(message.error)}`);
    return message.result;
  };
  return {
    open,
    messages,
    request,
    result,
    call: async (tool, toolArguments) => result('tools/call', { name: tool, arguments: toolArguments }),
  };
}
