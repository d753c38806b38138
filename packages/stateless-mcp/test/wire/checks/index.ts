import type { WireCheck } from '../check.ts';
import { cachingChecks } from './caching.ts';
import { cancellationChecks } from './cancellation.ts';
import { capabilityChecks } from './capabilities.ts';
import { discoverChecks } from './discover.ts';
import { featureChecks } from './features.ts';
import { headerChecks } from './headers.ts';
import { httpChecks } from './http.ts';
import { jsonRpcChecks } from './json-rpc.ts';
import { metadataChecks } from './metadata.ts';
import { removedChecks } from './removed.ts';
import { securityChecks } from './security.ts';
import { statelessnessChecks } from './statelessness.ts';
import { streamingChecks } from './streaming.ts';
import { subscriptionChecks } from './subscriptions.ts';
import { versionChecks } from './versions.ts';

export const wireChecks: readonly WireCheck[] = [
  ...jsonRpcChecks,
  ...statelessnessChecks,
  ...metadataChecks,
  ...versionChecks,
  ...discoverChecks,
  ...capabilityChecks,
  ...streamingChecks,
  ...cancellationChecks,
  ...subscriptionChecks,
  ...httpChecks,
  ...headerChecks,
  ...removedChecks,
  ...cachingChecks,
  ...securityChecks,
  ...featureChecks,
];
