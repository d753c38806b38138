// What is measured. Every row is measured for each contender; rows of a kind need the same processes.

export const contenders = ['floor', 'ours', 'official'];

/** What our entries compare with: the official packages that one needs for the same. */
const official = {
  server: '@modelcontextprotocol/server',
  client: '@modelcontextprotocol/client',
  node: '@modelcontextprotocol/node',
  stdioServer: '@modelcontextprotocol/server/stdio',
  stdioClient: '@modelcontextprotocol/client/stdio',
};

/**
 * `work` is what the driver of that kind is told; `target` a ratio to another contender that shall be kept.
 * `perSecond`: how the rate of one core is called, where it means something.
 */
export const groups = [
  {
    kind: 'http',
    title: 'A server over HTTP',
    labels: { floor: 'floor (bare `node:http`)', ours: 'stateless-mcp', official: 'official server' },
    perSecond: 'requests/s',
    rows: [
      { name: 'HTTP tools/call', work: 'tools/call', target: { to: 'floor', atMost: 1.5 } },
      { name: 'HTTP tools/list', work: 'tools/list' },
      { name: 'HTTP server/discover', work: 'server/discover' },
    ],
  },
  {
    kind: 'stdio',
    title: 'A server over stdio',
    labels: { floor: 'floor (line echo)', ours: 'stateless-mcp', official: 'official server' },
    perSecond: 'requests/s',
    rows: [{ name: 'stdio tools/call', work: 'tools/call', target: { to: 'floor', atMost: 1.3 } }],
  },
  {
    kind: 'client',
    title: 'A client over HTTP',
    labels: { floor: 'floor (written by hand)', ours: 'stateless-mcp', official: 'official client' },
    perSecond: 'calls/s',
    rows: [
      clientRow('client callTool, fetch that answers at once', { isStub: true }),
      clientRow('client callTool, over a socket', { isStub: false }),
    ],
  },
  {
    kind: 'import',
    title: 'Starting',
    labels: { floor: 'floor (nothing imported)', ours: 'stateless-mcp', official: 'official packages' },
    rows: [
      importing('stateless-mcp', Object.values(official)),
      importing('stateless-mcp/server', [official.server]),
      importing('stateless-mcp/client', [official.client]),
      importing('stateless-mcp/http', [official.server, official.client]),
      importing('stateless-mcp/stdio', [official.stdioServer, official.stdioClient]),
    ],
  },
];

function clientRow(name, { isStub }) {
  return { name, work: { operation: 'tools/call', isStub }, target: { to: 'official', atMost: 1 / 3 } };
}

function importing(entry, officialEntries) {
  return { name: `import ${entry}`, work: { floor: [], ours: [entry], official: officialEntries } };
}
