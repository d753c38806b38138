import { createServer } from 'node:http';
import { once } from 'node:events';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createOfficialServer, OfficialServerState } from './official-server.mjs';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Serves the official server over HTTP in this process.
 *
 * @param {(text: string) => void} report is told what happens inside
 * @param {import('@modelcontextprotocol/server').CreateMcpHandlerOptions} [options]
 * @returns where it is reached; `requests` are the headers of all that came in
 */
export async function startOfficialServer(report, options) {
  const state = new OfficialServerState(report);
  const limits = { maxRequestBodySize: MAX_BODY_BYTES };
  const handler = createMcpHandler(() => createOfficialServer(state), { ...limits, ...options });
  state.notifier = handler.notify;
  const listener = toNodeHandler(handler, limits);
  const requests = [];
  const http = createServer((request, response) => {
    requests.push(request.headers);
    void listener(request, response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${http.address().port}/mcp`,
    requests,
    async stop() {
      if (!http.listening) return;
      await handler.close();
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}
