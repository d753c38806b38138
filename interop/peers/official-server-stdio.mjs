// The official server as a process that speaks over its standard streams. It tells on standard error what happens in it.
// --noisy: and on standard output too, where nothing but the protocol belongs. --fail: it ends at once.
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createOfficialServer, OfficialServerState } from './official-server.mjs';

if (process.argv.includes('--fail')) {
  process.stderr.write('This server does not want to start.\n');
  process.exit(3);
}
const isNoisy = process.argv.includes('--noisy');
if (isNoisy) process.stdout.write('Welcome!\n\n{"half": \n[1, 2]\n');

const state = new OfficialServerState((text) => {
  process.stderr.write(`${text}\n`);
  if (isNoisy) process.stdout.write(`${text}\n`);
});
const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: 64 * 1024 * 1024 });
serveStdio(() => createOfficialServer(state), { transport });
