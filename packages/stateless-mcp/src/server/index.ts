/** Servers: tools, resources and prompts as one endpoint, for any binding. */
export type { Completer, CompletionValues } from './completer.ts';
export type { Caller, DefinitionConfig } from './definition.ts';
export type { ListName } from './dispatch.ts';
export {
  type ChangeNotifier,
  type DeclaredCapabilities,
  McpServer,
  type McpServerOptions,
  type RegisteredPrompt,
  type RegisteredResource,
  type RegisteredResourceTemplate,
  type RegisteredTool,
} from './mcp-server.ts';
export type { PromptConfig, PromptHandler, PromptResult } from './prompt.ts';
export type { Registration } from './registry.ts';
export type { ClientDescription, RequestContext } from './request-context.ts';
export type { ResourceConfig, ResourceHandler, ResourceResult, ResourceReturn } from './resource.ts';
export {
  type ResourceListProvider,
  type ResourcePage,
  type ResourcePageRequest,
  ResourceTemplate,
  type ResourceTemplateOptions,
  type TemplateHandler,
} from './resource-template.ts';
export type { ToolConfig, ToolHandler, ToolResult, ToolReturn } from './tool.ts';
export { ToolError } from './tool-error.ts';
export type { UriTemplate, UriTemplateValue, UriVariables } from './uri-template.ts';
