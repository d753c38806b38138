// The requests, with all metadata that the specification asks for, and what a right answer to each looks like.
import assert from 'node:assert/strict';
import { tools } from './contenders/tools.mjs';

export const version = '2026-07-28';
/** Of every request. */
export const meta = {
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

/** Without metadata. */
export function paramsFor(operation, number) {
  return operations[operation].params(number);
}

/** Its id is its number. */
export function requestFor(operation, number) {
  return { jsonrpc: '2.0', id: number, method: operation, params: { ...paramsFor(operation, number), _meta: meta } };
}

/** Throws if this is not the right answer to the request. */
export function checkAnswer(operation, number, { jsonrpc, id, result, error }) {
  assert.equal(error, undefined);
  assert.equal(jsonrpc, '2.0');
  assert.equal(id, number);
  checkResult(operation, number, result);
}

/** Throws if this is not the right result of the request. */
export function checkResult(operation, number, result) {
  operations[operation].check(result, number);
}
