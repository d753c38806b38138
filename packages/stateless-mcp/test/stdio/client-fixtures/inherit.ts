/** A program whose server shares its error stream. */
import { CLIENT_CAPABILITIES_META_KEY } from '../../../src/protocol/index.ts';
import { type StdioCommand, stdioPeer } from '../../../src/stdio/index.ts';

await using peer = stdioPeer(JSON.parse(process.argv[2] ?? '') as StdioCommand, { stderr: 'inherit' });
const never = new AbortController().signal;
await peer(
  { method: 'tools/call', params: { name: 'pids', _meta: { [CLIENT_CAPABILITIES_META_KEY]: {} } } },
  { signal: never, closing: never, wantsProgress: false, versions: [], notify: () => undefined },
);
process.stdout.write(JSON.stringify(peer.explain().process?.stderr));
