import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { CompleteParams } from './completion.ts';
import type { DiscoverResult } from './discover.ts';
import * as errorCodes from './error-codes.ts';
import type { InputRequiredResult, InputResponseParams } from './input-required.ts';
import type { JsonRpcErrorResponse, JsonRpcRequest } from './json-rpc-types.ts';
import { atLeast, isLoggingLevel, LOGGING_LEVELS } from './logging.ts';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isExtensionId,
  isMetaKey,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from './meta.ts';
import type { NotificationMeta, RequestMeta, ResultMeta } from './meta.ts';
import type {
  CancelledNotification,
  ExtensionNotification,
  McpNotification,
  ProgressParams,
  WireProgressNotification,
  WireSubscriptionsAcknowledgedNotification,
} from './notifications.ts';
import type { GetPromptParams, GetPromptResult } from './prompts.ts';
import type { ListResourcesResult, ReadResourceParams, ReadResourceResult } from './resources.ts';
import type { McpResult, RequestParams } from './result.ts';
import type { CreateMessageParams } from './sampling.ts';
import type { WireSubscriptionsListenResult } from './subscriptions.ts';
import type { CallToolParams, CallToolResult, Tool } from './tools.ts';

const meta: RequestMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, 'com.example/extra': true },
};

describe('constants', () => {
  it('spells the metadata keys as the specification does', () => {
    expect([
      PROTOCOL_VERSION_META_KEY,
      CLIENT_CAPABILITIES_META_KEY,
      CLIENT_INFO_META_KEY,
      LOG_LEVEL_META_KEY,
      SERVER_INFO_META_KEY,
      SUBSCRIPTION_ID_META_KEY,
    ]).toEqual([
      'io.modelcontextprotocol/protocolVersion',
      'io.modelcontextprotocol/clientCapabilities',
      'io.modelcontextprotocol/clientInfo',
      'io.modelcontextprotocol/logLevel',
      'io.modelcontextprotocol/serverInfo',
      'io.modelcontextprotocol/subscriptionId',
    ]);
  });

  it('declares a typed member for every metadata key', () => {
    expectTypeOf<RequestMeta[typeof PROTOCOL_VERSION_META_KEY]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<RequestMeta[typeof CLIENT_CAPABILITIES_META_KEY]>().not.toBeUnknown();
    expectTypeOf<RequestMeta[typeof CLIENT_INFO_META_KEY]>().not.toBeUnknown();
    expectTypeOf<RequestMeta[typeof LOG_LEVEL_META_KEY]>().not.toBeUnknown();
    expectTypeOf<ResultMeta[typeof SERVER_INFO_META_KEY]>().not.toBeUnknown();
    expectTypeOf<NotificationMeta[typeof SUBSCRIPTION_ID_META_KEY]>().not.toBeUnknown();
  });

  it('numbers the error codes as the specification does', () => {
    expect({ ...errorCodes }).toEqual({
      PARSE_ERROR: -32700,
      INVALID_REQUEST: -32600,
      METHOD_NOT_FOUND: -32601,
      INVALID_PARAMS: -32602,
      INTERNAL_ERROR: -32603,
      HEADER_MISMATCH: -32020,
      MISSING_REQUIRED_CLIENT_CAPABILITY: -32021,
      UNSUPPORTED_PROTOCOL_VERSION: -32022,
    });
  });
});

