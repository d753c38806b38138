/**
 * A failure that the model should read: thrown in a tool's handler, it becomes a result with `isError` and this text.
 * Any other error is unexpected, and its text stays in the server's log.
 *
 * @example throw new ToolError(`There is no city called "${city}"; try the English name`);
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
