import { ResourceTemplate } from 'stateless-mcp';

/** The form of the resource URIs: a path relative to the folder, so not `file:`, which would be a path on the client. */
export const FILE_URI_TEMPLATE = 'files:///{+path}';

const template = new ResourceTemplate(FILE_URI_TEMPLATE);

/** The URI of a file. The template's `path` of it is the path again, whatever the name. */
export function fileUri(path: string): string {
  return template.expand({ path: escapePath(path) });
}

/**
 * The path as it goes into the template. `{+path}` encodes what a URI cannot hold and leaves the rest as it is; but in a
 * file name these three are only characters.
 */
export function escapePath(path: string): string {
  return path.replace(/[%?#]/g, encodeURIComponent);
}

/** The opposite of {@link escapePath}, for the beginning of a path that somebody types. */
export function unescapePath(escaped: string): string {
  return escaped.replace(/%(?:25|3F|23)/gi, decodeURIComponent);
}
