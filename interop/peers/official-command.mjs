import { fileURLToPath } from 'node:url';

const program = fileURLToPath(import.meta.resolve('./official-server-stdio.mjs'));

/**
 * The official server as a target for our client.
 *
 * @param {import('stateless-mcp/stdio').StdioPeerOptions & { args?: string[] }} [options]
 */
export function officialCommand({ args = [], ...options } = {}) {
  return { command: process.execPath, args: [program, ...args], ...options };
}
