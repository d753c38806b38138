import { EventEmitter } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const NOTIFICATIONS = [
  'notifications/message',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/tools/list_changed',
];

/**
 * Connects the official client, by default to revision 2026-07-28 and no other.
 *
 * @param {string} url
 * @param {import('@modelcontextprotocol/client').ClientOptions} [options]
 * @returns the client; `notifications` emits the params of each that arrives, by method; `requests` are the headers of
 *   all that it has sent
 */
export async function connectOfficialClient(url, options) {
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
  const requests = [];
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      requests.push(new Headers(init?.headers));
      return fetch(input, init);
    },
  });
  await client.connect(transport);
  return { client, notifications, requests };
}
