/** What the type checker says to users of the client: compiled with everything else, never run. */
import { expectTypeOf } from 'vitest';
import { loopback, McpClient, type McpClientOptions, type Subscription } from '../src/client/index.ts';
import {
  CALL_TOOL,
  type CallToolResult,
  COMPLETE,
  type CompleteResult,
  defineMethod,
  DISCOVER,
  type DiscoverResult,
  type EmptyResult,
  type ExtensionNotification,
  GET_PROMPT,
  type GetPromptResult,
  type InputRequiredResult,
  LIST_RESOURCES,
  LIST_TOOLS,
  LISTEN,
  type ListToolsResult,
  LocalError,
  type LocalErrorCode,
  type McpHandler,
  type McpNotification,
  READ_RESOURCE,
  type ReadResourceResult,
  RemoteError,
  type RequestParams,
  type SubscriptionFilter,
  type Tool,
} from '../src/protocol/index.ts';
import { McpServer } from '../src/server/index.ts';
import { fakeClock } from '../src/testing/index.ts';

declare const client: McpClient;
declare const maybe: { readonly signal: AbortSignal | undefined; readonly ms: number | undefined };

// A client stands on a peer.
declare const handler: McpHandler;
export const clients = [
  () => new McpClient(loopback(new McpServer({ name: 'a', version: '1' }))),
  () => new McpClient(loopback(handler, { auth: { principal: 'ann' } })),
  () => new McpClient(loopback(handler), { clock: fakeClock() }),
  // @ts-expect-error A handler has no life.
  () => new McpClient(handler),
  // @ts-expect-error A server is reached by a peer.
  () => new McpClient(new McpServer({ name: 'a', version: '1' })),
  // @ts-expect-error A URL is for connect.
  () => new McpClient('https://mcp.example.com/mcp'),
];

// Options.
export const options: readonly McpClientOptions[] = [
  {},
  { clientInfo: { name: 'a', version: '1' } },
  { clientInfo: false },
  // @ts-expect-error Sent or not: there is nothing to switch on.
  { clientInfo: true },
  // @ts-expect-error Software has a version.
  { clientInfo: { name: 'a' } },
  { capabilities: { elicitation: { form: {}, url: {} }, 'com.example/more': 1 } },
  { capabilities: { roots: {} } },
  { logLevel: 'warning' },
  // @ts-expect-error There is no such level.
  { logLevel: 'verbose' },
  { outputCheck: 'strict' },
  // @ts-expect-error There is no such check.
  { outputCheck: true },
  // @ts-expect-error There is no such option.
  { idleTimeout: 5 },
  // A logger of another library, and a listener that returns what nobody reads.
  { logger: console },
  { onLog: ({ level, data }) => [level, data] },
];

// What the verbs give.
export async function verbs(): Promise<void> {
  expectTypeOf(client.discover()).resolves.toEqualTypeOf<DiscoverResult>();
  expectTypeOf(client.listTools()).resolves.toEqualTypeOf<ListToolsResult>();
  expectTypeOf(client.callTool('a')).resolves.toEqualTypeOf<CallToolResult>();
  expectTypeOf(client.readResource('x:1')).resolves.toEqualTypeOf<ReadResourceResult>();
  expectTypeOf(client.getPrompt('a')).resolves.toEqualTypeOf<GetPromptResult>();
  const { tools } = await client.listTools({ cache: 'reload' });
  expectTypeOf(tools).toEqualTypeOf<readonly Tool[]>();
  // @ts-expect-error Results may be shared.
  tools.push(tools[0]);
  // @ts-expect-error Results may be shared.
  (await client.callTool('a')).isError = true;
  const { content, structuredContent } = await client.callTool('a', { city: 'Rome', deep: { list: [1] } });
  expectTypeOf(structuredContent).toEqualTypeOf<unknown>();
  for (const block of content) {
    if (block.type === 'text') expectTypeOf(block.text).toEqualTypeOf<string>();
  }
}

// Arguments.
interface Forecast {
  readonly city: string;
}
declare const forecast: Forecast;
type ForecastAlias = { readonly city: string };
declare const alias: ForecastAlias;
export const calls = [
  () => client.callTool('a', {}),
  () => client.callTool('a', alias),
  () => client.callTool('a', { ...forecast }),
  () => client.callTool('a', forecast),
  // @ts-expect-error Arguments have names.
  () => client.callTool('a', 'Rome'),
  // @ts-expect-error Arguments have names.
  () => client.callTool('a', null),
  // @ts-expect-error A tool has a name.
  () => client.callTool({ name: 'a', arguments: {} }),
  () => client.getPrompt('a', { tone: 'warm' }),
  // @ts-expect-error Arguments of prompts are texts.
  () => client.getPrompt('a', { count: 1 }),
  () => client.complete({ ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'b', value: '' } }),
  () =>
    client.complete({ ref: { type: 'ref/resource', uri: 'x:{b}' }, argument: { name: 'b', value: '' }, context: {} }),
  // @ts-expect-error What is to be completed has a name.
  () => client.complete({ ref: { type: 'ref/prompt', name: 'a' } }),
  // @ts-expect-error A resource has a URI.
  () => client.complete({ ref: { type: 'ref/resource', name: 'a' }, argument: { name: 'b', value: '' } }),
];

