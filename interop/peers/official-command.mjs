import { join } from 'node:path';

const program = join(import.meta.dirname, 'official-server-stdio.mjs');

/**
 * The official server as a target for our client.
 *
 * @param {import('stateless-mcp/stdio').StdioPeerOptions & { args?: string[] }} [options]
 */
export function officialCommand({ args = [], ...options } = {}) {
  return { command: process.execPath, args: [program, ...args], ...options };
}
