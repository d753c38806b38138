import { type McpServer, ToolError } from 'stateless-mcp';
import { z } from 'zod';
import type { Folder } from './folder.ts';
import { resolveInside } from './safe-path.ts';
import { searchFiles } from './search.ts';
import { FileUnavailableError, readTextFile } from './text-file.ts';

const MAX_PATH_LENGTH = 4096;

const path = z.string().min(1).max(MAX_PATH_LENGTH).describe('Path in the folder, such as guide/start.md');
const folder = z
  .string()
  .max(MAX_PATH_LENGTH)
  .optional()
  .describe('Only files in this folder, such as guide; default: all');
const lineNumber = z.int().min(1);

const annotations = { readOnlyHint: true, openWorldHint: false };

/** Tools that find files and read them. */
export function registerTools(server: McpServer, served: Folder): void {
  server.registerTool(
    'list_files',
    {
      title: 'List files',
      description: 'Lists text files by their paths, in alphabetical order.',
      annotations,
      inputSchema: z.object({
        folder,
        prefix: z.string().max(MAX_PATH_LENGTH).default('').describe('Only files whose path in it begins like this'),
        limit: z.int().min(1).max(1000).default(200),
      }),
      outputSchema: z.object({
        files: z.array(z.string()),
        total: z.int().describe('How many there are, of which "limit" are listed'),
      }),
    },
    ({ folder, prefix, limit }) => {
      const { paths, total } = served.index.find({ prefix: prefixOf(served, folder) + prefix, limit });
      return { files: [...paths], total };
    },
  );

  server.registerTool(
    'search_files',
    {
      title: 'Search files',
      description: 'Finds the lines that contain a text, in upper or lower case. Patterns have no special meaning.',
      annotations,
      inputSchema: z.object({
        query: z.string().min(1).max(1000).describe('The text to find, within one line'),
        folder,
        limit: z.int().min(1).max(1000).default(100).describe('How many matching lines to return'),
      }),
      outputSchema: z.object({
        matches: z.array(z.object({ path: z.string(), line: lineNumber, text: z.string() })),
        filesSearched: z.int(),
        truncated: z.boolean().describe('There are more matching lines than these'),
      }),
    },
    async ({ query, folder, limit }, { signal, progress }) =>
      searchFiles(served, {
        query,
        prefix: prefixOf(served, folder),
        maxMatches: limit,
        signal,
        onProgress: (filesSearched, files) =>
          progress(filesSearched, files, `${filesSearched} of ${files} files searched`),
      }),
  );

  server.registerTool(
    'read_file',
    {
      title: 'Read a file',
      description: 'Reads a text file, whole or in part.',
      annotations,
      inputSchema: z.object({
        path,
        startLine: lineNumber.default(1).describe('First line to return, counted from 1'),
        endLine: lineNumber.optional().describe('Last line to return; default: to the end'),
      }),
    },
    async ({ path, startLine, endLine }) => {
      const text = await readTextFile(served.root, path).catch(tellModel);
      if (startLine === 1 && endLine === undefined) return text;
      const lines = text.split(/(?<=\n)/);
      if (startLine > lines.length) throw new ToolError(`"${path}" ends with line ${lines.length}`);
      return lines.slice(startLine - 1, endLine).join('');
    },
  );
}

/** What the paths of all files in a folder begin with. */
function prefixOf({ root, index }: Folder, folder = ''): string {
  if (folder === '' || folder === '.') return '';
  const name = folder.replace(/\/$/, '');
  const prefix = `${name}/`;
  if (resolveInside(root, name) !== undefined && index.find({ prefix, limit: 1 }).total > 0) return prefix;
  throw new ToolError(`There are no files in "${folder}"`);
}

function tellModel(error: unknown): never {
  throw error instanceof FileUnavailableError ? new ToolError(error.message) : error;
}
