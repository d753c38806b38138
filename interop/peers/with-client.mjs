import { connect } from 'stateless-mcp';

/**
 * Connects our client, and closes it after use.
 *
 * @param {import('stateless-mcp').ConnectTarget} target
 * @param {(client: import('stateless-mcp').McpClient) => Promise<void>} use
 */
export async function withClient(target, use) {
  const client = await connect(target);
  try {
    await use(client);
  } finally {
    await client.close();
  }
}
