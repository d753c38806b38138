// What every contender serves: the same tools, the same schemas made once, the same handler.
import { z } from 'zod';

export const serverInfo = { name: 'bench', version: '1.0.0' };

const count = 52;

export const tools = Array.from({ length: count }, (_, index) => ({
  name: `tool-${String(index).padStart(2, '0')}`,
  config: {
    description: `Adds a label to a number, in the way that number ${index} of ${count} does it.`,
    inputSchema: z.object({
      a: z.number().describe('The number'),
      b: z.string().max(200).describe('The label'),
      tags: z.array(z.string()).optional().describe('More labels'),
      unit: z.enum(['metre', 'second', 'kilogram']).optional().describe('What the number counts'),
    }),
  },
  handler: async ({ a, b, tags = [] }) => ({ content: [{ type: 'text', text: [b, a, ...tags].join(' ') }] }),
}));

/** Both servers are made alike. */
export function withTools(server) {
  for (const { name, config, handler } of tools) server.registerTool(name, config, handler);
  return server;
}
