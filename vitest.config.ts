import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(`packages/stateless-mcp/src/${path}`, import.meta.url));

/** Names that package.json resolves to what is built: tests run on the sources. */
const resolve = { alias: { '#http': source('node/open-http-peer.ts'), '#stdio': source('stdio/index.ts') } };

export default defineConfig({
  test: {
    maxWorkers: 3,
    projects: [
      { resolve, test: { name: 'unit', include: ['packages/*/src/**/*.test.ts'] } },
      {
        resolve,
        test: {
          name: 'behaviour',
          include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
    ],
  },
});
