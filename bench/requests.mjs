// The requests, as bytes with all headers that the specification asks for, and what a right answer to each looks like.
import assert from 'node:assert/strict';
import { tools } from './contenders/tools.mjs';

const version = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'bench-client', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** By name: the parameters of the request with this number, and the check of its result. */
const operations = {
  'tools/call': {
    params: (number) => ({
      name: tools[number % tools.length].name,
      arguments: { a: number, b: 'the label', tags: ['one', 'two'] },
    }),
    check: ({ content, isError }, number) => {
      assert.notEqual(isError, true);
      assert.deepEqual(content, [{ type: 'text', text: `the label ${number} one two` }]);
    },
  },
  'tools/list': {
    params: () => ({}),
    check: (result) => {
      assert.deepEqual(
        result.tools.map(({ name }) => name),
        tools.map(({ name }) => name),
      );
      for (const { inputSchema } of result.tools) assert.deepEqual(inputSchema.required, ['a', 'b']);
    },
  },
  'server/discover': {
    params: () => ({}),
    check: ({ supportedVersions, capabilities }) => {
      assert.ok(supportedVersions.includes(version));
      assert.ok(capabilities.tools);
    },
  },
};

export const operationNames = Object.keys(operations);

export function requestBytes(operation, number, { host, pathname }) {
  const params = operations[operation].params(number);
  const body = JSON.stringify({ jsonrpc: '2.0', id: number, method: operation, params: { ...params, _meta: meta } });
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: keep-alive',
    'User-Agent: bench-client/1.0.0',
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `MCP-Protocol-Version: ${version}`,
    `Mcp-Method: ${operation}`,
    ...(params.name === undefined ? [] : [`Mcp-Name: ${params.name}`]),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Throws if this is not the right answer to the request. */
export function checkAnswer(operation, number, { status, body }) {
  assert.equal(status, 200, `${operation} was answered ${status}: ${body}`);
  const message = JSON.parse(body);
  assert.equal(message.jsonrpc, '2.0');
  assert.equal(message.id, number);
  operations[operation].check(message.result, number);
}
