import type { ServerCapabilities } from './capabilities.ts';
import type { CacheableResult } from './result.ts';

/** Result of `server/discover`. The name and version of the server are in `_meta`, as in every result. */
export interface DiscoverResult extends CacheableResult {
  /** Revisions that the endpoint speaks, preferred first. */
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  /** Tells a model how to use the server well, beyond what the definitions say. */
  readonly instructions?: string;
}
