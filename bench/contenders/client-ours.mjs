import { connect } from 'stateless-mcp';
import { McpClient } from 'stateless-mcp/client';
import { httpPeer } from 'stateless-mcp/http';

/** A client that has listed the tools, as whoever calls them has; with `fetch`, over that one instead of a socket. */
export async function openClient(url, fetch) {
  const client = fetch === undefined ? await connect(url) : new McpClient(httpPeer(url, { fetch }));
  await client.listTools();
  return {
    callTool: (name, toolArguments) => client.callTool(name, toolArguments),
    close: () => client.close(),
  };
}
