import { McpError, type McpServer, ResourceNotFoundError, ResourceTemplate } from 'stateless-mcp';
import { INVALID_PARAMS } from 'stateless-mcp/protocol';
import { suggestPaths } from './completion.ts';
import { mediaTypeOf } from './file-types.ts';
import { escapePath, FILE_URI_TEMPLATE, fileUri, unescapePath } from './file-uri.ts';
import type { Folder } from './folder.ts';
import { resolveInside } from './safe-path.ts';
import { FileUnavailableError, readTextFile } from './text-file.ts';

/** Every file of the folder as a resource. */
export function registerResources(server: McpServer, { root, index }: Folder): void {
  const template = new ResourceTemplate(FILE_URI_TEMPLATE, {
    list: ({ cursor, pageSize = Infinity }) => {
      // Any string will do as a cursor: the page begins behind the place where it would stand.
      const { paths, hasMore } = index.find({ after: cursor, limit: pageSize });
      const resources = paths.map((path) => ({ uri: fileUri(path), name: path, mimeType: mediaTypeOf(path) }));
      const last = paths.at(-1);
      return hasMore && last !== undefined ? { resources, nextCursor: last } : { resources };
    },
    complete: {
      path: (typed) => {
        const suggested = suggestPaths(index, unescapePath(typed));
        return { ...suggested, values: suggested.values.map(escapePath) };
      },
    },
    guard: ({ path }) => typeof path === 'string' && resolveInside(root, path) !== undefined,
  });

  server.registerResource(
    'file',
    template,
    { title: 'File', description: 'A text file, by its path in the folder' },
    async (uri, variables) => {
      const path = String(variables.path);
      const text = await readTextFile(root, path).catch((error: unknown) => refuse(uri, error));
      return { contents: [{ uri, mimeType: mediaTypeOf(path), text }] };
    },
  );
}

function refuse(uri: string, error: unknown): never {
  if (!(error instanceof FileUnavailableError)) throw error;
  if (error.reason === 'missing') throw new ResourceNotFoundError(uri);
  throw new McpError(INVALID_PARAMS, error.message, { data: { uri } });
}
