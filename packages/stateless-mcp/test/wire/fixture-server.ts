import type { HttpOptions } from '../../src/http/index.ts';
import { serveHttp } from '../../src/node/index.ts';
import type { AuthInfo } from '../../src/protocol/auth-info.ts';
import { McpError } from '../../src/protocol/errors.ts';
import type { Logger } from '../../src/protocol/logger.ts';
import { McpServer, type McpServerOptions } from '../../src/server/index.ts';
import { Outcomes, registerAnswers, registerChanges, registerEffects } from './fixture-tools.ts';

/** A server under test, alone with one check. */
export interface Fixture {
  readonly url: string;
  /** Starts to close in good order. */
  readonly drain: () => void;
  close(): Promise<void>;
}

/**
 * - `full`: everything there is
 * - `bare`: no tools, resources or prompts
 * - `quiet`: announces changes of its tools and nothing else
 * - `crowded`: has room for three listen streams, and no patience with calls that take long
 * - `paged`: five tools on pages of two, public and fresh for a minute
 * - `guarded`: knows alice, who may do all, bob, who may not call `admin`, and brief, whose credentials expire;
 *   pages of https://app.example may call it
 */
export type FixtureName = 'full' | 'bare' | 'quiet' | 'crowded' | 'paged' | 'guarded';

const allChanges = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};

const BRIEF_MS = 300;

const servers: Readonly<Record<FixtureName, () => McpServer>> = {
  full: () => makeServer({ capabilities: allChanges, instructions: 'Call echo first.' }, registerAll),
  bare: () => makeServer({}),
  quiet: () => makeServer({ capabilities: { tools: { listChanged: true } } }, registerAll),
  crowded: () => makeServer({ capabilities: allChanges, maxSubscriptions: 3 }, registerAll),
  paged: () =>
    makeServer(
      { capabilities: allChanges, pageSize: 2, cacheHints: { tools: { ttlMs: 60_000, cacheScope: 'public' } } },
      (server) => {
        for (const number of [3, 1, 5, 2, 4]) server.registerTool(`tool-${number}`, {}, () => 'paged');
        server.registerPrompt('greet', {}, () => 'Hello');
      },
    ),
  guarded: () =>
    makeServer(
      { capabilities: allChanges, cacheHints: { tools: { ttlMs: 60_000, cacheScope: 'public' } } },
      (server, outcomes) => {
        registerEffects(server, outcomes);
        server.registerTool('who', {}, (_input, { auth }) => auth?.principal ?? 'nobody');
        server.registerTool('admin', { scopes: ['admin'] }, () => {
          outcomes.set('admin', 'ran');
          return 'done';
        });
      },
    ),
};

export async function startFixture(name: FixtureName): Promise<Fixture> {
  const options: HttpOptions = {
    keepAliveMs: 50,
    maxBodyBytes: 256 * 1024,
    logger: silent,
    ...(name === 'crowded' && { upgradeAfterMs: 100 }),
    ...(name === 'guarded' && {
      authenticate: ({ headers }) => verify(headers.get('authorization')),
      allowedOrigins: ['https://app.example'],
    }),
  };
  const { url, drain, close } = await serveHttp(servers[name](), { port: 0, ...options });
  return {
    url,
    // Who closes afterwards waits for it.
    drain: () => void drain({ graceMs: 1000 }).catch(() => undefined),
    close,
  };
}

function makeServer(options: McpServerOptions, register?: (server: McpServer, outcomes: Outcomes) => void): McpServer {
  const server = new McpServer({ name: 'wire-fixture', version: '1.2.3' }, { logger: silent, ...options });
  register?.(server, new Outcomes());
  return server;
}

function registerAll(server: McpServer, outcomes: Outcomes): void {
  registerAnswers(server);
  registerEffects(server, outcomes);
  registerChanges(server);
  const greetSchema = { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] };
  server.registerPrompt('greet', { argsSchema: greetSchema, complete: { who: () => ['Ada', 'Alan'] } }, ({ who }) => {
    return `Greet ${String(who)}`;
  });
  server.registerPrompt('broken', {}, () => {
    throw new Error('the password of the database is hunter2');
  });
  const names = ['today', 'today1', 'today/', 'book', 'a%20b?c d', '日記', 'caf\u00e9'];
  for (const name of names) server.registerResource(name, `note://${name}`, {}, () => `About ${name}`);
  server.registerResource('shouted', 'NOTE://today', {}, () => 'ABOUT TODAY');
  server.registerResource('broken', 'note://broken', {}, () => {
    throw new Error('the password of the database is hunter2');
  });
}

function verify(authorization: string | null): AuthInfo {
  const token = /^Bearer (\w+)$/.exec(authorization ?? '')?.[1];
  if (token === 'alice') return { principal: 'alice', scopes: ['admin'] };
  if (token === 'bob') return { principal: 'bob', scopes: [] };
  if (token === 'brief') return { principal: 'brief', expiresAt: (Date.now() + BRIEF_MS) / 1000 };
  throw new McpError(401, 'Who are you?', { headers: { 'WWW-Authenticate': 'Bearer' } });
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
