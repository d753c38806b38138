import { expect } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/protocol/json.ts';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import {
  at,
  callTool,
  CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  listen,
  LOG_LEVEL_KEY,
  request,
  SERVER_INFO_KEY,
  SUBSCRIPTION_ID_KEY,
  VERSION_KEY,
} from '../messages.ts';
import { everyResult } from '../sweeps.ts';

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export const metadataChecks: readonly WireCheck[] = [
  {
    ids: ['META-06', 'T-15', 'T-17', 'T-20', 'T-29'],
    title: 'a request without its required metadata is refused, whatever its method',
    async run(endpoint) {
      const broken: readonly (JsonValue | undefined)[] = [undefined, null, [], 'text', 7];
      const metas: readonly RequestMetaChange[] = [
        ...broken.map((value) => ({ [CAPABILITIES_KEY]: value })),
        ...broken.filter((value) => value !== 'text').map((value) => ({ [VERSION_KEY]: value })),
      ];
      for (const method of ['server/discover', 'tools/list', 'subscriptions/listen', 'no/such']) {
        for (const meta of metas) {
          const message = request(method, { notifications: {} }, { id: 'm', meta });
          const answer = await endpoint.post(message);
          expectError(answer, { code: -32602, status: 400, id: 'm' });
        }
        for (const params of [undefined, null, [], {}, { _meta: null }, { _meta: [] }]) {
          const answer = await endpoint.post({ ...request(method, {}, { id: 'm' }), params });
          expectError(answer, { code: -32602, status: 400, id: 'm' });
        }
      }
    },
  },
  {
    ids: ['META-07', 'CAP-02'],
    title: 'what one caller declared serves no other',
    async run(endpoint) {
      const declared = callTool('sample', {}, { meta: { [CAPABILITIES_KEY]: { sampling: {} } } });
      const undeclared = callTool('sample');
      const answers = await Promise.all([declared, undeclared, declared, undeclared].map((one) => endpoint.post(one)));
      expect(answers.map((answer) => answer.status)).toEqual([200, 400, 200, 400]);
    },
  },
  {
    ids: ['META-08', 'T-26'],
    title: 'no log message is sent unless this request asks for it',
    async run(endpoint) {
      const asked = await endpoint.post(callTool('log', {}, { meta: { [LOG_LEVEL_KEY]: 'debug' } }));
      expect(loggedLevels(asked.messages)).toEqual(levels);
      const notAsked = await endpoint.post(callTool('log', {}, { meta: { progressToken: 't' } }));
      expectResult(notAsked);
      expect(notAsked.messages).toHaveLength(1);
    },
  },
  {
    ids: ['META-09'],
    title: 'log messages of the level and above come on the stream of the request, before its response',
    async run(endpoint) {
      for (const [index, level] of levels.entries()) {
        const answer = await endpoint.post(callTool('log', {}, { meta: { [LOG_LEVEL_KEY]: level } }));
        expectResult(answer);
        expect(loggedLevels(answer.messages.slice(0, -1))).toEqual(levels.slice(index));
      }
    },
  },
  {
    ids: ['META-10', 'SUB-19', 'T-42'],
    title: 'log messages and progress stay off listen streams and the streams of other requests',
    async run(endpoint) {
      const stream = await endpoint.open(
        listen({ toolsListChanged: true }, { meta: { [LOG_LEVEL_KEY]: 'debug', progressToken: 'p' } }),
      );
      await stream.next();
      const [logged, counted] = await Promise.all([
        endpoint.post(callTool('log', {}, { meta: { [LOG_LEVEL_KEY]: 'debug' } })),
        endpoint.post(
          callTool('count', { values: [1, 2] }, { meta: { progressToken: 'p', [LOG_LEVEL_KEY]: 'debug' } }),
        ),
      ]);
      expect(loggedLevels(logged.messages)).toEqual(levels);
      expect(loggedLevels(counted.messages)).toEqual([]);
      for (const message of [...logged.messages, ...counted.messages]) {
        expect(at(message, 'params', '_meta', SUBSCRIPTION_ID_KEY)).toBeUndefined();
      }
      await stream.quiet(50);
      stream.leave();
    },
  },
  {
    ids: ['META-11'],
    title: 'an unknown log level is refused',
    async run(endpoint) {
      for (const level of ['verbose', 'DEBUG', '', 'constructor', 3, null]) {
        const answer = await endpoint.post(callTool('log', {}, { id: 'l', meta: { [LOG_LEVEL_KEY]: level } }));
        expectError(answer, { code: -32602, id: 'l' });
      }
    },
  },
  {
    ids: ['META-12'],
    title: 'a server that logs says so',
    async run(endpoint) {
      const logged = await endpoint.post(callTool('log', {}, { meta: { [LOG_LEVEL_KEY]: 'debug' } }));
      expect(loggedLevels(logged.messages)).toEqual(levels);
      const { capabilities } = expectResult(await endpoint.post(request('server/discover')));
      expect(at(capabilities, 'logging')).toEqual({});
    },
  },
  {
    ids: ['META-13', 'DISC-04', 'T-27'],
    title: 'every result names the server in its metadata',
    async run(endpoint) {
      for (const { method, result } of await everyResult(endpoint)) {
        expect(at(result, '_meta', SERVER_INFO_KEY), method).toMatchObject({ name: 'wire-fixture', version: '1.2.3' });
      }
    },
  },
  {
    ids: ['META-14', 'T-21'],
    title: 'what a client calls itself changes nothing',
    async run(endpoint) {
      const infos = [
        undefined,
        { name: 'wire-fixture', version: '1.2.3' },
        { name: 'évil 日', version: '', extra: [1] },
      ];
      const results = await Promise.all(
        infos.map(async (info) =>
          expectResult(await endpoint.post(request('tools/list', {}, { meta: { [CLIENT_INFO_KEY]: info } }))),
        ),
      );
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    },
  },
  {
    ids: ['META-16'],
    title: 'keys of metadata follow the grammar',
    async run(endpoint) {
      const label = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
      const key = new RegExp(`^(?:${label}(?:\\.${label})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`);
      const stream = await endpoint.open(listen({ toolsListChanged: true }));
      const acknowledgment = await stream.next();
      stream.leave();
      const results = (await everyResult(endpoint)).map(({ result }) => result._meta);
      const metas = [...results, at(acknowledgment, 'params', '_meta')];
      for (const name of metas.flatMap((meta) => Object.keys(Object(meta)))) expect(name).toMatch(key);
    },
  },
  {
    ids: ['META-19', 'T-28'],
    title: 'progress is sent with the token of its request, as it came, and never without one',
    async run(endpoint) {
      for (const progressToken of ['abc', 7, 0, '', '7']) {
        const answer = await endpoint.post(callTool('count', { values: [1, 2] }, { meta: { progressToken } }));
        const sent = answer.messages.slice(0, -1);
        expect(sent.map((message) => at(message, 'params', 'progressToken'))).toEqual([progressToken, progressToken]);
      }
      const answer = await endpoint.post(callTool('count', { values: [1, 2] }));
      expect(textOf(expectResult(answer))).toBe('counted');
      expect(answer.messages).toHaveLength(1);
    },
  },
  {
    ids: ['META-20'],
    title: 'progress grows, and ends with its request',
    async run(endpoint) {
      const values = [1, 1, 0.5, 2.5, 2, 3];
      const answer = await endpoint.post(callTool('count', { values }, { meta: { progressToken: 't' } }));
      expectResult(answer);
      const progress = answer.messages.slice(0, -1).map((message) => Number(at(message, 'params', 'progress')));
      expect(progress).toEqual([...new Set(progress)].sort((one, other) => one - other));
      expect(progress).toContain(3);
    },
  },
];

type RequestMetaChange = Readonly<Record<string, JsonValue | undefined>>;

function loggedLevels(messages: readonly JsonObject[]): readonly unknown[] {
  return messages
    .filter((message) => message.method === 'notifications/message')
    .map((message) => at(message, 'params', 'level'));
}
