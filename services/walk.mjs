import assert from 'node:assert/strict';
import { LIST_RESOURCES } from 'stateless-mcp/protocol';

/**
 * Asks a server of files for everything that it offers, right and wrong, one request after the other.
 *
 * @param {import('stateless-mcp').McpClient} client
 * @returns what came of each request
 */
export async function walk(client) {
  const outcomes = [];
  const note = async (promise) => {
    // Errors are answers too.
    outcomes.push(await promise.catch(({ name, code, message, data }) => ({ name, code, message, data })));
  };
  await note(client.discover({ cache: 'reload' }));
  await note(client.listTools());
  await note(client.listResourceTemplates());
  await note(client.listPrompts());

  await note(client.listResources());
  for await (const page of client.pages(LIST_RESOURCES)) outcomes.push(page);
  await note(client.request(LIST_RESOURCES, { cursor: 'not one of theirs' }));

  await note(client.callTool('list_files', { prefix: 'notes/', limit: 7 }));
  const reports = [];
  const onProgress = (report) => void reports.push(report);
  await note(client.callTool('search_files', { query: 'needle' }, { onProgress }));
  assert.ok(reports.length > 0, 'nothing was heard of progress');
  outcomes.push(reports);
  await note(client.callTool('read_file', { path: 'Übersicht & more.md' }));
  await note(client.callTool('read_file', { path: 'start.md', startLine: 2 }));
  await note(client.callTool('read_file', { path: 'none.md' }));
  await note(client.callTool('read_file', { path: 7 }));
  await note(client.callTool('no_such_tool'));

  await note(client.readResource('files:///start.md'));
  await note(client.readResource('files:///%C3%9Cbersicht%20&%20more.md'));
  await note(client.readResource('files:///none.md'));
  await note(client.getPrompt('summarize_file', { path: 'start.md' }));
  await note(client.getPrompt('summarize_file'));
  await note(client.getPrompt('no_such_prompt'));
  for (const ref of [
    { type: 'ref/prompt', name: 'summarize_file' },
    { type: 'ref/resource', uri: 'files:///{+path}' },
  ]) {
    await note(client.complete({ ref, argument: { name: 'path', value: 'notes/note-000' } }));
  }
  await note(client.request({ name: 'com.example/none' }, {}));
  return outcomes;
}
