import { fileURLToPath } from 'node:url';

/** Our server for a client that starts it. */
export const ourCommand = {
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve('./our-server-stdio.mjs'))],
};
