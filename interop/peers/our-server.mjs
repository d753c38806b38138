import { once } from 'node:events';
import { McpServer, ResourceTemplate } from 'stateless-mcp';
import { z } from 'zod';
import { PIXEL_PNG } from './pixel.mjs';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Our server with what can only be seen from inside, or is not in the files example.
 *
 * @param {(text: string) => void} report tells the test what happens inside
 */
export function createOurServer(report) {
  const server = new McpServer(
    { name: 'our-server', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true } }, logger: quiet },
  );
  registerTools(server);
  registerWork(server, report);
  registerChanges(server);
  server.registerResource('pixel', 'memo://pixel', { mimeType: 'image/png' }, () => Buffer.from(PIXEL_PNG, 'base64'));
  server.registerResource('weather', new ResourceTemplate('weather://{city}/{day}'), {}, (_uri, { city, day }) => {
    return `Sunny in ${city} on ${day}`;
  });
  return server;
}

/** @param {McpServer} server */
function registerTools(server) {
  server.registerTool('ask', { description: 'Needs sampling', requires: { sampling: {} } }, () => 'Asked.');
  server.registerTool('fail', { description: 'Fails for a reason that is nobody’s business' }, () => {
    throw new Error('the password is swordfish');
  });
  server.registerTool('picture', { description: 'Shows a pixel' }, () => ({
    content: [
      { type: 'image', data: PIXEL_PNG, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'memo://inside', mimeType: 'text/plain', text: 'inside' } },
      { type: 'resource_link', uri: 'memo://pixel', name: 'pixel' },
    ],
  }));
  server.registerTool(
    'route',
    {
      description: 'Tells the region',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }), copies: z.int().default(1) }),
      outputSchema: z.object({ region: z.string() }),
    },
    ({ region, copies }) => ({ region: region.repeat(copies) }),
  );
  server.registerTool(
    'mirror',
    {
      description: 'Measures a text and answers with one',
      inputSchema: z.object({ text: z.string(), answer: z.int() }),
    },
    ({ text, answer }) => ({
      content: [
        { type: 'text', text: String(text.length) },
        { type: 'text', text: 'y'.repeat(answer) },
      ],
    }),
  );
}

/** @param {McpServer} server */
function registerWork(server, report) {
  server.registerTool('wait', { description: 'Works until nobody wants it any more' }, async (_input, { signal }) => {
    report('wait started');
    if (!signal.aborted) await once(signal, 'abort');
    report('wait stopped');
    return 'Nobody reads this.';
  });
  server.registerTool('log', { description: 'Logs on three levels' }, async (_input, { log }) => {
    await log('debug', 'small');
    await log('info', { size: 'medium' });
    await log('error', 'large', 'sizes');
    return 'Logged.';
  });
}

/** @param {McpServer} server */
function registerChanges(server) {
  server.registerTool('grow', { description: 'Adds a tool' }, () => {
    server.registerTool('late', { description: 'Came later' }, () => 'Here.');
    return 'Grown.';
  });
  server.registerTool('touch', { inputSchema: z.object({ uri: z.string() }) }, ({ uri }) => {
    server.notify.resourceUpdated(uri);
    return 'Touched.';
  });
}
