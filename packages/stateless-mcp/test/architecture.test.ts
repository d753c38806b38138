import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const source = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src');

/** What each folder may import: other folders, packages, and modules of Node. A folder that is not listed does not exist yet. */
const allowed: Record<string, { folders: string[]; packages?: string[]; node?: true }> = {
  protocol: { folders: [] },
  schema: { folders: ['protocol'], packages: ['@cfworker/json-schema'] },
  bus: { folders: ['protocol'] },
  server: { folders: ['protocol', 'schema', 'bus'] },
  client: { folders: ['protocol', 'schema'] },
  http: { folders: ['protocol'], packages: ['eventsource-parser'] },
  stdio: { folders: ['protocol'], node: true },
  node: { folders: ['protocol', 'http'], node: true },
  testing: { folders: ['protocol', 'schema', 'bus', 'server', 'client', 'http', 'stdio', 'node'] },
  connect: {
    folders: ['protocol', 'schema', 'bus', 'server', 'client', 'http', 'stdio', 'node'],
    // Resolved by the conditions of package.json.
    packages: ['#http', '#stdio'],
  },
};

/** `from '…'`, `import '…'`, `import('…')`, the last one in types too. */
const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g;

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);

describe('the direction of imports', () => {
  it('is laid down for every folder of the library', () => {
    const folders = new Set(files.map((file) => file.split(sep)[0] ?? ''));
    expect([...folders].filter((folder) => !Object.hasOwn(allowed, folder))).toEqual([]);
  });

  it('holds in every file', () => {
    const refused = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !mayImport(file, target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(refused).toEqual([]);
  });
});

function mayImport(file: string, target: string): boolean {
  const folder = file.split(sep)[0] ?? '';
  const rules = allowed[folder];
  if (rules === undefined) return false;
  if (target.startsWith('node:')) return rules.node === true;
  if (!target.startsWith('.')) return rules.packages?.includes(target) === true;
  const targetFolder = relative(source, join(source, dirname(file), target)).split(sep)[0] ?? '';
  return targetFolder === folder || rules.folders.includes(targetFolder);
}

/** Without comments, because examples in them import the package by name. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(source, file), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
  return [...code.matchAll(importPattern)].map((match) => match[1] ?? '');
}
