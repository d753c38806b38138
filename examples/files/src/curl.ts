import {
  CALL_TOOL,
  CLIENT_CAPABILITIES_META_KEY,
  DISCOVER,
  LIST_RESOURCES,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
  READ_RESOURCE,
} from 'stateless-mcp/protocol';

/** One request to try the server with. */
interface Example {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** What the request is about, if the protocol wants it in a header. */
  readonly name?: string;
}

/**
 * Commands for a shell that show what the server can do.
 *
 * @param uri of a resource that exists, if there is one
 */
export function curlCommands(url: string, uri: string | undefined): readonly string[] {
  const search = { name: 'search_files', arguments: { query: 'mcp', limit: 5 } };
  const examples: readonly Example[] = [
    { method: DISCOVER.name, params: {} },
    { method: CALL_TOOL.name, params: search, name: search.name },
    uri === undefined
      ? { method: LIST_RESOURCES.name, params: {} }
      : { method: READ_RESOURCE.name, params: { uri }, name: uri },
  ];
  return examples.map((example, index) => curlCommand(url, index + 1, example));
}

function curlCommand(url: string, id: number, { method, params, name }: Example): string {
  const _meta = { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {} };
  const message = { jsonrpc: '2.0', id, method, params: { _meta, ...params } };
  const headers = [
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `MCP-Protocol-Version: ${PROTOCOL_VERSION}`,
    `Mcp-Method: ${method}`,
    ...(name === undefined ? [] : [`Mcp-Name: ${name}`]),
  ];
  return [
    `curl -sS ${url}`,
    ...headers.map((header) => `-H ${quote(header)}`),
    `-d ${quote(JSON.stringify(message))}`,
  ].join(' \\\n  ');
}

/** For POSIX shells: between single quotes, only a single quote needs care. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
