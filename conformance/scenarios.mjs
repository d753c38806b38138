export const REVISION = '2026-07-28';

/**
 * What is judged when servers are tested, and when clients are.
 *
 * - `required`: scenarios that must pass, each with the number of checks that succeeded when it first did. Fewer would mean
 *   that the suite saw less than before, which it does not count as a failure.
 * - `excluded`: the other scenarios of the set, each with the reason why it is not judged.
 * - `inapplicable`: names of checks that the suite skips for good reasons.
 */
export const SERVER = {
  required: {
    'server-stateless': 30,
    'completion-complete': 2,
    'tools-list': 4,
    'tools-call-simple-text': 2,
    'tools-call-image': 2,
    'tools-call-audio': 2,
    'tools-call-embedded-resource': 2,
    'tools-call-mixed-content': 2,
    'tools-call-error': 2,
    'tools-call-with-progress': 2,
    'server-sse-multiple-streams': 1,
    'resources-list': 2,
    'resources-read-text': 2,
    'resources-read-binary': 2,
    'resources-templates-read': 2,
    'sep-2164-resource-not-found': 4,
    'prompts-list': 2,
    'prompts-get-simple': 2,
    'prompts-get-with-args': 2,
    'prompts-get-embedded-resource': 2,
    'prompts-get-with-image': 2,
    'dns-rebinding-protection': 2,
    caching: 8,
    'json-schema-2020-12': 8,
    'http-header-validation': 14,
    'http-custom-header-server-validation': 10,
  },
  excluded: {
    ...because('handlers cannot ask for input yet', [
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-unsupported-methods',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'input-required-result-validate-input',
    ]),
    ...because('the extension io.modelcontextprotocol/tasks is not offered', [
      'tasks-lifecycle',
      'tasks-capability-negotiation',
      'tasks-wire-fields',
      'tasks-request-state-removal',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-dispatch-and-envelope',
      'tasks-status-notifications',
      'tasks-required-task-error',
      'tasks-mrtr-composition',
    ]),
  },
  inapplicable: [],
};

export const CLIENT = {
  required: {
    tools_call: 2,
    'request-metadata': 8,
    'http-standard-headers': 9,
    'http-custom-headers': 18,
    'http-invalid-tool-headers': 12,
    'json-schema-ref-no-deref': 1,
    'json-schema-2020-12-preservation': 9,
  },
  excluded: {
    ...because('clients do not answer questions yet', ['sep-2322-client-request-state']),
    ...because('clients do not get tokens by themselves yet', [
      'auth/metadata-default',
      'auth/metadata-var1',
      'auth/metadata-var2',
      'auth/metadata-var3',
      'auth/basic-cimd',
      'auth/scope-from-www-authenticate',
      'auth/scope-from-scopes-supported',
      'auth/scope-omitted-when-undefined',
      'auth/scope-step-up',
      'auth/scope-retry-limit',
      'auth/token-endpoint-auth-basic',
      'auth/token-endpoint-auth-post',
      'auth/token-endpoint-auth-none',
      'auth/pre-registration',
      'auth/resource-mismatch',
      'auth/offline-access-scope',
      'auth/offline-access-not-supported',
      'auth/authorization-server-migration',
      'auth/iss-supported',
      'auth/iss-not-advertised',
      'auth/iss-supported-missing',
      'auth/iss-wrong-issuer',
      'auth/iss-unexpected',
      'auth/iss-normalized',
      'auth/metadata-issuer-mismatch',
      'auth/client-credentials-jwt',
      'auth/client-credentials-basic',
      'auth/enterprise-managed-authorization',
      'auth/dpop',
      'auth/dpop-nonce',
      'auth/wif-jwt-bearer',
    ]),
  },
  // Methods that only earlier revisions have.
  inapplicable: ['ClientMcpMethodHeader_initialize', 'ClientMcpMethodHeader_notifications_initialized'],
};

function because(reason, scenarios) {
  return Object.fromEntries(scenarios.map((scenario) => [scenario, reason]));
}
