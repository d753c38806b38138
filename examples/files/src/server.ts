import { McpServer } from 'stateless-mcp';
import { fileUri } from './file-uri.ts';
import type { Folder } from './folder.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { registerTools } from './tools.ts';
import type { FolderListener } from './watch.ts';

/** A server for the text files of a folder. */
export function createFilesServer(folder: Folder): McpServer {
  const server = new McpServer(
    { name: 'files', title: 'Files', version: '1.0.0' },
    {
      instructions: 'Text files of one folder, by paths relative to it. Search first, then read what was found.',
      capabilities: { resources: { listChanged: true, subscribe: true } },
      pageSize: 500,
    },
  );
  registerResources(server, folder);
  registerTools(server, folder);
  registerPrompts(server, folder);
  return server;
}

/** Files often come and go in crowds; that the list is another one is said once. */
const LIST_CHANGES_TOGETHER_MS = 200;

/** Announces what happens in the folder to the clients that listen. */
export function announceChanges({ notify }: McpServer): Pick<FolderListener, 'fileChanged' | 'listChanged'> {
  let timer: NodeJS.Timeout | undefined;
  return {
    fileChanged: (path) => notify.resourceUpdated(fileUri(path)),
    listChanged: () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        notify.resourcesChanged();
      }, LIST_CHANGES_TOGETHER_MS);
    },
  };
}
