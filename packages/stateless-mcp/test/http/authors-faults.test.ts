import { expect, it } from 'vitest';
import { fetchHandler } from '../../src/http/index.ts';
import { McpServer } from '../../src/server/index.ts';
import { callTool } from '../wire/messages.ts';
import { fetchRequest } from './harness.ts';

// What the author of a server hands in may fail as well: a logger, or a body that a framework made.

function fail(): never {
  throw new Error('secret');
}

const brokenLogger = { debug: fail, info: fail, warn: fail, error: fail };

it('a logger that throws takes neither the request nor the process with it', async () => {
  const server = new McpServer({ name: 'test', version: '1' }, { logger: brokenLogger });
  server.registerTool('broken', {}, fail);
  const { fetch } = fetchHandler(server, { logger: brokenLogger });
  console.log('fault: the logger throws at every message');
  const unexpected = await (await fetch(fetchRequest(callTool('broken')))).text();
  expect(JSON.parse(unexpected)).toMatchObject({ result: { isError: true } });
  expect(unexpected).not.toContain('secret');
  const refused = await fetch(fetchRequest(callTool('broken'), { origin: 'https://evil.example' }));
  expect(refused.status).toBe(403);
});

it.each([
  [
    'a getter that throws',
    {
      jsonrpc: '2.0',
      method: 'tools/list',
      id: 1,
      get params(): never {
        return fail();
      },
    },
  ],
  ['a proxy that throws', new Proxy({}, { get: fail, ownKeys: fail, has: fail })],
])('a parsed body with %s is an error of the server, and not told', async (_what, parsedBody) => {
  const server = new McpServer({ name: 'test', version: '1' }, { logger: brokenLogger });
  const { handle } = fetchHandler(server, { logger: brokenLogger });
  console.log('fault: the parsed body throws when it is read');
  const response = await handle(fetchRequest(callTool('any')), { parsedBody });
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('secret');
});

it('what is thrown may be anything', async () => {
  const hostile = new Proxy({}, { get: fail, getPrototypeOf: fail });
  const server = new McpServer({ name: 'test', version: '1' }, { logger: brokenLogger });
  const { fetch } = fetchHandler(server, { logger: brokenLogger });
  for (const [index, thrown] of [null, undefined, 0, Object.create(null), hostile].entries()) {
    server.registerTool(`tool-${index}`, {}, () => {
      throw thrown;
    });
    const text = await (await fetch(fetchRequest(callTool(`tool-${index}`)))).text();
    expect(JSON.parse(text)).toHaveProperty('id');
    expect(text).not.toContain('secret');
  }
});
