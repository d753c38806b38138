import { setTimeout as sleep } from 'node:timers/promises';
import { completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { PIXEL_PNG } from './pixel.mjs';

const CITIES = ['Paris', 'Parma', 'Rome'];

/** What outlives one server object: over HTTP there is one for every request. */
export class OfficialServerState {
  hasLateTool = false;
  /** @type {(text: string) => void} tells the test what happens inside */
  report;
  /** Announces changes where the server object cannot do it itself. */
  notifier;

  constructor(report) {
    this.report = report;
  }
}

/**
 * The official server with one of everything that it can offer.
 *
 * @param {OfficialServerState} state
 */
export function createOfficialServer(state) {
  const server = new McpServer(
    { name: 'official-server', title: 'The official one', version: '2.4.0' },
    {
      instructions: 'Everything is here for a test.',
      capabilities: {
        logging: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      },
      cacheHints: { 'prompts/list': { ttlMs: 60_000, cacheScope: 'public' } },
    },
  );
  registerTools(server, state);
  registerWork(server, state);
  registerChanges(server, state);
  registerResources(server);
  registerPrompts(server);
  return server;
}

function registerTools(server, { report }) {
  server.registerTool(
    'add',
    {
      title: 'Sum',
      description: 'Adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ structuredContent: { sum: a + b }, content: [{ type: 'text', text: String(a + b) }] }),
  );
  server.registerTool('picture', { description: 'Shows a pixel' }, () => ({
    content: [
      { type: 'image', data: PIXEL_PNG, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'memo://inside', mimeType: 'text/plain', text: 'inside' } },
      { type: 'resource_link', uri: 'memo://first', name: 'first' },
    ],
  }));
  server.registerTool('fail', { description: 'Says that it failed' }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'It did not work.' }],
  }));
  server.registerTool(
    'route',
    {
      description: 'Tells the region',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }), urgent: z.boolean().optional() }),
    },
    ({ region }) => {
      report(`route ${region}`);
      return { content: [{ type: 'text', text: region }] };
    },
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

function registerWork(server, { report }) {
  server.registerTool(
    'wait',
    { description: 'Works until nobody wants it any more' },
    async ({ mcpReq: { signal } }) => {
      report('wait started');
      await new Promise((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', resolve, { once: true });
      });
      report('wait stopped');
      return { content: [{ type: 'text', text: 'Nobody reads this.' }] };
    },
  );
  server.registerTool(
    'count',
    {
      description: 'Counts and reports progress',
      inputSchema: z.object({ to: z.int(), pauseMs: z.number().default(0), silenceMs: z.number().default(0) }),
    },
    async ({ to, pauseMs, silenceMs }, { mcpReq: { _meta, notify } }) => {
      for (let progress = 1; progress <= to; progress++) {
        const params = { progressToken: _meta.progressToken, progress, total: to, message: `number ${progress}` };
        await notify({ method: 'notifications/progress', params });
        await sleep(pauseMs);
      }
      await sleep(silenceMs);
      return { content: [{ type: 'text', text: `Counted to ${to}.` }] };
    },
  );
  server.registerTool('log', { description: 'Logs on three levels' }, async ({ mcpReq: { log } }) => {
    await log('debug', 'small');
    await log('info', { size: 'medium' });
    await log('error', 'large', 'sizes');
    return { content: [{ type: 'text', text: 'Logged.' }] };
  });
}

function registerChanges(server, state) {
  const registerLateTool = () =>
    server.registerTool('late', { description: 'Came later' }, () => ({ content: [{ type: 'text', text: 'Here.' }] }));
  if (state.hasLateTool) registerLateTool();
  server.registerTool('grow', { description: 'Adds a tool' }, () => {
    state.hasLateTool = true;
    if (state.notifier === undefined) registerLateTool();
    else state.notifier.toolsChanged();
    return { content: [] };
  });
  server.registerTool(
    'touch',
    { description: 'Changes a resource', inputSchema: z.object({ uri: z.string() }) },
    async ({ uri }) => {
      if (state.notifier === undefined) await server.server.sendResourceUpdated({ uri });
      else state.notifier.resourceUpdated(uri);
      return { content: [] };
    },
  );
}

function registerResources(server) {
  server.registerResource('first', 'memo://first', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'The first memo' }],
  }));
  server.registerResource('pixel', 'memo://pixel', { mimeType: 'image/png' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'image/png', blob: PIXEL_PNG }],
  }));
  const template = new ResourceTemplate('weather://{city}/{day}', {
    list: undefined,
    complete: { city: (typed) => CITIES.filter((city) => city.startsWith(typed)) },
  });
  server.registerResource('weather', template, { description: 'Weather of a city' }, (uri, { city, day }) => ({
    contents: [{ uri: uri.href, text: `Sunny in ${city} on ${day}` }],
  }));
}

function registerPrompts(server) {
  server.registerPrompt(
    'visit',
    {
      description: 'Plans a visit',
      argsSchema: z.object({
        city: completable(z.string().describe('Where to'), (typed) => CITIES.filter((city) => city.startsWith(typed))),
      }),
    },
    ({ city }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Show me ${city}` } }] }),
  );
}
