import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** A client that has listed the tools, as whoever calls them has; with `fetch`, over that one instead of the global one. */
export async function openClient(url, fetch) {
  const client = new Client(
    { name: 'bench-client', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), fetch && { fetch }));
  await client.listTools();
  return {
    callTool: (name, toolArguments) => client.callTool({ name, arguments: toolArguments }),
    close: () => client.close(),
  };
}
