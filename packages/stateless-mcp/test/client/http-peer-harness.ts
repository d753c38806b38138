import { onTestFinished } from 'vitest';
import { httpPeer, type HttpPeerOptions } from '../../src/http/index.ts';
import { type NodeFetch, nodeFetch } from '../../src/node/index.ts';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Exchange,
  type ExtensionNotification,
  LocalError,
  type LocalErrorCode,
  type McpHandler,
  type McpNotification,
  type McpPeer,
  type McpResult,
  MODERN_VERSIONS,
  RemoteError,
} from '../../src/protocol/index.ts';
import { type RecordingLogger, recordingLogger } from '../recording-logger.ts';

/** Both must carry the peer in the same way: `describe.each(HTTP_CLIENTS)('over $name', …)`. */
export const HTTP_CLIENTS: readonly HttpClient[] = [
  { name: 'globalThis.fetch', make: () => undefined },
  { name: 'nodeFetch()', make: nodeFetch },
];

export interface HttpClient {
  readonly name: string;
  readonly make: () => NodeFetch | undefined;
}

export interface TestPeer extends McpPeer {
  readonly log: RecordingLogger;
}

/** A peer that is closed when the test is over. */
export function openPeer(client: HttpClient, url: string, options: HttpPeerOptions = {}): TestPeer {
  const fetch = client.make();
  const log = recordingLogger();
  const peer = httpPeer(url, { logger: log, ...(fetch !== undefined && { fetch }), ...options });
  onTestFinished(async () => {
    await peer.close();
    fetch?.close();
  });
  return Object.assign(peer, { log });
}

export type AnyNotification = McpNotification | ExtensionNotification;

export interface AskOptions {
  readonly signal?: AbortSignal;
  readonly wantsProgress?: boolean;
  readonly notify?: Exchange['notify'];
  readonly alive?: () => void;
  readonly meta?: Readonly<Record<string, unknown>>;
}

const NEVER = new AbortController().signal;

/** One request, with the metadata that every caller sends. */
export async function ask(
  peer: McpHandler,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  options: AskOptions = {},
): Promise<McpResult> {
  const { signal = NEVER, wantsProgress = false, notify = () => undefined, alive, meta } = options;
  const exchange: Exchange = { signal, closing: NEVER, wantsProgress, versions: MODERN_VERSIONS, notify };
  return peer(
    { method, params: { ...params, _meta: { [CLIENT_CAPABILITIES_META_KEY]: {}, ...meta } } },
    alive === undefined ? exchange : { ...exchange, alive },
  );
}

export async function callTool(
  peer: McpHandler,
  name: string,
  toolArguments: Readonly<Record<string, unknown>> = {},
  options?: AskOptions,
): Promise<McpResult> {
  return ask(peer, 'tools/call', { name, arguments: toolArguments }, options);
}

/** The error that a request ends with; throws if it does not fail. */
export async function failureOf(outcome: Promise<unknown>): Promise<unknown> {
  try {
    await outcome;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}

export async function expectLocalError(outcome: Promise<unknown>, code: LocalErrorCode): Promise<LocalError> {
  const error = await failureOf(outcome);
  if (error instanceof LocalError && error.code === code) return error;
  throw new Error(`Not a LocalError "${code}"`, { cause: error });
}

export async function expectRemoteError(outcome: Promise<unknown>, code: number): Promise<RemoteError> {
  const error = await failureOf(outcome);
  if (error instanceof RemoteError && error.code === code) return error;
  throw new Error(`Not a RemoteError ${code}`, { cause: error });
}

/** A result that `tools/call` may have. */
export const CONTENT: Readonly<Record<string, unknown>> = Object.freeze({ content: [] });
