import { at, CLIENT_INFO_KEY } from '../wire/messages.ts';
import { isEvent } from '../wire/sse-frames.ts';
import { edit, errorReply, methodOf, onError, onResult, served, statusOfError } from './edits.ts';
import { isJsonObject, parseJson, readHeader, type WireMutation, withHeader, withRequestHeader } from './wire-model.ts';

/** Rules of HTTP, of what was removed, of security and of features. */
export const httpMutations: readonly WireMutation[] = [
  {
    id: 'HTTP-01',
    name: 'every path is the endpoint',
    request: (request) => (request.path === '/elsewhere' ? { ...request, path: '/mcp' } : request),
  },
  {
    id: 'HTTP-05',
    name: 'a notification is 204',
    reply: (reply) => (reply.status === 202 ? { ...reply, status: 204 } : reply),
  },
  {
    id: 'HTTP-05',
    name: 'a notification is answered',
    reply: (reply) => (reply.status === 202 ? { ...reply, text: '{}' } : reply),
  },
  {
    id: 'HTTP-06',
    name: 'a notification that cannot be accepted is 202',
    reply: (reply, request) =>
      isJsonObject(request.message) && !('id' in request.message) ? { ...reply, status: 202, text: '' } : reply,
  },
  { id: 'HTTP-07', name: 'an unknown method is 200', reply: statusOfError(-32601, 200) },
  { id: 'HTTP-07', name: 'an unknown tool is 404', reply: statusOfError(-32602, 404) },
  {
    id: 'HTTP-07',
    name: 'an unknown method is 404 without a body',
    reply: (reply) => (reply.status === 404 ? { ...reply, text: '' } : reply),
  },
  { id: 'HTTP-08', name: 'GET is 404', reply: (reply) => (reply.status === 405 ? { ...reply, status: 404 } : reply) },
  {
    id: 'HTTP-08',
    name: '405 does not say what is allowed',
    head: (head) => (head.status === 405 ? { ...head, headers: withHeader(head.headers, 'Allow', undefined) } : head),
  },
  {
    id: 'HTTP-09',
    name: 'an unknown session is refused',
    reply: (reply, request) =>
      readHeader(request.headers, 'mcp-session-id') === undefined ? reply : { ...reply, status: 404, text: '' },
  },
  {
    id: 'HTTP-10',
    name: 'proxies may buffer',
    head: (head) =>
      readHeader(head.headers, 'x-accel-buffering') === undefined
        ? head
        : { ...head, headers: withHeader(head.headers, 'X-Accel-Buffering', undefined) },
  },
  {
    id: 'HTTP-11',
    name: 'a quiet stream is silent',
    seenByWaiting: true,
    frames: (frame) => (isEvent(frame) ? [frame] : []),
  },
  {
    id: 'HTTP-13',
    name: 'any origin will do',
    request: (request) =>
      readHeader(request.headers, 'origin') === undefined ? request : withRequestHeader(request, 'Origin', undefined),
  },
  {
    id: 'HTTP-13',
    name: 'the origin is looked at on POST alone',
    request: (request) =>
      request.method === 'POST' || readHeader(request.headers, 'origin') === undefined
        ? request
        : withRequestHeader(request, 'Origin', undefined),
  },
  {
    id: 'HTTP-15',
    name: 'discover needs no credentials',
    request: (request) =>
      methodOf(request) === 'server/discover' ? withRequestHeader(request, 'Authorization', 'Bearer alice') : request,
  },
  { id: 'HTTP-16', name: 'header problems are 200', reply: statusOfError(-32020, 200) },
  { id: 'HTTP-16', name: 'absent metadata is 200', reply: statusOfError(-32602, 200) },

  { id: 'RM-01', name: 'initialize is served', reply: served('initialize') },
  { id: 'RM-02', name: 'ping is served', reply: served('ping') },
  { id: 'RM-03', name: 'logging/setLevel is served', reply: served('logging/setLevel') },
  { id: 'RM-04', name: 'resources/unsubscribe is served', reply: served('resources/unsubscribe') },
  { id: 'RM-05', name: 'roots/list is served', reply: served('roots/list') },
  {
    id: 'RM-06',
    name: 'changed roots are refused',
    reply: (reply, request) =>
      methodOf(request) === 'notifications/roots/list_changed' ? errorReply(reply, request, 400, -32601) : reply,
  },
  {
    id: 'RM-07',
    name: 'GET opens a stream',
    reply: (reply, request) =>
      request.method === 'GET'
        ? { status: 200, headers: [['Content-Type', 'text/event-stream']], text: ':\n\n' }
        : reply,
  },
  { id: 'RM-08', name: 'tasks/list is served', reply: served('tasks/list') },
  {
    id: 'BC-10',
    name: 'the error to initialize keeps the versions to itself',
    reply: (reply, request) => (methodOf(request) === 'initialize' ? errorReply(reply, request, 400, -32602) : reply),
  },

  {
    id: 'SEC-01',
    name: 'credentials of the connection count for all its requests',
    request: (request) =>
      readHeader(request.headers, 'authorization') === undefined
        ? withRequestHeader(request, 'Authorization', 'Bearer alice')
        : request,
  },
  {
    id: 'SEC-01',
    name: 'scopes are not asked for',
    request: (request) =>
      readHeader(request.headers, 'authorization') === 'Bearer bob'
        ? withRequestHeader(request, 'Authorization', 'Bearer alice')
        : request,
  },
  {
    id: 'SEC-04',
    name: 'any host will do',
    request: (request) => {
      const host = readHeader(request.headers, 'host') ?? '';
      return host.includes('evil') ? withRequestHeader(request, 'Host', 'localhost') : request;
    },
  },
  {
    id: 'SEC-05',
    name: 'the server runs what the body names, whatever the router saw',
    request: (request) => {
      const name = at(request.message, 'params', 'name');
      const header = readHeader(request.headers, 'mcp-name');
      return typeof name === 'string' && header !== undefined && header !== name
        ? withRequestHeader(request, 'Mcp-Name', name)
        : request;
    },
  },
  {
    id: 'SEC-08',
    name: 'the name of the client opens the door',
    request: (request) =>
      at(request.message, 'params', '_meta', CLIENT_INFO_KEY, 'name') === 'alice'
        ? withRequestHeader(request, 'Authorization', 'Bearer alice')
        : request,
  },
  {
    id: 'SEC-10',
    name: 'the text of an unexpected error is sent',
    message: onResult('tools/call', (result) =>
      result.isError === true ? { ...result, content: [{ type: 'text', text: 'Error: hunter2' }] } : result,
    ),
  },
  {
    id: 'SEC-10',
    name: 'the stack of an unexpected error is sent',
    message: onError(-32603, (error) => ({ ...error, data: { stack: 'at read (/app/src/notes.ts:12:7)' } })),
  },

  {
    id: 'FEAT-01',
    name: 'a missing resource is an empty one',
    reply: (reply, request) => {
      if (at(parseJson(reply.text), 'error', 'data', 'uri') === undefined) return reply;
      const result = { resultType: 'complete', contents: [], ttlMs: 0, cacheScope: 'private' };
      return { ...reply, text: JSON.stringify({ jsonrpc: '2.0', id: at(request.message, 'id'), result }) };
    },
  },
  {
    id: 'FEAT-02',
    name: 'a tool that fails is a protocol error',
    reply: (reply, request) =>
      at(parseJson(reply.text), 'result', 'isError') === true ? errorReply(reply, request, 200, -32603) : reply,
  },
  {
    id: 'FEAT-04',
    name: 'structured output gets lost',
    message: (message) => edit(message, ['result', 'structuredContent'], () => undefined),
  },
];