describe('META-16: metadata keys', () => {
  it.each(['', 'a', '7', 'traceparent', 'trace.id_2-x', 'com.example/', 'com.example/name', 'a/b', 'x-1.y2/a..b__c'])(
    'accepts %j',
    (key) => expect(isMetaKey(key)).toBe(true),
  );

  it.each([
    ...['-a', 'a-', '_a', 'a.', 'a b', 'ä', 'a\n'],
    ...['/a', '1a/b', 'a-/b', 'a..b/c', '.a/b', 'a./b', 'a_b/c', 'a/b/c', 'a/b\n'],
  ])('refuses %j', (key) => expect(isMetaKey(key)).toBe(false));

  const letter = fc.constantFrom(...'abzABZ');
  const alphanumeric = fc.constantFrom(...'abzABZ019');
  const inner = (characters: string) => fc.string({ unit: fc.constantFrom(...characters), maxLength: 12 });
  const label = fc.oneof(
    letter,
    fc.tuple(letter, inner('aZ0-'), alphanumeric).map((parts) => parts.join('')),
  );
  const longName = fc.tuple(alphanumeric, inner('aZ0-_.'), alphanumeric).map((parts) => parts.join(''));
  const name = fc.oneof(alphanumeric, longName);
  const prefix = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => `${labels.join('.')}/`);

  it('accepts whatever the grammar makes, and takes it for an extension only with a prefix', () => {
    fc.assert(
      fc.property(prefix, name, (before, after) => {
        expect(isMetaKey(after)).toBe(true);
        expect(isExtensionId(after)).toBe(false);
        expect(isMetaKey(before + after)).toBe(true);
        expect(isExtensionId(before + after)).toBe(true);
      }),
    );
  });

  it('agrees with a character-by-character reading of the grammar on any string', () => {
    const isLetter = (c: string | undefined) => c !== undefined && /^[A-Za-z]$/.test(c);
    const isAlphanumeric = (c: string | undefined) => c !== undefined && /^[A-Za-z0-9]$/.test(c);
    const fits = (text: string, interior: string) =>
      isAlphanumeric(text[0]) &&
      isAlphanumeric(text.at(-1)) &&
      Array.from(text).every((c) => isAlphanumeric(c) || interior.includes(c));
    const expected = (key: string) => {
      const [head = '', tail, ...rest] = key.split('/');
      if (rest.length > 0) return false;
      const last = tail ?? head;
      if (last !== '' && !fits(last, '-_.')) return false;
      return tail === undefined || head.split('.').every((part) => isLetter(part[0]) && fits(part, '-'));
    };
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aZ0-_./ é\n'), maxLength: 10 }), (key) => {
        expect(isMetaKey(key)).toBe(expected(key));
        expect(isExtensionId(key)).toBe(key.includes('/') && expected(key));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['one long label', `${'a'.repeat(1_000_000)}!`],
    ['many labels', `${'a.'.repeat(500_000)}!/x`],
    ['hyphens', `a${'-'.repeat(1_000_000)}/x`],
    ['dots in a name', `a${'.'.repeat(1_000_000)}`],
  ])('refuses a megabyte of %s at once', (_title, key) => {
    const start = performance.now();
    expect(isMetaKey(key)).toBe(false);
    // Quadratic work on this length would take minutes.
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

describe('logging levels', () => {
  const level = fc.constantFrom(...LOGGING_LEVELS);

  it('are the eight of syslog, least severe first, and nobody can change them', () => {
    expect(LOGGING_LEVELS).toEqual(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
    expect(Object.isFrozen(LOGGING_LEVELS)).toBe(true);
  });

  it('META-11: are told from anything else', () => {
    for (const value of LOGGING_LEVELS) expect(isLoggingLevel(value)).toBe(true);
    for (const value of ['warn', 'DEBUG', '', 'constructor', 0, null, undefined, {}, ['debug']]) {
      expect(isLoggingLevel(value)).toBe(false);
    }
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(isLoggingLevel(value)).toBe((LOGGING_LEVELS as readonly unknown[]).includes(value));
      }),
    );
  });

  it('META-09: are a total order with debug below and emergency above all', () => {
    fc.assert(
      fc.property(level, level, level, (a, b, c) => {
        expect(atLeast(a, a)).toBe(true);
        expect(atLeast(a, b) && atLeast(b, a)).toBe(a === b);
        expect(atLeast(a, b) || atLeast(b, a)).toBe(true);
        if (atLeast(a, b) && atLeast(b, c)) expect(atLeast(a, c)).toBe(true);
        expect(atLeast(a, 'debug')).toBe(true);
        expect(atLeast('emergency', a)).toBe(true);
      }),
    );
    expect(atLeast('warning', 'error')).toBe(false);
  });
});

// The compiler is what checks these; running them only keeps them in use.
describe('message types', () => {
  it('TYP-02: fit requests', () => {
    const call = {
      jsonrpc: '2.0',
      id: 'call-1',
      method: 'tools/call',
      params: {
        _meta: { ...meta, progressToken: 7 },
        name: 'forecast',
        arguments: { city: 'Rome', days: [1, 2] },
      } satisfies CallToolParams,
    } satisfies JsonRpcRequest;
    const complete = {
      _meta: meta,
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'framework', value: 'fla' },
      context: { arguments: { language: 'python' } },
    } satisfies CompleteParams;
    const sample = {
      messages: [
        { role: 'user', content: { type: 'text', text: 'Weather?' } },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'forecast', input: { city: 'Rome' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', toolUseId: 't1', content: [{ type: 'text', text: 'Sunny' }] }],
        },
      ],
      tools: [{ name: 'forecast', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } }],
      maxTokens: 100,
    } satisfies CreateMessageParams;
    expect([call.params.name, complete.ref.name, sample.maxTokens]).toEqual(['forecast', 'review', 100]);
    // @ts-expect-error `_meta` is required
    void ({ uri: 'file:///a' } satisfies ReadResourceParams);
  });

  it('fit results and errors', () => {
    const discover = {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: { listChanged: true },
        resources: {},
        extensions: { 'io.modelcontextprotocol/tasks': {} },
      },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'weather', version: '1.0.0' } },
      ttlMs: 3_600_000,
      cacheScope: 'public',
    } satisfies DiscoverResult;
    const list = {
      resultType: 'complete',
      resources: [
        { uri: 'file:///a.rs', name: 'a.rs', size: 12, icons: [{ src: 'https://example.com/i', sizes: ['any'] }] },
      ],
      nextCursor: 'next',
      ttlMs: 0,
      cacheScope: 'private',
    } satisfies ListResourcesResult;
    const call = {
      resultType: 'complete',
      content: [
        { type: 'text', text: 'Sunny', annotations: { audience: ['user'], priority: 0.5 } },
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'file:///a.rs', name: 'a.rs' },
        { type: 'resource', resource: { uri: 'file:///b', blob: 'AA==' } },
      ],
      structuredContent: null,
      isError: false,
    } satisfies CallToolResult;
    const ended = {
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen-1' },
    } satisfies WireSubscriptionsListenResult;
    const error = {
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32021, message: 'Needs elicitation', data: { requiredCapabilities: { elicitation: {} } } },
    } satisfies JsonRpcErrorResponse;
    const results: McpResult[] = [discover, list, call, ended];
    expect([results.length, error.error.code]).toEqual([4, -32021]);
  });

  it('TYP-06: fit questions embedded in a result', () => {
    const result = {
      resultType: 'input_required',
      inputRequests: {
        login: {
          method: 'elicitation/create',
          params: {
            message: 'Who are you?',
            requestedSchema: {
              type: 'object',
              properties: {
                email: { type: 'string', format: 'email' },
                age: { type: 'integer', minimum: 18 },
                colour: { type: 'string', oneOf: [{ const: '#f00', title: 'Red' }] },
                tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
              },
              required: ['email'],
            },
          },
        },
        pay: { method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url: 'https://example.com/pay' } },
        capital: {
          method: 'sampling/createMessage',
          params: { messages: [{ role: 'user', content: { type: 'text', text: 'Capital?' } }], maxTokens: 9 },
        },
        where: { method: 'roots/list' },
      },
      requestState: 'sealed',
    } satisfies InputRequiredResult;
    const retry = {
      _meta: meta,
      inputResponses: {
        login: { action: 'accept', content: { email: 'a@example.com', age: 20, tags: ['a'] } },
        pay: { action: 'decline' },
        capital: { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm', stopReason: 'endTurn' },
        where: { roots: [{ uri: 'file:///work' }] },
      },
      requestState: result.requestState,
    } satisfies InputResponseParams;
    expect(Object.keys(retry.inputResponses)).toEqual(Object.keys(result.inputRequests));
  });

  it('tell a finished result from a question by resultType', () => {
    const read = (result: CallToolResult | InputRequiredResult): number =>
      result.resultType === 'complete' ? result.content.length : Object.keys(result.inputRequests ?? {}).length;
    expect(read({ resultType: 'complete', content: [] })).toBe(0);
    expectTypeOf<ReadResourceResult>().toExtend<McpResult>();
    expectTypeOf<GetPromptResult>().toExtend<McpResult>();
  });

  it('tell notifications apart by method, without tags', () => {
    const describeNotification = (notification: McpNotification): string => {
      switch (notification.method) {
        case 'notifications/progress':
          expectTypeOf(notification.params).toEqualTypeOf<ProgressParams>();
          return `${notification.params.progress}/${notification.params.total}`;
        case 'notifications/message':
          return notification.params.level;
        case 'notifications/resources/updated':
          return notification.params.uri;
        case 'notifications/subscriptions/acknowledged':
          return Object.keys(notification.params.notifications).join();
        case 'notifications/tools/list_changed':
        case 'notifications/prompts/list_changed':
        case 'notifications/resources/list_changed':
          return notification.method;
      }
    };
    expect(describeNotification({ method: 'notifications/progress', params: { progress: 1, total: 2 } })).toBe('1/2');
    const task = { method: 'notifications/tasks', params: { taskId: 't' } } satisfies ExtensionNotification;
    // @ts-expect-error extensions have a type of their own
    void (task satisfies McpNotification);
  });

  it('fit notifications on the wire, made from those without tags', () => {
    const core = { method: 'notifications/progress', params: { progress: 1 } } satisfies McpNotification;
    const params = { ...core.params, progressToken: 'p' };
    const progress: WireProgressNotification = { jsonrpc: '2.0', ...core, params };
    const acknowledged = {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen-1' },
        notifications: { toolsListChanged: true, resourceSubscriptions: ['file:///a'] },
      },
    } satisfies WireSubscriptionsAcknowledgedNotification;
    const cancelled = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 3, reason: 'user' },
    } satisfies CancelledNotification;
    expect([progress.params.progressToken, cancelled.params.requestId]).toEqual(['p', 3]);
    expect(acknowledged.params.notifications.toolsListChanged).toBe(true);
  });

  it('TYP-07: keep unknown members of params and results', () => {
    const params: RequestParams = { _meta: meta, name: 'x', 'com.example/extra': 1 };
    const prompt: GetPromptParams = { _meta: meta, name: 'x', extra: 1 };
    const result: McpResult = { resultType: 'task', taskId: 't' };
    expect([params['com.example/extra'], prompt['extra'], result['taskId']]).toEqual([1, 1, 't']);
  });

  it('demand an object schema for the arguments of a tool', () => {
    expectTypeOf<{ name: 't'; inputSchema: { type: 'string' } }>().not.toExtend<Tool>();
  });
});
