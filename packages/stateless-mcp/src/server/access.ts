import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { McpError, MissingRequiredClientCapabilityError } from '../protocol/errors.ts';
import type { Exchange, McpRequest } from '../protocol/handler.ts';
import { isObject } from '../protocol/json.ts';
import { CLIENT_CAPABILITIES_META_KEY } from '../protocol/meta.ts';
import type { Definition } from './definition.ts';

/** Whether the caller may know of the definition. A promise only if the definition answers with one. */
export function isVisible({ config }: Definition, exchange: Exchange): boolean | Promise<boolean> {
  return config.visible === undefined || config.visible({ auth: exchange.auth });
}

/**
 * Refuses a caller whose credential does not permit what a definition needs, and a client that cannot do what it needs.
 * Known before the handler runs, so that both still have their HTTP status.
 */
export function checkAccess(definition: Definition, request: McpRequest, exchange: Exchange): void {
  const { label, config } = definition;
  if (!hasScopes(definition, exchange)) throw missingScopes(label, config.scopes ?? [], exchange);
  if (config.requires !== undefined) {
    const missing = missingCapabilities(config.requires, request.params._meta[CLIENT_CAPABILITIES_META_KEY]);
    if (missing !== undefined) throw new MissingRequiredClientCapabilityError(missing);
  }
}

/** Whether the caller's credential permits what a definition needs. */
export function hasScopes({ config }: Definition, { auth }: Exchange): boolean {
  const { scopes } = config;
  if (scopes === undefined) return true;
  const granted = auth?.scopes ?? [];
  return scopes.every((scope) => granted.includes(scope));
}

function missingScopes(label: string, scopes: readonly string[], { auth }: Exchange): McpError {
  const wanted = `scope="${scopes.join(' ')}"`;
  if (auth === undefined) {
    return new McpError(401, `${label} needs a credential with ${wanted}`, {
      headers: { 'WWW-Authenticate': `Bearer ${wanted}` },
    });
  }
  return new McpError(403, `${label} needs ${wanted}`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", ${wanted}` },
  });
}

/** What of `required` is not in `declared`, in the same shape; `undefined` if nothing is missing. */
function missingCapabilities(
  required: ClientCapabilities,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  const offered = isObject(declared.elicitation) ? { ...declared, elicitation: modes(declared.elicitation) } : declared;
  const wanted = isObject(required.elicitation) ? { ...required, elicitation: modes(required.elicitation) } : required;
  return missingMembers(wanted, offered);
}

/** `{}` means form mode. */
function modes(elicitation: object): object {
  return Object.keys(elicitation).length === 0 ? { form: {} } : elicitation;
}

function missingMembers(required: object, declared: object): Readonly<Record<string, unknown>> | undefined {
  const missing: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(required)) {
    const offer: unknown = Object.hasOwn(declared, key) ? Reflect.get(declared, key) : undefined;
    if (!isObject(offer)) missing[key] = value;
    else if (isObject(value)) {
      const below = missingMembers(value, offer);
      if (below !== undefined) missing[key] = below;
    }
  }
  return Object.keys(missing).length === 0 ? undefined : missing;
}
