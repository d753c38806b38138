import { type HttpServer, type McpServer, serveHttp, serveStdio } from 'stateless-mcp';
import { parseCommandLine, USAGE, UsageError } from './command-line.ts';
import { curlCommands } from './curl.ts';
import { fileUri } from './file-uri.ts';
import { type Folder, NoFolderError, openFolder } from './folder.ts';
import { announceChanges, createFilesServer } from './server.ts';
import { watchFolder } from './watch.ts';

/** Time that running calls get when the server stops. */
const GRACE_MS = 5000;

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError || error instanceof NoFolderError ? 2 : 1;
}

async function main(args: readonly string[]): Promise<void> {
  const { dir, port, stdio, help } = parseCommandLine(args);
  if (help) {
    process.stdout.write(USAGE);
    return;
  }
  const folder = await openFolder(dir);
  const server = createFilesServer(folder);
  if (stdio) await overStdio(server, folder);
  else await overHttp(server, folder, port);
}

async function overStdio(server: McpServer, folder: Folder): Promise<void> {
  const connection = serveStdio(server);
  const watch = watched(server, folder);
  await connection.closed;
  await watch.close();
}

async function overHttp(server: McpServer, folder: Folder, port: number): Promise<void> {
  const http = await listen(server, port);
  const watch = watched(server, folder);
  greet(folder, http.url);

  let stopping: Promise<unknown> | undefined;
  const stop = (): void => {
    // npm passes a signal on to a process that has got it from the terminal already.
    stopping ??= Promise.all([http.drain({ graceMs: GRACE_MS }), watch.close()]);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
}

function watched(server: McpServer, folder: Folder): ReturnType<typeof watchFolder> {
  return watchFolder(folder, {
    ...announceChanges(server),
    problem: (message) => process.stderr.write(`${message}\n`),
  });
}

async function listen(server: McpServer, port: number): Promise<HttpServer> {
  try {
    return await serveHttp(server, { port });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const reason = error.code === 'EADDRINUSE' ? 'it is in use; choose another one with --port' : String(error.code);
    throw new Error(`Port ${port} cannot be opened: ${reason}`, { cause: error });
  }
}

function greet({ root, index }: Folder, url: string): void {
  const [path] = index.find({ limit: 1 }).paths;
  const commands = curlCommands(url, path && fileUri(path));
  process.stdout.write(`Serving ${root} (${index.size} text files) at ${url}\n\nTry it:\n\n${commands.join('\n\n')}\n`);
}
