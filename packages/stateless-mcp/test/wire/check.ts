import { startMutatingProxy } from '../mutation/mutating-proxy.ts';
import type { WireMutation } from '../mutation/wire-model.ts';
import { connectEndpoint, type WireEndpoint } from './endpoint.ts';
import { type FixtureName, startFixture } from './fixture-server.ts';

/** One thing that a server has to do on the wire. Plain data, so that it runs with and without a mutation. */
export interface WireCheck {
  /** The requirements it proves, and the traps it avoids. */
  readonly ids: readonly string[];
  readonly title: string;
  /** Default: the fixture that has everything. */
  readonly server?: FixtureName;
  run(endpoint: WireEndpoint): Promise<void>;
}

export const WIRE_TIMEOUT_MS = 5000;

/** Runs a check against a server of its own. Rejects if the check fails. */
export async function runCheck(check: WireCheck): Promise<void> {
  const fixture = await startFixture(check.server ?? 'full');
  const { endpoint, close } = connectEndpoint({ ...fixture, timeoutMs: WIRE_TIMEOUT_MS });
  try {
    await check.run(endpoint);
  } finally {
    close();
    await fixture.close();
  }
}

export interface MutatedRun {
  /** Why the check failed; absent if it passed all the same. */
  readonly failure?: unknown;
  readonly changes: number;
  /** Mistakes of the proxy, which prove nothing. */
  readonly proxyFailures: readonly unknown[];
}

/** Runs a check against a server that violates one rule. */
export async function runMutated(check: WireCheck, mutation: WireMutation, timeoutMs: number): Promise<MutatedRun> {
  const fixture = await startFixture(check.server ?? 'full');
  const proxy = await startMutatingProxy(fixture.url, mutation);
  const { endpoint, close } = connectEndpoint({ url: proxy.url, timeoutMs, drain: fixture.drain });
  try {
    await check.run(endpoint);
    return { changes: proxy.changes(), proxyFailures: proxy.failures };
  } catch (failure) {
    return { failure, changes: proxy.changes(), proxyFailures: proxy.failures };
  } finally {
    close();
    await proxy.close();
    await fixture.close();
  }
}
