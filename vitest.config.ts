import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { test: { name: 'unit', include: ['packages/*/src/**/*.test.ts'] } },
      {
        test: {
          name: 'behaviour',
          include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
    ],
  },
});
