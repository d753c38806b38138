import {
  at,
  CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  LOG_LEVEL_KEY,
  SERVER_INFO_KEY,
  SUBSCRIPTION_ID_KEY,
} from '../wire/messages.ts';
import {
  edit,
  errorReply,
  eventOf,
  everyCapability,
  messageIn,
  methodOf,
  onMeta,
  onNotification,
  onResult,
} from './edits.ts';
import { isJsonObject, type WireMutation, withRequestHeader } from './wire-model.ts';

const levels: readonly unknown[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const logMessage = eventOf({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 'x' } });

/** Rules of metadata and of cache hints. */
export const metadataMutations: readonly WireMutation[] = [
  {
    id: 'META-06',
    name: 'absent capabilities are none',
    request: onMeta((meta) => (isJsonObject(meta[CAPABILITIES_KEY]) ? meta : { ...meta, [CAPABILITIES_KEY]: {} })),
  },
  {
    id: 'META-06',
    name: 'absent metadata is taken from the headers',
    reply: (reply, request) =>
      methodOf(request) === 'tools/list' && at(request.message, 'params', '_meta') === undefined
        ? { ...reply, status: 200 }
        : reply,
  },
  {
    id: 'META-07',
    name: 'what one caller declared counts for others',
    request: onMeta((meta) => edit(meta, [CAPABILITIES_KEY], () => everyCapability)),
  },
  {
    id: 'META-08',
    name: 'log messages come unasked',
    request: onMeta((meta) => (LOG_LEVEL_KEY in meta ? meta : { ...meta, [LOG_LEVEL_KEY]: 'debug' })),
  },
  {
    id: 'META-09',
    name: 'log messages below the level are sent',
    request: onMeta((meta) => edit(meta, [LOG_LEVEL_KEY], () => 'debug')),
  },
  {
    id: 'META-10',
    name: 'log messages appear on listen streams',
    frames: (frame, index, request) =>
      methodOf(request) === 'subscriptions/listen' && index === 0 ? [frame, logMessage] : [frame],
  },
  {
    id: 'META-11',
    name: 'an unknown log level is ignored',
    request: onMeta((meta) =>
      levels.includes(meta[LOG_LEVEL_KEY]) ? meta : edit(meta, [LOG_LEVEL_KEY], () => undefined),
    ),
  },
  {
    id: 'META-12',
    name: 'a server that logs does not say so',
    message: onResult('server/discover', (result) => edit(result, ['capabilities', 'logging'], () => undefined)),
  },
  {
    id: 'META-13',
    name: 'some results do not name the server',
    message: onResult('prompts/get', (result) => edit(result, ['_meta', SERVER_INFO_KEY], () => undefined)),
  },
  {
    id: 'META-13',
    name: 'a completed listen does not name the server',
    message: onResult('subscriptions/listen', (result) => edit(result, ['_meta', SERVER_INFO_KEY], () => undefined)),
  },
  {
    id: 'META-14',
    name: 'a client without a name is refused',
    reply: (reply, request) =>
      methodOf(request) === 'tools/list' && at(request.message, 'params', '_meta', CLIENT_INFO_KEY) === undefined
        ? errorReply(reply, request, 400, -32602)
        : reply,
  },
  {
    id: 'META-16',
    name: 'a key of metadata is none',
    message: onResult('tools/list', (result) => edit(result, ['_meta'], (meta) => ({ ...Object(meta), '1st/key': 1 }))),
  },
  {
    id: 'META-19',
    name: 'a number as token comes back as a string',
    message: (message) => edit(message, ['params', 'progressToken'], (token) => (token === 7 ? '7' : token)),
  },
  {
    id: 'META-19',
    name: 'progress is sent to who did not ask',
    request: onMeta((meta) => ('progressToken' in meta ? meta : { ...meta, progressToken: 'none' })),
  },
  {
    id: 'META-20',
    name: 'progress stands still',
    message: onNotification('notifications/progress', (message) => edit(message, ['params', 'progress'], () => 1)),
  },
  {
    id: 'META-20',
    name: 'progress goes on after the result',
    frames: (frame) => {
      const isLast = at(messageIn(frame), 'result') !== undefined;
      const late = { progressToken: 't', progress: 99 };
      return isLast ? [frame, eventOf({ jsonrpc: '2.0', method: 'notifications/progress', params: late })] : [frame];
    },
  },
  {
    id: 'META-21',
    name: 'changes do not say which subscription they belong to',
    message: onNotification('notifications/tools/list_changed', (message) =>
      edit(message, ['params', '_meta', SUBSCRIPTION_ID_KEY], () => undefined),
    ),
  },

  {
    id: 'CACHE-01',
    name: 'what was read has no scope',
    message: onResult('resources/read', (result) => edit(result, ['cacheScope'], () => undefined)),
  },
  {
    id: 'CACHE-01',
    name: 'a list has no ttlMs',
    message: onResult('resources/templates/list', (result) => edit(result, ['ttlMs'], () => undefined)),
  },
  {
    id: 'CACHE-02',
    name: 'ttlMs is negative',
    message: onResult('tools/list', (result) => edit(result, ['ttlMs'], () => -1)),
  },
  {
    id: 'CACHE-02',
    name: 'a later page has another scope',
    message: onResult('tools/list', (result, request) =>
      at(request.message, 'params', 'cursor') === undefined ? result : edit(result, ['cacheScope'], () => 'private'),
    ),
  },
  {
    id: 'CACHE-08',
    name: 'what is public needs no credentials',
    request: (request) =>
      methodOf(request) === 'tools/list' ? withRequestHeader(request, 'Authorization', 'Bearer alice') : request,
  },
  {
    id: 'CACHE-10',
    name: 'the order of tools changes',
    message: onResult('tools/list', (result, request) =>
      at(request.message, 'id') === 2
        ? edit(result, ['tools'], (tools) => (Array.isArray(tools) ? [...tools].reverse() : tools))
        : result,
    ),
  },
];
