import { McpError, type McpServer } from 'stateless-mcp';
import { INVALID_PARAMS } from 'stateless-mcp/protocol';
import { z } from 'zod';
import { suggestPaths } from './completion.ts';
import { mediaTypeOf } from './file-types.ts';
import { fileUri } from './file-uri.ts';
import type { Folder } from './folder.ts';
import { FileUnavailableError, readTextFile } from './text-file.ts';

/** Ready-made requests about the files. */
export function registerPrompts(server: McpServer, { root, index }: Folder): void {
  server.registerPrompt(
    'summarize_file',
    {
      title: 'Summarize a file',
      description: 'Asks for a short summary of one file',
      argsSchema: z.object({ path: z.string().describe('Path of the file in the folder') }),
      complete: { path: (typed) => suggestPaths(index, typed) },
    },
    async ({ path }) => {
      const text = await readTextFile(root, path).catch(refuse);
      const resource = { uri: fileUri(path), mimeType: mediaTypeOf(path), text };
      return {
        messages: [
          { role: 'user', content: { type: 'resource', resource } },
          {
            role: 'user',
            content: { type: 'text', text: `Summarize ${path} in a few sentences: what it is for and what it says.` },
          },
        ],
      };
    },
  );
}

function refuse(error: unknown): never {
  throw error instanceof FileUnavailableError ? new McpError(INVALID_PARAMS, error.message) : error;
}
