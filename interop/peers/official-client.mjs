import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const NOTIFICATIONS = [
  'notifications/message',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/tools/list_changed',
];

/**
 * The official client, connected.
 *
 * @typedef {object} OfficialConnection
 * @property {Client} client
 * @property {EventEmitter} notifications emits the params of each that arrives, by method
 * @property {string[]} sent the methods of all that the client has sent
 * @property {Error[]} errors what it complains about
 */

/** @typedef {import('@modelcontextprotocol/client').ClientOptions} ClientOptions */

/**
 * Connects it over HTTP, by default to revision 2026-07-28 and no other.
 *
 * @param {string} url
 * @param {ClientOptions} [options]
 * @returns {Promise<OfficialConnection & { headers: Headers[] }>} with the headers of all requests
 */
export async function connectOverHttp(url, options) {
  const headers = [];
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      headers.push(new Headers(init?.headers));
      return fetch(input, init);
    },
  });
  return { ...(await connect(transport, options)), headers };
}

/**
 * Connects it to a program that it starts.
 *
 * @param {Omit<import('@modelcontextprotocol/client/stdio').StdioServerParameters, 'stderr'>} command
 * @param {ClientOptions} [options]
 * @returns {Promise<OfficialConnection & { stderr: EventEmitter, pid: number }>} `stderr` emits each line of the program
 */
export async function connectOverStdio(command, options) {
  const transport = new StdioClientTransport({ ...command, stderr: 'pipe' });
  const stderr = new EventEmitter();
  createInterface(transport.stderr).on('line', (line) => stderr.emit(line));
  const connection = await connect(transport, options);
  return { ...connection, stderr, pid: transport.pid };
}

async function connect(transport, options) {
  const client = new Client(
    { name: 'official-client', version: '2.4.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options },
  );
  const notifications = new EventEmitter();
  for (const method of NOTIFICATIONS) {
    client.setNotificationHandler(method, ({ params }) => {
      notifications.emit(method, params);
    });
  }
  const errors = [];
  Object.assign(client, { onerror: (error) => void errors.push(error) });
  const sent = [];
  const send = transport.send.bind(transport);
  transport.send = async (message, sendOptions) => {
    sent.push(message.method);
    return send(message, sendOptions);
  };
  await client.connect(transport);
  return { client, notifications, sent, errors };
}