// How a request is made: what may be absent may be undefined.
export const requests = [
  () => client.callTool('a', undefined, { signal: maybe.signal, idleTimeoutMs: maybe.ms, onProgress: undefined }),
  () => client.listTools({ signal: maybe.signal, cache: undefined }),
  () =>
    client.callTool(
      'a',
      {},
      {
        onProgress: ({ progress, total, message }) => {
          expectTypeOf(progress).toEqualTypeOf<number>();
          expectTypeOf(total).toEqualTypeOf<number | undefined>();
          expectTypeOf(message).toEqualTypeOf<string | undefined>();
        },
        onLog: async ({ level, data, logger }) => void [level, data, logger],
        meta: { traceparent: 'x' },
      },
    ),
  // @ts-expect-error Calls are not kept.
  () => client.callTool('a', {}, { cache: 'reload' }),
  // @ts-expect-error There is no such way.
  () => client.listTools({ cache: 'only' }),
  // @ts-expect-error There is no such option.
  () => client.callTool('a', {}, { timeout: 5 }),
];

// Any method, typed by its row: parameters without metadata, and results that may be questions.
export async function byRow(): Promise<void> {
  expectTypeOf(client.request(CALL_TOOL, { name: 'a' })).resolves.toEqualTypeOf<CallToolResult | InputRequiredResult>();
  expectTypeOf(client.request(READ_RESOURCE, { uri: 'x:1' })).resolves.toEqualTypeOf<
    ReadResourceResult | InputRequiredResult
  >();
  expectTypeOf(client.request(DISCOVER, {})).resolves.toEqualTypeOf<DiscoverResult>();
  expectTypeOf(client.request(LIST_TOOLS, {})).resolves.toEqualTypeOf<ListToolsResult>();
  const completing = client.request(COMPLETE, {
    ref: { type: 'ref/prompt', name: 'a' },
    argument: { name: 'b', value: '' },
  });
  expectTypeOf(completing).resolves.toEqualTypeOf<CompleteResult>();
  await client.request(LIST_TOOLS, { cursor: 'x', _meta: { 'com.example/k': 1 } });
  await client.request(LISTEN, { notifications: { toolsListChanged: true } });
  const result = await client.request(GET_PROMPT, { name: 'a' });
  // @ts-expect-error It may be a question.
  result.messages.at(0);
  if (result.resultType === 'complete') expectTypeOf(result).toEqualTypeOf<GetPromptResult>();
  // @ts-expect-error A tool has a name.
  await client.request(CALL_TOOL, {});
  // @ts-expect-error A name is a text.
  await client.request(CALL_TOOL, { name: 1 });
  // @ts-expect-error A filter is wanted.
  await client.request(LISTEN, {});
  // @ts-expect-error Methods are known by their rows.
  await client.request('tools/list', {});

  interface EchoParams extends RequestParams {
    readonly text: string;
  }
  interface EchoResult extends EmptyResult {
    readonly echo: string;
  }
  const ECHO = defineMethod<EchoParams, EchoResult>({ name: 'com.example/echo', readOnly: true });
  const { echo } = await client.request(ECHO, { text: 'hello' });
  expectTypeOf(echo).toEqualTypeOf<string>();
  // @ts-expect-error The text is missing.
  await client.request(ECHO, {});
}

// Page by page.
export async function pages(): Promise<void> {
  for await (const { tools, nextCursor } of client.pages(LIST_TOOLS)) {
    expectTypeOf(tools).toEqualTypeOf<readonly Tool[]>();
    expectTypeOf(nextCursor).toEqualTypeOf<string | undefined>();
  }
  for await (const { resources } of client.pages(LIST_RESOURCES, { signal: maybe.signal }))
    expectTypeOf(resources[0]?.uri);
  // @ts-expect-error A call has no pages.
  client.pages(CALL_TOOL);
  // @ts-expect-error A listen stream has no pages.
  client.pages(LISTEN);
}

// Changes.
export async function changes(): Promise<void> {
  const subscription = await client.listen(
    { toolsListChanged: true, resourceSubscriptions: ['x:1'], 'com.example/other': 1 },
    {
      signal: maybe.signal,
      onChange(change) {
        expectTypeOf(change).toEqualTypeOf<McpNotification | ExtensionNotification>();
      },
    },
  );
  expectTypeOf(subscription).toEqualTypeOf<Subscription>();
  expectTypeOf(subscription.honored).toEqualTypeOf<SubscriptionFilter>();
  await using held = subscription;
  await held.closed;
  // @ts-expect-error Somebody listens.
  await client.listen({ toolsListChanged: true });
  // @ts-expect-error A filter is a matter of yes and no.
  await client.listen({ toolsListChanged: 'yes' }, { onChange: () => {} });
}

// Errors are told apart by their class, then by their code.
export function explain(error: unknown): string {
  if (error instanceof RemoteError) return `${error.code} ${String(error.data)}`;
  if (!(error instanceof LocalError)) return 'a fault of this program';
  expectTypeOf(error.code).toEqualTypeOf<LocalErrorCode>();
  expectTypeOf(error.maybeExecuted).toEqualTypeOf<boolean>();
  switch (error.code) {
    case 'timeout':
      return `${error.timer} ${error.lastProgress?.progress}`;
    // @ts-expect-error There is no such code.
    case 'timedOut':
      return '';
    default:
      return `${error.phase} ${error.status} ${error.body} ${error.exitCode} ${error.stderr?.join()}`;
  }
}

// What is reported may be logged, and is not changed.
const report = client.explain();
expectTypeOf(report.server?.capabilities).toEqualTypeOf<readonly string[] | undefined>();
expectTypeOf(report.process?.pid).toEqualTypeOf<number | undefined>();
// @ts-expect-error A report is a report.
report.requests = 0;
