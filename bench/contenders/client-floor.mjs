// The least that a client can do: write the request with its headers, send it, parse the answer.
import { Agent, request } from 'node:http';
import { meta, version } from '../requests.mjs';

/** With `fetch`, over that one; otherwise on node:http, over connections that are kept open. */
export async function openClient(url, fetch) {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port, pathname: path } = new URL(url);
  const post = fetch === undefined ? postOverSocket : postOverFetch;
  let lastId = 0;
  return { callTool, close: () => agent.destroy() };

  async function callTool(name, toolArguments) {
    lastId += 1;
    const params = { name, arguments: toolArguments, _meta: { ...meta, progressToken: lastId } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: lastId, method: 'tools/call', params });
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': version,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': name,
    };
    return (await post(headers, body)).result;
  }

  async function postOverFetch(headers, body) {
    const response = await fetch(url, { method: 'POST', headers, body });
    return response.json();
  }

  function postOverSocket(headers, body) {
    return new Promise((resolve, reject) => {
      headers['Content-Length'] = Buffer.byteLength(body);
      const call = request({ agent, hostname, port, path, method: 'POST', headers }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve(JSON.parse(text)));
      });
      call.on('error', reject);
      call.end(body);
    });
  }
}
