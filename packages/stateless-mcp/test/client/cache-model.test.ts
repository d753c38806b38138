import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { McpClient } from '../../src/client/index.ts';
import { LocalError, type McpResult } from '../../src/protocol/index.ts';
import { type FakeClock, fakeClock } from '../../src/testing/index.ts';
import { type OpenRequest, scriptedPeer, type ScriptedPeer, turn } from './scripted-peer.ts';

const keys = ['tools/list', 'x:1', 'x:2'] as const;
type Key = (typeof keys)[number];
/** `own`: with a listener, so that nobody else waits for it. */
const modes = ['default', 'reload', 'no-store', 'own'] as const;
type Mode = (typeof modes)[number];

/** A reader, and what had happened when it asked. Requests are known by their number. */
interface Reader {
  readonly key: Key;
  readonly mode: Mode;
  readonly now: number;
  /** Requests from this one on were made for it, or later. */
  readonly next: number;
  readonly answered: ReadonlySet<number>;
  /** Requests before this one were made before a change, in another name, or before what was read since. */
  readonly oldest: number;
  readonly leaving: AbortController;
  isOver: boolean;
}

class Scene {
  readonly clock: FakeClock = fakeClock();
  readonly peer: ScriptedPeer = scriptedPeer();
  readonly client: McpClient = new McpClient(this.peer, { clock: this.clock });
  readonly readers: Reader[] = [];
  readonly failures: unknown[] = [];
  /** Answers that came from what was kept, and from requests of others. */
  readonly seen = { kept: 0, shared: 0 };
  readonly #freshUntil = new Map<number, number>();
  readonly #settled = new Set<OpenRequest>();
  readonly #oldest = new Map<Key, number>();

  async listen(): Promise<void> {
    const listening = this.client.listen({}, { onChange: () => {} });
    const { exchange } = await this.peer.next();
    void exchange.notify({ method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } });
    await listening;
  }

  get openRequests(): readonly OpenRequest[] {
    return this.peer.requests.slice(1).filter((request) => !this.#settled.has(request));
  }

  read(key: Key, mode: Mode): void {
    const leaving = new AbortController();
    const reader: Reader = {
      key,
      mode,
      now: this.clock.now(),
      next: this.peer.requests.length,
      answered: new Set(this.#freshUntil.keys()),
      oldest: this.#oldest.get(key) ?? 0,
      leaving,
      isOver: false,
    };
    this.readers.push(reader);
    const options = { signal: leaving.signal, ...(mode === 'own' ? { onProgress: () => {} } : { cache: mode }) };
    const reading = key === 'tools/list' ? this.client.listTools(options) : this.client.readResource(key, options);
    reading
      .then((result) => this.#check(reader, result))
      .catch((error: unknown) => error instanceof LocalError || this.failures.push(error))
      .finally(() => (reader.isOver = true));
  }

  #check(reader: Reader, { index }: McpResult): void {
    if (typeof index !== 'number') throw new Error('Not an answer of this test');
    const { method, params } = this.peer.requests[index] as OpenRequest;
    const isAnew = reader.mode === 'reload' || reader.mode === 'no-store';
    if ((params.uri ?? method) !== reader.key) throw new Error(`${index} is about something else`);
    if (index < reader.oldest) throw new Error(`${index} is older than ${reader.oldest}`);
    if (isAnew && index < reader.next) throw new Error(`${index} was not asked for anew`);
    if (reader.answered.has(index)) {
      if (reader.now >= (this.#freshUntil.get(index) ?? 0)) throw new Error(`${index} was stale`);
      this.seen.kept += 1;
    } else if (index < reader.next) {
      this.seen.shared += 1;
    }
    if (reader.mode !== 'no-store') this.#oldest.set(reader.key, Math.max(this.#oldest.get(reader.key) ?? 0, index));
  }

  answer(request: OpenRequest, ttlMs: number): void {
    const index = this.peer.requests.indexOf(request);
    this.#settled.add(request);
    this.#freshUntil.set(index, this.clock.now() + ttlMs);
    request.answer({ tools: [], contents: [], ttlMs, index });
  }

  fail(request: OpenRequest): void {
    this.#settled.add(request);
    request.fail(new LocalError('unreachable', ''));
  }

  change(key: Key): void {
    void this.peer.requests[0]?.exchange.notify(
      key === 'tools/list'
        ? { method: 'notifications/tools/list_changed' }
        : { method: 'notifications/resources/updated', params: { uri: key } },
    );
    this.#oldest.set(key, this.peer.requests.length);
  }

  changeCredentials(): void {
    this.peer.changeCredentials();
    for (const key of keys) this.#oldest.set(key, this.peer.requests.length);
  }
}

type Step = (scene: Scene) => unknown;

function one<Item>(items: readonly Item[], which: number, act: (item: Item) => void): void {
  const item = items[which % Math.max(1, items.length)];
  if (item !== undefined) act(item);
}

const key = fc.constantFrom(...keys);
const which = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 7,
    arbitrary: fc.tuple(key, fc.constantFrom(...modes)).map(
      ([name, mode]): Step =>
        (scene) =>
          scene.read(name, mode),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(which, fc.nat(6)).map(
      ([index, ttlMs]): Step =>
        (scene) =>
          one(scene.openRequests, index, (request) => scene.answer(request, ttlMs)),
    ),
  },
  which.map(
    (index): Step =>
      (scene) =>
        one(scene.openRequests, index, (request) => scene.fail(request)),
  ),
  which.map(
    (index): Step =>
      (scene) =>
        one(scene.readers, index, ({ leaving }) => leaving.abort()),
  ),
  key.map(
    (name): Step =>
      (scene) =>
        scene.change(name),
  ),
  fc.constant<Step>((scene) => scene.changeCredentials()),
  {
    weight: 2,
    arbitrary: fc.integer({ min: 1, max: 2 }).map(
      (ms): Step =>
        async (scene) =>
          scene.clock.advance(ms),
    ),
  },
);

describe('whatever happens in whatever order', () => {
  it('CACHE-04, CACHE-06, CACHE-07: nobody reads what was stale, changed or another’s when it was asked for', async () => {
    let kept = 0;
    let shared = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const scene = new Scene();
        await scene.listen();
        for (const act of steps) {
          await act(scene);
          await turn();
        }
        for (const request of scene.openRequests) scene.answer(request, 0);
        await turn();
        expect(scene.failures).toEqual([]);
        // Nobody is left waiting.
        expect(scene.readers.filter(({ isOver }) => !isOver)).toEqual([]);
        kept += scene.seen.kept;
        shared += scene.seen.shared;
      }),
      { numRuns: 300 },
    );
    // The cache had something to do.
    expect(kept).toBeGreaterThan(20);
    expect(shared).toBeGreaterThan(20);
  });
});
