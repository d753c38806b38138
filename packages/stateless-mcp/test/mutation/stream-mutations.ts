import { at, SUBSCRIPTION_ID_KEY } from '../wire/messages.ts';
import { isEvent } from '../wire/sse-frames.ts';
import {
  edit,
  errorReply,
  eventOf,
  messageIn,
  methodOf,
  onNotification,
  onRequest,
  onResult,
  unsolicited,
} from './edits.ts';
import { isJsonObject, type WireMutation, withHeader } from './wire-model.ts';

const acknowledged = 'notifications/subscriptions/acknowledged';
const isListening = (request: Parameters<typeof methodOf>[0]): boolean => methodOf(request) === 'subscriptions/listen';

/** Rules of response streams, cancellation and subscriptions. */
export const streamMutations: readonly WireMutation[] = [
  {
    id: 'STRM-01',
    name: 'JSON is not called so',
    head: (head) => ({ ...head, headers: withHeader(head.headers, 'Content-Type', 'text/plain') }),
  },
  {
    id: 'STRM-03',
    name: 'a stream carries the progress of another request',
    message: (message) => edit(message, ['params', 'progressToken'], () => 'a'),
  },
  {
    id: 'STRM-04',
    name: 'the client is asked on the stream',
    frames: (frame, index) => {
      const ask = { jsonrpc: '2.0', id: 'ask', method: 'elicitation/create', params: { message: 'Well?' } };
      return index === 1 ? [eventOf(ask), frame] : [frame];
    },
  },
  { id: 'STRM-05', name: 'the stream goes on after its response', neverEnds: true, seenByWaiting: true },
  {
    id: 'STRM-07',
    name: 'events have ids',
    frames: (frame, index) => (isEvent(frame) ? [{ id: String(index), ...frame }] : [frame]),
  },

  { id: 'CANC-02', name: 'nobody notices that the caller left', ignoresLeaving: true, seenByWaiting: true },
  { id: 'CANC-04', name: 'work goes on for a caller who left', ignoresLeaving: true, seenByWaiting: true },
  {
    id: 'CANC-07',
    name: 'a cancel of an unknown id is an error',
    reply: (reply, request) =>
      methodOf(request) === 'notifications/cancelled' ? errorReply(reply, request, 404, -32602) : reply,
  },
  {
    id: 'CANC-08',
    name: 'a malformed cancel is an error',
    reply: (reply, request) =>
      methodOf(request) === 'notifications/cancelled' && at(request.message, 'params', 'requestId') === undefined
        ? errorReply(reply, request, 400, -32602)
        : reply,
  },
  {
    id: 'CANC-11',
    name: 'the server cancels a listen on HTTP',
    frames: (frame) => {
      const message = messageIn(frame);
      if (at(message, 'result') === undefined) return [frame];
      const params = { requestId: String(at(message, 'id')) };
      return [eventOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }), frame];
    },
  },

  {
    id: 'SUB-03',
    name: 'everything is delivered',
    request: onRequest((message) =>
      edit(message, ['params', 'notifications'], () => ({
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
      })),
    ),
  },
  {
    id: 'SUB-04',
    name: 'there is no acknowledgment',
    seenByWaiting: true,
    frames: (frame) => (at(messageIn(frame), 'method') === acknowledged ? [] : [frame]),
  },
  {
    id: 'SUB-05',
    name: 'a change comes before the acknowledgment',
    frames: (frame, index, request) =>
      isListening(request) && index === 0 ? [unsolicited('notifications/tools/list_changed', request), frame] : [frame],
  },
  {
    id: 'SUB-07',
    name: 'the acknowledgment repeats the request',
    message: (message, request) => {
      const asked = at(request.message, 'params', 'notifications');
      return message.method === acknowledged && isJsonObject(asked)
        ? edit(message, ['params', 'notifications'], () => asked)
        : message;
    },
  },
  {
    id: 'SUB-08',
    name: 'the subscription id is always a string',
    message: (message) => edit(message, ['params', '_meta', SUBSCRIPTION_ID_KEY], (id) => String(id)),
  },
  {
    id: 'SUB-08',
    name: 'the completion does not say which subscription it ends',
    message: onResult('subscriptions/listen', (result) =>
      edit(result, ['_meta', SUBSCRIPTION_ID_KEY], () => undefined),
    ),
  },
  { id: 'SUB-13', name: 'a stream that was left stays open in the server', ignoresLeaving: true, seenByWaiting: true },
  {
    id: 'SUB-14',
    name: 'the server just closes the stream',
    frames: (frame, _index, request) =>
      isListening(request) && at(messageIn(frame), 'result') !== undefined ? [] : [frame],
  },
  { id: 'SUB-14', name: 'the stream stays open after its result', neverEnds: true, seenByWaiting: true },
  {
    id: 'SUB-18',
    name: 'a new stream hears what an old one missed',
    frames: (frame, index, request) =>
      isListening(request) && index === 0 ? [frame, unsolicited('notifications/tools/list_changed', request)] : [frame],
  },
  {
    id: 'SUB-19',
    name: 'progress appears on listen streams',
    frames: (frame, index, request) => {
      const progress = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: 1 },
      };
      return isListening(request) && index === 0 ? [frame, eventOf(progress)] : [frame];
    },
  },
  {
    id: 'SUB-20',
    name: 'changes of tools are not announced',
    seenByWaiting: true,
    frames: (frame) => (at(messageIn(frame), 'method') === 'notifications/tools/list_changed' ? [] : [frame]),
  },
  {
    id: 'SUB-21',
    name: 'subscriptions to resources are honoured without being advertised',
    message: onNotification(acknowledged, (message) =>
      edit(message, ['params', 'notifications'], (honoured) => ({
        ...Object(honoured),
        resourceSubscriptions: ['note://today'],
      })),
    ),
  },
  {
    id: 'SUB-22',
    name: 'an update names the watched resource instead of its part',
    message: (message) => edit(message, ['params', 'uri'], (uri) => (uri === 'note://book/1' ? 'note://book' : uri)),
  },
  {
    id: 'SUB-23',
    name: 'a listen stream is not called one',
    head: (head, request) =>
      isListening(request) ? { ...head, headers: withHeader(head.headers, 'Content-Type', 'application/json') } : head,
  },
  {
    id: 'SUB-24',
    name: 'an update of a resource is announced as a change of the list',
    message: onNotification('notifications/resources/updated', (message) => ({
      ...message,
      method: 'notifications/resources/list_changed',
    })),
  },
];
