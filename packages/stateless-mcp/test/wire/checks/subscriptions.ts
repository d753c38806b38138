import { expect } from 'vitest';
import type { JsonObject } from '../../../src/protocol/json.ts';
import type { WireCheck } from '../check.ts';
import type { WireEndpoint } from '../endpoint.ts';
import { expectError, expectResult } from '../expectations.ts';
import { at, callTool, listen, request, SERVER_INFO_KEY, SUBSCRIPTION_ID_KEY } from '../messages.ts';

const acknowledged = 'notifications/subscriptions/acknowledged';

export const subscriptionChecks: readonly WireCheck[] = [
  {
    ids: ['SUB-03', 'T-41'],
    title: 'only what was asked for is delivered',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ promptsListChanged: true, toolsListChanged: false }));
      await stream.next();
      await change(endpoint, { what: 'tools' }, { what: 'resources' }, { what: 'resource', uri: 'note://today' });
      await change(endpoint, { what: 'prompts' });
      expect(await stream.next()).toMatchObject({ method: 'notifications/prompts/list_changed' });
      await stream.quiet(50);
      stream.leave();
    },
  },
  {
    ids: ['SUB-04', 'SUB-23'],
    title: 'the answer is an event stream that begins with the acknowledgment',
    async run(endpoint) {
      for (const accept of ['application/json, text/event-stream', 'application/json', null]) {
        const stream = await endpoint.open(listen({ toolsListChanged: true }, { id: 's' }), { Accept: accept });
        expect(stream.status).toBe(200);
        expect(stream.headers['content-type']).toMatch(/^text\/event-stream\b/);
        const first = await stream.next();
        expect(first).toMatchObject({ jsonrpc: '2.0', method: acknowledged });
        expect(at(first, 'params', '_meta', SUBSCRIPTION_ID_KEY)).toBe('s');
        stream.leave();
      }
    },
  },
  {
    ids: ['SUB-05', 'T-30'],
    title: 'nothing slips out before the acknowledgment, however busy the server is',
    async run(endpoint) {
      const changes = Array.from({ length: 10 }, () => endpoint.post(callTool('change', { what: 'tools' })));
      const streams = await Promise.all(
        Array.from({ length: 10 }, (_, index) => endpoint.open(listen({ toolsListChanged: true }, { id: index }))),
      );
      for (const stream of streams) {
        expect(await stream.next()).toMatchObject({ method: acknowledged });
        stream.leave();
      }
      for (const answer of await Promise.all(changes)) expectResult(answer);
    },
  },
  {
    ids: ['SUB-07', 'T-32', 'T-39'],
    title: 'the acknowledgment lists what is honoured and nothing else',
    async run(endpoint) {
      const uris = ['note://today', 'note://today', 'NOTE://today', 'note://today/'];
      const stream = await endpoint.open(
        listen({ toolsListChanged: true, promptsListChanged: false, resourceSubscriptions: uris, moonPhase: true }),
      );
      const first = await stream.next();
      stream.leave();
      expect(at(first, 'params', 'notifications')).toEqual({
        toolsListChanged: true,
        resourceSubscriptions: ['note://today', 'NOTE://today', 'note://today/'],
      });
    },
  },
  {
    ids: ['SUB-07', 'SUB-21', 'T-44'],
    title: 'what the server does not announce is left out of the acknowledgment',
    server: 'quiet',
    async run(endpoint) {
      const { capabilities } = expectResult(await endpoint.post(request('server/discover')));
      expect(at(capabilities, 'resources', 'subscribe') ?? false).toBe(false);
      expect(at(capabilities, 'prompts', 'listChanged') ?? false).toBe(false);
      const stream = await endpoint.open(
        listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['note://today'] }),
      );
      expect(at(await stream.next(), 'params', 'notifications')).toEqual({ toolsListChanged: true });
      stream.leave();
    },
  },
  {
    ids: ['SUB-08', 'META-21', 'T-01', 'T-02'],
    title: 'all that a listen stream carries has the id of its request, value and type',
    async run(endpoint) {
      const ids = [0, '', 1, '1', 'sub-7'];
      const filter = { toolsListChanged: true, resourceSubscriptions: ['note://today'] };
      const streams = await Promise.all(ids.map((id) => endpoint.open(listen(filter, { id }))));
      for (const stream of streams) await stream.next();
      await change(endpoint, { what: 'tools' }, { what: 'resource', uri: 'note://today' });
      for (const stream of streams) {
        await stream.next();
        await stream.next();
      }
      endpoint.drain();
      for (const [index, stream] of streams.entries()) {
        const { messages } = await stream.end();
        const [result, ...notifications] = [...messages].reverse();
        expect(notifications).toHaveLength(3);
        const tags = notifications.map((message) => at(message, 'params', '_meta', SUBSCRIPTION_ID_KEY));
        expect(tags).toEqual([ids[index], ids[index], ids[index]]);
        expect(at(result, 'result', '_meta', SUBSCRIPTION_ID_KEY)).toBe(ids[index]);
        expect(at(result, 'id')).toBe(ids[index]);
      }
    },
  },
  {
    ids: ['SUB-14', 'T-33', 'T-34', 'T-27'],
    title: 'a server that closes completes its listen streams and ends them',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ toolsListChanged: true }, { id: 'end' }));
      await stream.next();
      endpoint.drain();
      const { messages } = await stream.end();
      expect(messages).toHaveLength(2);
      expect(messages[1]).toMatchObject({
        jsonrpc: '2.0',
        id: 'end',
        result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID_KEY]: 'end', [SERVER_INFO_KEY]: {} } },
      });
    },
  },
  {
    ids: ['SUB-14', 'T-31'],
    title: 'a listen that can never deliver anything is acknowledged and completed at once',
    async run(endpoint) {
      for (const filter of [{}, { toolsListChanged: false }, { resourceSubscriptions: [] }, { moonPhase: true }]) {
        const answer = await endpoint.post(listen(filter, { id: 'none' }));
        expect(answer.messages).toHaveLength(2);
        expect(answer.messages[0]).toMatchObject({ method: acknowledged, params: { notifications: {} } });
        expect(answer.messages[1]).toMatchObject({ id: 'none', result: { resultType: 'complete' } });
      }
    },
  },
  {
    ids: ['T-31', 'T-46'],
    title: 'a listen without a proper filter is refused without a stream',
    async run(endpoint) {
      const filters = [
        undefined,
        null,
        [],
        true,
        { resourceSubscriptions: 'note://today' },
        { resourceSubscriptions: [7] },
        { toolsListChanged: 'yes' },
      ];
      for (const notifications of filters) {
        const message = listen({}, { id: 'bad' });
        const answer = await endpoint.post({ ...message, params: { ...Object(message.params), notifications } });
        expectError(answer, { code: -32602, id: 'bad' });
        expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
      }
    },
  },
  {
    ids: ['SUB-13', 'SUB-18', 'T-50'],
    title: 'a stream that was left makes room for another one',
    server: 'crowded',
    async run(endpoint) {
      for (let round = 0; round < 10; round++) {
        const stream = await untilAccepted(endpoint);
        expect(await stream.next()).toMatchObject({ method: acknowledged });
        stream.leave();
      }
    },
  },
  {
    ids: ['T-49'],
    title: 'one stream more than there is room for is refused before it begins, and disturbs no other',
    server: 'crowded',
    async run(endpoint) {
      const filter = { toolsListChanged: true };
      const streams = await Promise.all([1, 2, 3].map((id) => endpoint.open(listen(filter, { id }))));
      for (const stream of streams) await stream.next();
      const refused = await endpoint.post(listen(filter, { id: 4 }));
      expect(refused.status).toBe(503);
      expect(refused.headers['retry-after']).toMatch(/^\d+$/);
      expect(at(refused.body, 'id')).toBe(4);
      await change(endpoint, { what: 'tools' });
      for (const stream of streams) {
        expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
        stream.leave();
      }
    },
  },
  {
    ids: ['SUB-13', 'SUB-18', 'T-47'],
    title: 'a stream that was left is forgotten: a new one hears nothing of what it missed',
    async run(endpoint) {
      const filter = { toolsListChanged: true };
      for (let round = 0; round < 5; round++) {
        const stream = await endpoint.open(listen(filter, { id: 1 }));
        await stream.next();
        stream.leave();
        await change(endpoint, { what: 'tools' });
      }
      const stream = await endpoint.open(listen(filter, { id: 1 }));
      await stream.next();
      await stream.quiet(50);
      await change(endpoint, { what: 'tools' });
      expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
      await stream.quiet(50);
      stream.leave();
    },
  },
  {
    ids: ['SUB-19', 'META-10'],
    title: 'a listen stream carries change notifications and its own result, nothing else',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ toolsListChanged: true }, { meta: { progressToken: 'p' } }));
      await stream.next();
      await endpoint.post(callTool('count', { values: [1] }, { meta: { progressToken: 'p' } }));
      await change(endpoint, { what: 'tools' });
      await stream.next();
      endpoint.drain();
      const { messages } = await stream.end();
      expect(messages.map((message) => message.method ?? 'response')).toEqual([
        acknowledged,
        'notifications/tools/list_changed',
        'response',
      ]);
    },
  },
  {
    ids: ['SUB-20', 'T-51'],
    title: 'a change of a list reaches every stream that asked for it',
    async run(endpoint) {
      const kinds = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' };
      for (const [what, key] of Object.entries(kinds)) {
        const streams = await Promise.all([0, 1].map((id) => endpoint.open(listen({ [key]: true }, { id }))));
        for (const stream of streams) await stream.next();
        await change(endpoint, { what });
        for (const stream of streams) {
          expect(await stream.next()).toMatchObject({ method: `notifications/${what}/list_changed` });
          stream.leave();
        }
      }
    },
  },
  {
    ids: ['SUB-20'],
    title: 'a tool that comes or goes announces itself',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ toolsListChanged: true }));
      await stream.next();
      await endpoint.post(callTool('toggle'));
      expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
      stream.leave();
    },
  },
  {
    ids: ['SUB-22', 'T-38'],
    title: 'a watched resource announces its parts by their own names',
    async run(endpoint) {
      const stream = await endpoint.open(listen({ resourceSubscriptions: ['note://book'] }));
      await stream.next();
      await change(endpoint, { what: 'resource', uri: 'note://book/1', within: ['note://book'] });
      expect(await stream.next()).toMatchObject({ params: { uri: 'note://book/1' } });
      stream.leave();
    },
  },
  {
    ids: ['SUB-24', 'T-39', 'T-40', 'T-51'],
    title: 'updates of a resource reach each stream that watches it by that very name',
    async run(endpoint) {
      const watch = (id: string, ...uris: readonly string[]): ReturnType<WireEndpoint['open']> =>
        endpoint.open(listen({ resourceSubscriptions: uris }, { id }));
      const watching = await Promise.all([watch('a', 'note://today'), watch('b', 'note://book', 'note://today')]);
      const other = await watch('c', 'NOTE://today', 'note://today/');
      for (const stream of [...watching, other]) await stream.next();
      await change(endpoint, { what: 'resource', uri: 'note://today' });
      for (const stream of watching) {
        const update = await stream.next();
        expect(update).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'note://today' } });
        stream.leave();
      }
      await other.quiet(50);
      other.leave();
    },
  },
];

/** Opens a stream, as soon as the server knows that an earlier one was left. */
async function untilAccepted(endpoint: WireEndpoint): ReturnType<WireEndpoint['open']> {
  const deadline = performance.now() + endpoint.timeoutMs;
  for (;;) {
    const stream = await endpoint.open(listen({ toolsListChanged: true }, { id: 1 }));
    if (stream.status === 200) return stream;
    stream.leave();
    if (performance.now() > deadline) throw new Error('streams that were left still take all the room');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function change(endpoint: WireEndpoint, ...changes: readonly JsonObject[]): Promise<void> {
  for (const one of changes) expectResult(await endpoint.post(callTool('change', one)));
}
