import type { DiscoverResult } from '../protocol/discover.ts';
import type { Implementation } from '../protocol/implementation.ts';
import { isObject } from '../protocol/json.ts';
import { SERVER_INFO_META_KEY } from '../protocol/meta.ts';
import type { PeerReport } from '../protocol/peer.ts';
import type { CacheStatistics } from './response-cache.ts';

/** How a client and its connection are doing. */
export interface ClientReport extends PeerReport {
  /** As far as the server has been asked for it by `discover`. */
  readonly server?: {
    /** As it describes itself; nobody has verified it. */
    readonly info?: Implementation;
    readonly supportedVersions: readonly string[];
    /** Names of what it offers. */
    readonly capabilities: readonly string[];
  };
  readonly cache: CacheStatistics;
}

export function reportOf(peer: PeerReport, server: DiscoverResult | undefined, cache: CacheStatistics): ClientReport {
  if (server === undefined) return { ...peer, cache };
  const { supportedVersions, capabilities } = server;
  const info = serverInfo(server);
  return {
    ...peer,
    server: { ...(info !== undefined && { info }), supportedVersions, capabilities: Object.keys(capabilities) },
    cache,
  };
}

/** In the metadata; drafts had it in the body. */
function serverInfo(result: DiscoverResult): Implementation | undefined {
  const candidates = [result._meta?.[SERVER_INFO_META_KEY], result.serverInfo];
  return candidates.find(isImplementation);
}

function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof value.name === 'string' && typeof value.version === 'string';
}
