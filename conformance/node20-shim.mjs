// The suite imports `globSync` from `fs`, which Node has from version 22 on, and needs it only for a command that is not
// used here. With this module preloaded the suite starts on Node 20 too.
import fs from 'node:fs';
import { register } from 'node:module';

if (fs.globSync === undefined) {
  const completedFs = moduleOf(`
    export * from 'node:fs';
    export { default } from 'node:fs';
    export function globSync() {
      throw new Error('fs.globSync needs Node 22 or later');
    }
  `);
  register(
    moduleOf(`
      export function resolve(specifier, context, next) {
        const fromSuite = context.parentURL?.includes('/@modelcontextprotocol/conformance/dist/');
        if (specifier !== 'fs' || !fromSuite) return next(specifier, context);
        return { url: ${JSON.stringify(completedFs)}, shortCircuit: true };
      }
    `),
  );
}

function moduleOf(source) {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
