import { join } from 'node:path';

/** Our server for a client that starts it. */
export const ourCommand = { command: process.execPath, args: [join(import.meta.dirname, 'our-server-stdio.mjs')] };
