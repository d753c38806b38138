/** A program that uses a server, and ends in the way its first argument says. */
import { once } from 'node:events';
import { CLIENT_CAPABILITIES_META_KEY } from '../../../src/protocol/index.ts';
import { type StdioCommand, stdioPeer } from '../../../src/stdio/index.ts';

const { command, ending } = JSON.parse(process.argv[2] ?? '') as {
  readonly command: StdioCommand;
  readonly ending: string;
};

const peer = stdioPeer(command);
const never = new AbortController().signal;
const request = { method: 'tools/call', params: { name: 'pids', _meta: { [CLIENT_CAPABILITIES_META_KEY]: {} } } };
const exchange = { signal: never, closing: never, wantsProgress: false, versions: [], notify: () => undefined };
await peer(request, exchange);
process.stdout.write('answered\n');
// Whoever started it may want to look first.
await once(process.stdin, 'data');
process.stdin.destroy();

switch (ending) {
  case 'exit':
    process.exit(0);
    break;
  case 'throw':
    setImmediate(() => {
      throw new Error('nobody catches this');
    });
    break;
  case 'wait':
    setInterval(() => undefined, 1000);
    break;
  case 'pending':
    await peer({ method: 'tools/call', params: { ...request.params, name: 'silent' } }, exchange);
    break;
  case 'close':
    await peer.close();
    break;
  default:
  // Nothing more to do.
}
