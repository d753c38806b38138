import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { at, callTool, LOG_LEVEL_KEY, request } from '../messages.ts';
import { isEvent } from '../sse-frames.ts';

const counting = (progressToken: string): ReturnType<typeof callTool> =>
  callTool('count', { values: [1, 2] }, { meta: { progressToken } });

export const streamingChecks: readonly WireCheck[] = [
  {
    ids: ['STRM-01'],
    title: 'a request is answered by one JSON object or by an event stream',
    async run(endpoint) {
      const plain = await endpoint.post(callTool('echo', { text: 'x' }));
      expect(plain.headers['content-type']).toMatch(/^application\/json\b/);
      expect(textOf(expectResult(plain))).toBe('x');
      expect(JSON.parse(plain.text)).toEqual(plain.body);

      const streamed = await endpoint.post(counting('t'));
      expect(streamed.headers['content-type']).toMatch(/^text\/event-stream\b/);
      expect(streamed.messages.filter((message) => 'result' in message)).toHaveLength(1);
    },
  },
  {
    ids: ['STRM-01', 'T-105'],
    title: 'a caller that does not accept event streams gets JSON',
    async run(endpoint) {
      for (const accept of [null, 'application/json', 'application/json;q=1, text/html']) {
        const answer = await endpoint.post(counting('t'), { Accept: accept });
        expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
        expect(textOf(expectResult(answer))).toBe('counted');
      }
    },
  },
  {
    ids: ['STRM-01', 'T-78', 'T-46'],
    title: 'a refusal is JSON with its own status, even where a stream was possible',
    async run(endpoint) {
      const meta = { progressToken: 't', [LOG_LEVEL_KEY]: 'debug' };
      const refused = [
        await endpoint.post(callTool('sample', {}, { meta })),
        await endpoint.post(request('subscriptions/listen', {}, { meta })),
        await endpoint.post(request('subscriptions/listen', { notifications: [] }, { meta })),
        await endpoint.post(request('no/such', {}, { meta })),
      ];
      const codes = [-32021, -32602, -32602, -32601];
      for (const [index, answer] of refused.entries()) {
        expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
        expectError(answer, { code: codes[index] ?? 0 });
      }
    },
  },
  {
    ids: ['STRM-03'],
    title: 'a stream carries what belongs to its request, though others run at the same time',
    async run(endpoint) {
      const tokens = ['a', 'b', 'c', 'd'];
      const answers = await Promise.all(tokens.map((token) => endpoint.post(counting(token))));
      for (const [index, answer] of answers.entries()) {
        const sent = answer.messages.slice(0, -1).map((message) => at(message, 'params', 'progressToken'));
        expect(sent).toEqual([tokens[index], tokens[index]]);
      }
    },
  },
  {
    ids: ['STRM-05'],
    title: 'the response is the last event and ends the stream',
    async run(endpoint) {
      const stream = await endpoint.open(counting('t'));
      await stream.next();
      await stream.next();
      expect(await stream.next()).toHaveProperty('result');
      const answer = await stream.end();
      expect(answer.messages.at(-1)).toHaveProperty('result');
      expect(answer.messages).toHaveLength(3);
    },
  },
  {
    ids: ['STRM-07', 'RM-07', 'HTTP-09', 'T-101'],
    title: 'events have no ids, and Last-Event-ID means nothing',
    async run(endpoint) {
      const answer = await endpoint.post(counting('t'), { 'Last-Event-ID': '1' });
      const events = answer.frames.filter(isEvent);
      expect(events).toHaveLength(3);
      for (const event of events) {
        expect(event).not.toHaveProperty('id');
        expect(event).not.toHaveProperty('retry');
      }
    },
  },
  {
    ids: ['T-103', 'HTTP-10'],
    title: 'streams tell proxies neither to buffer nor to keep them',
    async run(endpoint) {
      const answer = await endpoint.post(counting('t'));
      expect(answer.headers['x-accel-buffering']).toBe('no');
      expect(answer.headers['cache-control']).toMatch(/no-store|no-cache/);
      expect(answer.headers).not.toHaveProperty('content-length');
    },
  },
  {
    ids: ['STRM-01', 'T-102'],
    title: 'a call that takes long becomes a stream with signs of life, if its caller takes one',
    server: 'crowded',
    async run(endpoint) {
      const stream = await endpoint.open(callTool('hold', { key: 'long' }));
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream\b/);
      expect(isEvent(await stream.nextFrame())).toBe(false);
      await endpoint.post(callTool('release', { key: 'long' }));
      expect(textOf(expectResult(await stream.end()))).toBe('released');
    },
  },
];
