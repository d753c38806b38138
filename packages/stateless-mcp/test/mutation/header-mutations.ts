import type { JsonValue } from '../../src/protocol/json.ts';
import { at, encodeName, VERSION_KEY } from '../wire/messages.ts';
import { edit, methodOf, onResult, pretendHeader } from './edits.ts';
import { isJsonObject, readHeader, type WireMutation, type WireRequest, withRequestHeader } from './wire-model.ts';

const versionOf = (request: WireRequest): unknown => at(request.message, 'params', '_meta', VERSION_KEY);
const isMissing = (request: WireRequest, name: string): boolean => readHeader(request.headers, name) === undefined;

/** The annotated properties of the tool `route`, changed. */
function onAnnotations(change: (property: JsonValue) => JsonValue): NonNullable<WireMutation['message']> {
  return onResult('tools/list', (result) =>
    edit(result, ['tools'], (tools) =>
      Array.isArray(tools)
        ? tools.map((tool: unknown) =>
            isJsonObject(tool) ? edit(tool, ['inputSchema', 'properties', 'region'], change) : null,
          )
        : tools,
    ),
  );
}

/** The mirrored parameters of `route` as its arguments would have them. */
function withArgumentsMirrored(request: WireRequest): WireRequest {
  if (at(request.message, 'params', 'name') !== 'route') return request;
  const values = {
    'Mcp-Param-Region': at(request.message, 'params', 'arguments', 'region'),
    'Mcp-Param-Dry': at(request.message, 'params', 'arguments', 'dry'),
    'Mcp-Param-Zone': at(request.message, 'params', 'arguments', 'target', 'zone'),
  };
  let mirrored = request;
  for (const [name, value] of Object.entries(values)) {
    const text = value === undefined || value === null ? undefined : value === '' ? '' : encodeName(String(value));
    if (readHeader(mirrored.headers, name) !== text) mirrored = withRequestHeader(mirrored, name, text);
  }
  return mirrored;
}

/** Rules of mirrored headers. */
export const headerMutations: readonly WireMutation[] = [
  { id: 'HDR-02', name: 'the version of the body wins', request: pretendHeader('MCP-Protocol-Version', versionOf) },
  {
    id: 'HDR-06',
    name: 'values are compared without case',
    request: (request) => {
      const header = readHeader(request.headers, 'mcp-method');
      const method = methodOf(request);
      const isSame = typeof method === 'string' && header?.toLowerCase() === method.toLowerCase();
      return isSame && header !== method ? withRequestHeader(request, 'Mcp-Method', method) : request;
    },
  },
  {
    id: 'HDR-06',
    name: 'names are compared with case',
    request: (request) =>
      request.headers.some(([name]) => name === 'mcp-method')
        ? withRequestHeader(request, 'Mcp-Method', undefined)
        : request,
  },
  {
    id: 'HDR-07',
    name: 'Mcp-Method may be missing',
    request: (request) => (isMissing(request, 'mcp-method') ? pretendHeader('Mcp-Method', methodOf)(request) : request),
  },
  {
    id: 'HDR-07',
    name: 'Mcp-Name may be missing',
    request: (request) =>
      isMissing(request, 'mcp-name')
        ? pretendHeader('Mcp-Name', () => at(request.message, 'params', 'name'))(request)
        : request,
  },
  {
    id: 'HDR-07',
    name: 'the first of several lines counts',
    request: (request) => {
      const lines = request.headers.filter(([name]) => name.toLowerCase() === 'mcp-method');
      const [first] = lines;
      return lines.length < 2 || first === undefined ? request : withRequestHeader(request, ...first);
    },
  },
  {
    id: 'HDR-07',
    name: 'characters of Latin-1 are taken as they are',
    request: (request) => {
      const header = readHeader(request.headers, 'mcp-name') ?? '';
      return /[\u0080-\u00ff]/.test(header) ? withRequestHeader(request, 'Mcp-Name', encodeName(header)) : request;
    },
  },
  {
    id: 'HDR-10',
    name: 'names are not decoded',
    request: (request) => {
      const header = readHeader(request.headers, 'mcp-name') ?? '';
      return header.startsWith('=?base64?')
        ? withRequestHeader(request, 'Mcp-Name', header.replace('base64', 'BASE64'))
        : request;
    },
  },
  {
    id: 'HDR-10',
    name: 'markers are read without case',
    request: (request) => {
      const header = readHeader(request.headers, 'mcp-name') ?? '';
      return header.startsWith('=?Base64?')
        ? withRequestHeader(request, 'Mcp-Name', header.replace('Base64', 'base64'))
        : request;
    },
  },
  {
    id: 'HDR-10',
    name: 'absent padding is forgiven',
    request: (request) => {
      const payload = /^=\?base64\?([A-Za-z0-9+/]*)\?=$/.exec(readHeader(request.headers, 'mcp-name') ?? '')?.[1];
      if (payload === undefined || payload.length % 4 === 0) return request;
      const padded = payload.padEnd(Math.ceil(payload.length / 4) * 4, '=');
      return withRequestHeader(request, 'Mcp-Name', `=?base64?${padded}?=`);
    },
  },
  {
    id: 'HDR-11',
    name: 'annotations get lost',
    message: onAnnotations((property) =>
      isJsonObject(property) ? edit(property, ['x-mcp-header'], () => undefined) : property,
    ),
  },
  {
    id: 'HDR-13',
    name: 'an annotation is no token',
    message: onAnnotations((property) => ({ ...Object(property), 'x-mcp-header': 'My Region' })),
  },
  {
    id: 'HDR-14',
    name: 'a number is annotated',
    message: onAnnotations((property) => ({ ...Object(property), type: 'number' })),
  },
  { id: 'HDR-19', name: 'mirrored parameters are not compared', request: withArgumentsMirrored },
  {
    id: 'HDR-19',
    name: 'a mirrored parameter may be missing',
    request: (request) => (isMissing(request, 'mcp-param-region') ? withArgumentsMirrored(request) : request),
  },
  {
    id: 'HDR-19',
    name: 'a parameter without a value still has to be mirrored',
    request: (request) =>
      isMissing(request, 'mcp-param-region') ? withRequestHeader(request, 'Mcp-Param-Region', 'null') : request,
  },
  {
    id: 'HDR-20',
    name: 'integers are compared as text',
    request: (request) =>
      readHeader(request.headers, 'mcp-param-limit')?.includes('.0')
        ? withRequestHeader(request, 'Mcp-Param-Limit', 'other')
        : request,
  },
  {
    id: 'HDR-20',
    name: 'anything that makes a number will do',
    request: (request) => {
      const header = readHeader(request.headers, 'mcp-param-limit');
      return header === undefined || header === '' || Number.isNaN(Number(header))
        ? request
        : withRequestHeader(request, 'Mcp-Param-Limit', String(Number(header)));
    },
  },
  {
    id: 'HDR-24',
    name: 'a request without a version is taken for the current one',
    request: (request) =>
      isMissing(request, 'mcp-protocol-version') ? pretendHeader('MCP-Protocol-Version', versionOf)(request) : request,
  },
];
