import { EventEmitter, once } from 'node:events';
import { type McpClient, RemoteError } from 'stateless-mcp';
import { LIST_RESOURCES } from 'stateless-mcp/protocol';

export interface Tour {
  readonly print: (line: string) => void;
  /** Changes something that the server watches. Absent: the tour leaves changes out. */
  readonly change?: () => Promise<void>;
}

/** Goes through everything that a server of files offers, and says what came back. */
export async function walk(client: McpClient, { print, change }: Tour): Promise<void> {
  const { capabilities, instructions } = await client.discover();
  print(`offers ${Object.keys(capabilities).join(', ')}: ${instructions ?? 'no instructions'}`);

  const { tools } = await client.listTools();
  for (const { name, description } of tools) print(`tool ${name}: ${description}`);

  const { structuredContent } = await client.callTool('list_files', { limit: 3 });
  print(`list_files: ${JSON.stringify(structuredContent)}`);

  // A search can take long: progress arrives while it runs, and `signal` would call it off.
  const found = await client.callTool(
    'search_files',
    { query: 'the', limit: 3 },
    { signal: AbortSignal.timeout(30_000), onProgress: ({ message }) => print(`progress: ${message}`) },
  );
  print(`search_files: ${JSON.stringify(found.structuredContent)}`);

  // The whole list, however many pages it has; then the same page by page.
  const { resources } = await client.listResources();
  let pages = 0;
  for await (const page of client.pages(LIST_RESOURCES)) pages += page.resources.length === 0 ? 0 : 1;
  print(`${resources.length} resources in ${pages} pages`);
  const { resourceTemplates } = await client.listResourceTemplates();
  for (const { name, uriTemplate } of resourceTemplates) print(`template ${name}: ${uriTemplate}`);

  const [first] = resources;
  if (first !== undefined) {
    const { contents } = await client.readResource(first.uri);
    for (const content of contents) print(`${content.uri}: ${'text' in content ? content.text.length : 0} characters`);

    const { messages } = await client.getPrompt('summarize_file', { path: first.name });
    print(`summarize_file: ${messages.length} messages`);

    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'summarize_file' },
      argument: { name: 'path', value: first.name.slice(0, 1) },
    });
    print(`completion: ${completion.values.length} of ${completion.total} paths`);
  }

  // A tool that fails says so in its result, for a model to read. A wrong request is an error.
  const failed = await client.callTool('read_file', { path: 'no/such/file' });
  print(`read_file failed: ${failed.isError}: ${JSON.stringify(failed.content)}`);
  try {
    await client.readResource('files:///no/such/file');
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    print(`refused with ${error.code}: ${error.message}`);
  }

  if (change !== undefined) await watchOneChange(client, print, change);
  const { transport, requests, cache } = client.explain();
  print(`${requests} requests over ${transport}, ${cache.hits} answers from the cache`);
}

async function watchOneChange(client: McpClient, print: Tour['print'], change: () => Promise<void>): Promise<void> {
  const heard = new EventEmitter();
  await using subscription = await client.listen(
    { resourcesListChanged: true },
    { onChange: ({ method }) => void heard.emit('change', method) },
  );
  print(`listening for ${Object.keys(subscription.honored).join(', ')}`);
  const next = once(heard, 'change', { signal: AbortSignal.timeout(30_000) });
  await change();
  print(`changed: ${String(await next)}`);
}
