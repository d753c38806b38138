import { EventEmitter } from 'node:events';
import { connect } from 'stateless-mcp';
import { officialCommand } from './official-command.mjs';
import { startOfficialServer } from './start-official-server.mjs';

/**
 * Our client and the official server.
 *
 * @typedef {object} Connection
 * @property {import('stateless-mcp').McpClient} client
 * @property {EventEmitter} work emits what the server reports
 * @property {() => Promise<void>} close
 */

/** Over each transport: what tests of both have in common. */
export const TRANSPORTS = [
  {
    name: 'HTTP',
    /** @returns {Promise<Connection>} */
    async open(options) {
      const work = new EventEmitter();
      const server = await startOfficialServer((text) => work.emit(text));
      const client = await connect(server.url, options);
      const close = async () => {
        await client.close();
        await server.stop();
      };
      return { client, work, close };
    },
  },
  {
    name: 'stdio',
    /** @returns {Promise<Connection>} */
    async open(options) {
      const work = new EventEmitter();
      const client = await connect(officialCommand({ stderr: (line) => work.emit(line) }), options);
      return { client, work, close: async () => client.close() };
    },
  },
];
