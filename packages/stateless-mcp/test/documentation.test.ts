import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

// Every TypeScript block of the documents and every @example of the sources compiles against the built package, and the
// server of the README runs.
const root = new URL('../../../', import.meta.url);
const library = new URL('packages/stateless-mcp/', root);

/** What the snippets speak of without saying where it comes from: the author's own things. */
const AUTHORS_THINGS = `
import type { ListResourcesResult } from 'stateless-mcp/protocol';
declare global {
  const z: typeof import('zod').z;
  const server: import('stateless-mcp/server').McpServer;
  const info: import('stateless-mcp/protocol').Implementation;
  const running: import('stateless-mcp/node').HttpServer;
  const app: import('express').Express;
  const store: {
    add(text: string, tags: readonly string[], owner: string | undefined): Promise<string>;
    get(id: string): Promise<string | undefined>;
    remove(id: string): Promise<string>;
    readme(): string;
    page(cursor: string | undefined): Promise<Pick<ListResourcesResult, 'resources' | 'nextCursor'>>;
    idsStartingWith(text: string): Promise<string[]>;
  };
  const notes: { read(id: unknown): string };
  const city: string;
  const token: string;
  const key: string;
  const database: { close(): void };
  const client: import('stateless-mcp/client').McpClient;
  const peer: import('stateless-mcp/protocol').McpPeer;
  const createServer: typeof import('node:net').createServer;
  const createConnection: typeof import('node:net').createConnection;
  function show(value: unknown): void;
  function reload(): void;
  const schema: import('stateless-mcp/protocol').JsonObject;
  const request: import('stateless-mcp/protocol').McpRequest;
  const exchange: import('stateless-mcp/protocol').Exchange;
  const next: import('stateless-mcp/protocol').McpHandler;
  function convert(path: string, options: { signal: AbortSignal }): Promise<void>;
  const users: {
    byToken(token: string | null): Promise<{ id: string; scopes: string[]; tokenExpiresAt: number } | undefined>;
  };
}
`;

interface Snippet {
  readonly from: string;
  readonly code: string;
}

function filesBelow(folder: URL, ending: string): URL[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => new URL(name, folder));
}

function blocksOf(document: URL): Snippet[] {
  const blocks = readFileSync(document, 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm);
  return [...blocks].map(([, code = ''], index) => ({ from: `${nameOf(document)} block ${index + 1}`, code }));
}

function examplesOf(source: URL): Snippet[] {
  const comments = readFileSync(source, 'utf8').matchAll(/\/\*\*[^]*?\*\//g);
  return [...comments].flatMap(([comment]) => {
    const text = comment.replace(/^\s*\*\/?[ ]?/gm, '').replace(/\*\/$/, '');
    const examples = text.matchAll(/^@example[ \n]([^]*?)(?=^@|$(?![^]))/gm);
    return [...examples].map(([, code = '']) => ({ from: `${nameOf(source)}: ${code.slice(0, 40)}`, code }));
  });
}

function nameOf(file: URL): string {
  return file.href.slice(root.href.length);
}

/** Declares everything that the library's modules export, so that examples need no imports. */
async function libraryNames(): Promise<string> {
  const declared = new Map<string, string>();
  for (const module of filesBelow(new URL('dist/', library), '.js')) {
    // Takes over standard output, and exports nothing.
    if (module.href.endsWith('/stdio/guard.js')) continue;
    const exports = Object.keys((await import(module.href)) as object);
    for (const name of exports)
      declared.set(name, `typeof import(${JSON.stringify(fileURLToPath(module))})[${JSON.stringify(name)}]`);
  }
  const types = new Map<string, string>();
  for (const module of filesBelow(new URL('dist/', library), '.d.ts')) {
    const path = JSON.stringify(fileURLToPath(module).replace(/\.d\.ts$/, '.js'));
    for (const [, name = ''] of readFileSync(module, 'utf8').matchAll(/^export (?:interface|type) (\w+)(?! *<|\w)/gm)) {
      types.set(name, `import(${path}).${name}`);
    }
  }
  const lines = [
    ...[...declared].map(([name, type]) => `  const ${name}: ${type};`),
    ...[...types].map(([name, type]) => `  type ${name} = ${type};`),
  ];
  return `declare global {\n${lines.join('\n')}\n}\nexport {};\n`;
}

it('every snippet of the documents and every example of the sources compiles', { timeout: 60_000 }, async () => {
  const folder = new URL('packages/stateless-mcp/temp/snippets/', root);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const documents = [new URL('README.md', root), ...filesBelow(new URL('docs/', root), '.md')];
  const sources = filesBelow(new URL('src/', library), '.ts').filter(({ href }) => !href.endsWith('.test.ts'));
  const snippets = [...documents.flatMap(blocksOf), ...sources.flatMap(examplesOf)];
  expect(snippets.length).toBeGreaterThan(35);

  writeFileSync(new URL('authors-things.d.ts', folder), AUTHORS_THINGS);
  writeFileSync(new URL('library-names.d.ts', folder), await libraryNames());
  for (const [index, { from, code }] of snippets.entries()) {
    // A handler on its own is an expression, and an object literal at the start of a line would read as a block.
    writeFileSync(new URL(`snippet-${index}.ts`, folder), `// ${from.replaceAll('\n', ' ')}\n${code}\nexport {};\n`);
  }
  const options = {
    extends: '../../../../tsconfig.json',
    compilerOptions: { noImplicitAny: false, paths: {} },
    include: ['*.ts'],
  };
  writeFileSync(new URL('tsconfig.json', folder), JSON.stringify({ ...options, exclude: [] }));
  const tsc = fileURLToPath(new URL('node_modules/tsc7/bin/tsc', root));
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', fileURLToPath(folder)], { encoding: 'utf8' });
  const named = stdout.replaceAll(/snippet-(\d+)\.ts/g, (file, index) => `${file} (${snippets[Number(index)]?.from})`);
  expect(named).toBe('');
  expect(status).toBe(0);
});

it('the server of the README runs and answers', { timeout: 30_000 }, async () => {
  const [block] = blocksOf(new URL('README.md', root));
  const folder = new URL('packages/stateless-mcp/temp/readme/', root);
  mkdirSync(folder, { recursive: true });
  const file = new URL('server.ts', folder);
  writeFileSync(file, block?.code.replace('port: 3000', 'port: 0') ?? '');
  const tsx = pathToFileURL(fileURLToPath(new URL('node_modules/tsx/dist/loader.mjs', root))).href;
  const child = spawn(process.execPath, ['--import', tsx, fileURLToPath(file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let url: string | undefined;
    for await (const line of createInterface(child.stdout)) {
      url = /Listening at (\S+)/.exec(line)?.[1];
      if (url !== undefined) break;
    }
    const response = await fetch(url ?? '', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'forecast',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'forecast',
          arguments: { city: 'Rome' },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    expect(await response.json()).toMatchObject({
      id: 1,
      result: { content: [{ type: 'text', text: 'Sunny in Rome' }] },
    });
  } finally {
    child.kill();
  }
});
