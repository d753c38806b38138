import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { deferred } from '../protocol/deferred.ts';
import { ToolRefresh } from './tool-refresh.ts';

const stay = new AbortController().signal;

/** Readings that the test ends, in their order. */
function readings() {
  const begun: { readonly signal: AbortSignal; readonly end: ReturnType<typeof deferred<void>> }[] = [];
  const read = async (signal: AbortSignal): Promise<void> => {
    const end = deferred();
    begun.push({ signal, end });
    return end.promise;
  };
  return { begun, read };
}

describe('ToolRefresh', () => {
  it('HDR-21: reads once for all who wait', async () => {
    const refresh = new ToolRefresh();
    const { begun, read } = readings();
    const joined = [refresh.join(stay, read), refresh.join(stay, read), refresh.join(stay, read)];
    begun[0]?.end.resolve();
    await Promise.all(joined);
    expect(begun).toHaveLength(1);
    expect(refresh.count).toBe(1);
  });

  it('goes on for the others when the one who began leaves', async () => {
    const refresh = new ToolRefresh();
    const { begun, read } = readings();
    const leaver = new AbortController();
    const left = refresh.join(leaver.signal, read);
    const stayed = refresh.join(stay, read);
    leaver.abort('enough');
    await expect(left).rejects.toBe('enough');
    expect(begun[0]?.signal.aborted).toBe(false);
    begun[0]?.end.resolve();
    await expect(stayed).resolves.toBeUndefined();
  });

  it('ends the reading when nobody waits any more, and begins another for the next', async () => {
    const refresh = new ToolRefresh();
    const { begun, read } = readings();
    const leavers = [new AbortController(), new AbortController()];
    const left = leavers.map(async ({ signal }) => refresh.join(signal, read));
    for (const leaver of leavers) leaver.abort('enough');
    await Promise.all(left.map(async (each) => expect(each).rejects.toBe('enough')));
    expect(begun[0]?.signal.aborted).toBe(true);
    const next = refresh.join(stay, read);
    // The reading that was left behind ends late, and changes nothing.
    begun[0]?.end.reject(new Error('given up'));
    begun[1]?.end.resolve();
    await next;
    expect(begun).toHaveLength(2);
    expect(refresh.count).toBe(1);
  });

  it('tells all who wait what it failed with, and does not count', async () => {
    const refresh = new ToolRefresh();
    const { begun, read } = readings();
    const joined = [refresh.join(stay, read), refresh.join(stay, read)];
    begun[0]?.end.reject(new Error('no list'));
    await Promise.all(joined.map(async (each) => expect(each).rejects.toThrow('no list')));
    expect(refresh.count).toBe(0);
  });

  it('does not begin for one who has left already, and leaves no listener behind', async () => {
    const refresh = new ToolRefresh();
    const { begun, read } = readings();
    await expect(refresh.join(AbortSignal.abort('gone'), read)).rejects.toBe('gone');
    expect(begun).toHaveLength(0);
    const { signal } = new AbortController();
    const joined = refresh.join(signal, read);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    begun[0]?.end.resolve();
    await joined;
    await Promise.resolve();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
