// The client that the suite is run against: does what each scenario wants to see, by the public interface alone.
import { connect, type McpClient } from 'stateless-mcp';

/** What the suite tells a client about a scenario. */
interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
}

type Scenario = (client: McpClient, context: Context) => Promise<unknown>;

const SCENARIOS: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  ['tools_call', addNumbers],
  ['request-metadata', listTools],
  ['http-standard-headers', useEverything],
  ['http-custom-headers', callGivenTools],
  ['http-invalid-tool-headers', callAllTools],
  ['json-schema-ref-no-deref', listTools],
  ['json-schema-2020-12-preservation', echoSchema],
]);

const { MCP_CONFORMANCE_SCENARIO: name = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const play = SCENARIOS.get(name);
if (play === undefined) throw new Error(`This client does not know the scenario "${name}"`);

await using connected = await connect(process.argv[2] ?? '', {
  clientInfo: { name: 'everything', version: '1.0.0' },
  // Declared and never used: the suite wants to see how they are sent.
  capabilities: { roots: {}, sampling: {}, elicitation: {} },
});
await play(connected, JSON.parse(context));

async function listTools(client: McpClient): Promise<void> {
  await client.listTools();
}

async function addNumbers(client: McpClient): Promise<void> {
  await client.listTools();
  await client.callTool('add_numbers', { a: 5, b: 3 });
}

async function useEverything(client: McpClient): Promise<void> {
  await client.listTools();
  await client.callTool('test_headers');
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource(uri);
  await client.listPrompts();
  await client.getPrompt('test_prompt');
}

async function callGivenTools(client: McpClient, { toolCalls = [] }: Context): Promise<void> {
  await client.listTools();
  for (const call of toolCalls) await client.callTool(call.name, call.arguments);
}

async function callAllTools(client: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  for (const tool of tools) await client.callTool(tool.name, { region: 'us-west1' });
}

async function echoSchema(client: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  const schema = tools.find((tool) => tool.name === 'json_schema_2020_12_tool')?.inputSchema;
  await client.callTool('json_schema_echo', { schema });
}
