import { at, CAPABILITIES_KEY, CLIENT_INFO_KEY, SERVER_INFO_KEY, VERSION, VERSION_KEY } from '../wire/messages.ts';
import {
  edit,
  errorReply,
  eventOf,
  everyCapability,
  messageIn,
  methodOf,
  onError,
  onMeta,
  onRequest,
  onResult,
  statusOfError,
} from './edits.ts';
import {
  isJsonObject,
  readHeader,
  type WireMutation,
  type WireRequest,
  withHeader,
  withRequestHeader,
} from './wire-model.ts';

const progressAtTheEnd = eventOf({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 't', progress: 99 },
});

const pretendSupported = (request: WireRequest): WireRequest =>
  withRequestHeader(onMeta((meta) => ({ ...meta, [VERSION_KEY]: VERSION }))(request), 'MCP-Protocol-Version', VERSION);

/** Rules of JSON-RPC, statelessness, versions, discovery and capabilities. */
export const rpcMutations: readonly WireMutation[] = [
  { id: 'JR-01', name: 'JSON-RPC 1.0', message: (message) => ({ ...message, jsonrpc: '1.0' }) },
  {
    id: 'JR-05',
    name: 'a number as id comes back as a string',
    message: (message) => edit(message, ['id'], (id) => (typeof id === 'number' ? String(id) : id)),
  },
  {
    id: 'JR-06',
    name: 'a code is a string',
    message: (message) => edit(message, ['error', 'code'], (code) => String(code)),
  },
  {
    id: 'JR-07',
    name: 'an id that could not be read is null',
    message: (message) => ('error' in message && !('id' in message) ? { ...message, id: null } : message),
  },
  {
    id: 'JR-07',
    name: 'errors have no id',
    message: (message) => ('error' in message ? edit(message, ['id'], () => undefined) : message),
  },
  {
    id: 'JR-08',
    name: 'results have no resultType',
    message: (message) => edit(message, ['result', 'resultType'], () => undefined),
  },
  {
    id: 'JR-11',
    name: 'a resultType of no extension',
    message: (message) => edit(message, ['result', 'resultType'], () => 'done'),
  },
  {
    id: 'JR-12',
    name: 'notifications have an id',
    message: (message) => ('method' in message ? { ...message, id: 1 } : message),
  },
  {
    id: 'JR-12',
    name: 'notifications are answered',
    reply: (reply, request) => (reply.status === 202 ? errorReply(reply, request, 200, -32601) : reply),
  },
  {
    id: 'JR-13',
    name: 'the server pings on a stream',
    frames: (frame, index) => (index === 0 ? [eventOf({ jsonrpc: '2.0', id: 1, method: 'ping' }), frame] : [frame]),
  },
  {
    id: 'JR-15',
    name: 'an unknown method is an invalid request',
    message: onError(-32601, (error) => ({ ...error, code: -32600 })),
  },
  {
    id: 'JR-16',
    name: 'what is no JSON is an invalid request',
    message: onError(-32700, (error) => ({ ...error, code: -32600 })),
  },
  {
    id: 'JR-17',
    name: 'a code that the specification keeps for itself',
    message: onError(-32603, (error) => ({ ...error, code: -32023 })),
  },
  {
    id: 'JR-18',
    name: 'a code of the range that is not used any more',
    message: onError(-32603, (error) => ({ ...error, code: -32000 })),
  },
  {
    id: 'JR-20',
    name: 'the old code for a missing resource',
    message: onError(-32602, (error) => (at(error, 'data', 'uri') === undefined ? error : { ...error, code: -32002 })),
  },
  {
    id: 'JR-21',
    name: 'an own code inside the reserved range',
    message: (message) =>
      edit(message, ['error', 'code'], (code) => (typeof code === 'number' && code > -32000 ? -32100 : code)),
  },
  {
    id: 'JR-24',
    name: 'a notification comes after the response',
    frames: (frame) => {
      const message = messageIn(frame);
      if (at(message, 'result') !== undefined) return [frame, progressAtTheEnd];
      return at(message, 'params', 'progress') === 1 ? [] : [frame];
    },
  },

  {
    id: 'ST-01',
    name: 'capabilities of an earlier request still count',
    request: onMeta((meta) => edit(meta, [CAPABILITIES_KEY], () => everyCapability)),
  },
  {
    id: 'ST-02',
    name: 'a cursor works on its own connection alone',
    reply: (reply, request) =>
      at(request.message, 'params', 'cursor') === undefined ? reply : errorReply(reply, request, 200, -32602),
  },
  {
    id: 'ST-03',
    name: 'the first caller of a connection is the caller of all',
    request: onMeta((meta) => edit(meta, [CLIENT_INFO_KEY, 'name'], () => 'first')),
  },
  {
    id: 'ST-04',
    name: 'there is one counter, whatever the handle',
    request: onRequest((message) => edit(message, ['params', 'arguments', 'handle'], () => 'counter-1')),
  },
  {
    id: 'ST-05',
    name: 'answers to the same id are mixed up',
    message: (message) =>
      message.id === 1 ? edit(message, ['result', 'content'], () => [{ type: 'text', text: 'message 0' }]) : message,
  },
  {
    id: 'ST-07',
    name: 'listen streams share their filter',
    request: onRequest((message) =>
      edit(message, ['params', 'notifications'], () => ({ toolsListChanged: true, promptsListChanged: true })),
    ),
  },
  {
    id: 'ST-08',
    name: 'a list depends on the connection',
    message: onResult('tools/list', (result, request) =>
      readHeader(request.headers, 'connection') === 'keep-alive' ? { ...result, tools: [] } : result,
    ),
  },
  {
    id: 'ST-09',
    name: 'a session is minted',
    head: (head) => ({ ...head, headers: withHeader(head.headers, 'Mcp-Session-Id', 'abc') }),
  },

  {
    id: 'VER-02',
    name: 'the code of a draft',
    message: onError(-32022, (error) => ({ ...error, code: -32602 })),
  },
  {
    id: 'VER-02',
    name: 'supported versions go by the name of the discover result',
    message: onError(-32022, (error) => ({
      ...error,
      data: { supportedVersions: [VERSION], requested: String(at(error, 'data', 'requested')) },
    })),
  },
  {
    id: 'VER-02',
    name: 'the error does not repeat what was requested',
    message: onError(-32022, (error) => edit(error, ['data', 'requested'], () => undefined)),
  },
  { id: 'VER-03', name: 'an unsupported version is 200', reply: statusOfError(-32022, 200) },
  { id: 'VER-06', name: 'the version of the first request counts for all', request: pretendSupported },
  {
    id: 'VER-08',
    name: 'an unknown extension is an error',
    reply: (reply, request) =>
      at(request.message, 'params', '_meta', CAPABILITIES_KEY, 'extensions') === undefined
        ? reply
        : errorReply(reply, request, 400, -32602),
  },

  {
    id: 'DISC-01',
    name: 'discover is unknown',
    reply: (reply, request) =>
      methodOf(request) === 'server/discover' ? errorReply(reply, request, 404, -32601) : reply,
  },
  {
    id: 'DISC-03',
    name: 'discover tells one protocolVersion',
    message: onResult('server/discover', (result) => ({
      ...edit(result, ['supportedVersions'], () => undefined),
      protocolVersion: VERSION,
    })),
  },
  {
    id: 'DISC-03',
    name: 'discover tells no capabilities',
    message: onResult('server/discover', (result) => edit(result, ['capabilities'], () => undefined)),
  },
  {
    id: 'DISC-04',
    name: 'the identity is in the body of discover',
    message: onResult('server/discover', (result) => {
      const serverInfo = at(result, '_meta', SERVER_INFO_KEY);
      return isJsonObject(serverInfo) ? { ...result, serverInfo } : result;
    }),
  },
  {
    id: 'DISC-05',
    name: 'instructions get lost',
    message: onResult('server/discover', (result) => edit(result, ['instructions'], () => undefined)),
  },
  {
    id: 'DISC-06',
    name: 'discover has no ttlMs',
    message: onResult('server/discover', (result) => edit(result, ['ttlMs'], () => undefined)),
  },
  {
    id: 'DISC-07',
    name: 'discover answers whatever the version',
    request: (request) => (methodOf(request) === 'server/discover' ? pretendSupported(request) : request),
  },
  {
    id: 'DISC-08',
    name: 'completions are served but not advertised',
    message: onResult('server/discover', (result) => edit(result, ['capabilities', 'completions'], () => undefined)),
  },
  {
    id: 'DISC-08',
    name: 'tools are advertised but not served',
    message: onResult('server/discover', (result) =>
      edit(result, ['capabilities'], (capabilities) =>
        isJsonObject(capabilities) && !('tools' in capabilities) ? { ...capabilities, tools: {} } : capabilities,
      ),
    ),
  },
  {
    id: 'DISC-10',
    name: 'an advertised list is unknown',
    reply: (reply, request) => (methodOf(request) === 'prompts/list' ? errorReply(reply, request, 404, -32601) : reply),
  },

  {
    id: 'CAP-02',
    name: 'capabilities are taken for granted',
    request: onMeta((meta) => edit(meta, [CAPABILITIES_KEY], () => everyCapability)),
  },
  {
    id: 'CAP-03',
    name: 'the code of a draft',
    message: onError(-32021, (error) => ({ ...error, code: -32003 })),
  },
  {
    id: 'CAP-03',
    name: 'missing capabilities are a list of names',
    message: onError(-32021, (error) =>
      edit(error, ['data', 'requiredCapabilities'], (missing) => Object.keys(Object(missing))),
    ),
  },
  {
    id: 'CAP-03',
    name: 'the error names what is not missing, too',
    message: onError(-32021, (error) =>
      edit(error, ['data', 'requiredCapabilities'], (missing) => ({ ...Object(missing), sampling: {} })),
    ),
  },
  { id: 'CAP-04', name: 'a missing capability is 200', reply: statusOfError(-32021, 200) },
  {
    id: 'CAP-08',
    name: 'an unknown capability is an error',
    reply: (reply, request) =>
      at(request.message, 'params', '_meta', CAPABILITIES_KEY, 'teleport') === undefined
        ? reply
        : errorReply(reply, request, 400, -32602),
  },
];
