import { describe, expect, it } from 'vitest';
import { fetchHandler } from '../../src/http/index.ts';
import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION, PROTOCOL_VERSION_META_KEY } from '../../src/protocol/index.ts';
import { McpServer, type RequestContext } from '../../src/server/index.ts';

const info = { name: 'fetch', version: '1.0.0' };

function callRequest(name: string, init: RequestInit = {}): Request {
  const _meta = { [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION, [CLIENT_CAPABILITIES_META_KEY]: {} };
  return new Request('http://server.example/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'mcp-protocol-version': PROTOCOL_VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta } }),
    ...init,
  });
}

/** A tool that waits, and its context as soon as it runs. */
function waiting() {
  const server = new McpServer(info);
  let finish: () => void = () => {};
  const started = new Promise<RequestContext>((resolve) => {
    server.registerTool('wait', {}, async (_input, context) => {
      resolve(context);
      await new Promise<void>((done) => {
        finish = done;
      });
      return context.signal.aborted ? 'aborted' : 'not aborted';
    });
  });
  return { server, started, finish: () => finish() };
}

describe('the Fetch handler', () => {
  it('settles when its request is aborted, so that code around it can clean up', async () => {
    const { server, started } = waiting();
    const leaving = new AbortController();
    const response = fetchHandler(server).fetch(callRequest('wait', { signal: leaving.signal }));
    await started;
    leaving.abort();
    const timeout = new Promise((resolve) => setTimeout(resolve, 1000, 'still pending'));
    expect(await Promise.race([response.then(() => 'settled'), timeout])).toBe('settled');
  });

  it('settles when its request was aborted before', async () => {
    const { server } = waiting();
    const response = fetchHandler(server).fetch(callRequest('wait', { signal: AbortSignal.abort() }));
    const timeout = new Promise((resolve) => setTimeout(resolve, 1000, 'still pending'));
    expect(await Promise.race([response.then(() => 'settled'), timeout])).toBe('settled');
  });

  it('CANC-02: a signal that a handler asks for only afterwards is aborted already', async () => {
    const { server, started, finish } = waiting();
    const leaving = new AbortController();
    void fetchHandler(server).fetch(callRequest('wait', { signal: leaving.signal }));
    const context = await started;
    leaving.abort();
    expect(context.signal.aborted).toBe(true);
    finish();
  });

  it('takes from a framework the caller that it verified and the body that it read', async () => {
    const server = new McpServer(info);
    server.registerTool(
      'who',
      { scopes: ['admin'] },
      (_input, { auth, http }) => `${auth?.principal} at ${http?.address}`,
    );
    const { handle } = fetchHandler(server, {
      authenticate: () => {
        throw new Error('is not asked');
      },
    });
    const parsedBody: unknown = await callRequest('who').json();
    const response = await handle(callRequest('who', { body: 'not looked at' }), {
      auth: { principal: 'alice', scopes: ['admin'] },
      parsedBody,
      address: '192.0.2.1',
    });
    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'alice at 192.0.2.1' }] } });
  });

  it('does not take bindings of a platform, its second argument, for a caller that was verified', async () => {
    const server = new McpServer(info);
    server.registerTool('who', { scopes: ['admin'] }, (_input, { auth }) => auth?.principal ?? 'nobody');
    const { fetch } = fetchHandler(server, { authenticate: () => undefined });
    // What Workers pass: variables and services by the names that the deployment gave them.
    for (const environment of [
      { auth: { scopes: ['admin'], fetch: () => {} } },
      { parsedBody: 'the name of a queue' },
    ]) {
      const response = await (fetch as (request: Request, environment: object) => Promise<Response>)(
        callRequest('who'),
        environment,
      );
      expect(response.status).toBe(401);
    }
  });
});
