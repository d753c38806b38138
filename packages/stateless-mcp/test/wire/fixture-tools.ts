import type { McpServer, RegisteredTool } from '../../src/server/index.ts';

const strings = (...names: readonly string[]): object => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});
const numbers = {
  type: 'object',
  properties: { values: { type: 'array', items: { type: 'number' } } },
  required: ['values'],
};
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

/** What became of handlers, by a key that callers choose. */
export class Outcomes {
  readonly #outcomes = new Map<string, string>();
  readonly #releases = new Map<string, () => void>();

  set(key: string, outcome: string): void {
    this.#outcomes.set(key, outcome);
  }

  get(key: string): string {
    return this.#outcomes.get(key) ?? 'none';
  }

  release(key: string): void {
    this.#releases.get(key)?.();
  }

  /** Settles when the key is released or the signal aborts, with what of the two it was. */
  async hold(key: string, signal: AbortSignal): Promise<'released' | 'aborted'> {
    this.set(key, 'running');
    const outcome = await new Promise<'released' | 'aborted'>((resolve) => {
      this.#releases.set(key, () => resolve('released'));
      if (signal.aborted) resolve('aborted');
      else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    });
    this.set(key, outcome);
    return outcome;
  }
}

/** Tools that answer, report and fail. */
export function registerAnswers(server: McpServer): void {
  server.registerTool('echo', { inputSchema: strings('text') }, ({ text }) => String(text));
  server.registerTool('count', { inputSchema: numbers }, async ({ values }, { progress }) => {
    for (const value of list(values)) await progress(Number(value));
    return 'counted';
  });
  server.registerTool('log', {}, async (_input, { log }) => {
    for (const level of levels) await log(level, { said: level });
    return 'logged';
  });
  server.registerTool('fail', {}, () => {
    throw new Error('the password of the database is hunter2');
  });
  server.registerTool('client', {}, (_input, { client }) => client.info?.name ?? 'nobody');
  server.registerTool(
    'sum',
    {
      inputSchema: numbers,
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    },
    ({ values }) => {
      const sum = list(values).reduce<number>((total, value) => total + Number(value), 0);
      // Of nothing it returns what its own schema forbids.
      return { sum: list(values).length === 0 ? 'none' : sum };
    },
  );
  server.registerTool(
    'route',
    {
      inputSchema: {
        type: 'object',
        properties: {
          region: { type: ['string', 'null'], 'x-mcp-header': 'Region' },
          limit: { type: 'integer', 'x-mcp-header': 'Limit' },
          dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
          method: { type: 'string', 'x-mcp-header': 'Method' },
          target: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
        },
      },
    },
    () => 'routed',
  );
}

/** Tools whose effects other calls can see. */
export function registerEffects(server: McpServer, outcomes: Outcomes): void {
  server.registerTool('hold', { inputSchema: strings('key') }, async ({ key }, { signal, progress, log }) => {
    await progress(1);
    const outcome = await outcomes.hold(String(key), signal);
    // Goes nowhere if the caller left, and must not matter.
    await progress(2);
    await log('error', outcome);
    return outcome;
  });
  server.registerTool('release', { inputSchema: strings('key') }, ({ key }) => {
    outcomes.release(String(key));
    return 'ok';
  });
  server.registerTool('outcome', { inputSchema: strings('key') }, ({ key }) => outcomes.get(String(key)));
  server.registerTool('sample', { requires: { sampling: {} } }, () => {
    outcomes.set('sample', 'ran');
    return 'sampled';
  });
  server.registerTool('ask', { requires: { sampling: {}, elicitation: { url: {} } } }, () => 'asked');

  const counters: number[] = [];
  server.registerTool('counter_open', {}, () => `counter-${counters.push(0)}`);
  server.registerTool('counter_add', { inputSchema: strings('handle') }, ({ handle }) => {
    const index = Number(String(handle).slice('counter-'.length)) - 1;
    counters[index] = (counters[index] ?? 0) + 1;
    return String(counters[index]);
  });
}

/** Tools that announce changes. */
export function registerChanges(server: McpServer): void {
  const optional: RegisteredTool = server.registerTool('optional', {}, () => 'here');
  server.registerTool('toggle', {}, () => {
    optional.disable();
    return 'gone';
  });
  const changeSchema = {
    type: 'object',
    properties: {
      what: { enum: ['tools', 'prompts', 'resources', 'resource'] },
      uri: { type: 'string' },
      within: { type: 'array', items: { type: 'string' } },
    },
    required: ['what'],
  };
  server.registerTool('change', { inputSchema: changeSchema }, ({ what, uri, within }) => {
    if (what === 'tools') server.notify.toolsChanged();
    else if (what === 'prompts') server.notify.promptsChanged();
    else if (what === 'resources') server.notify.resourcesChanged();
    else server.notify.resourceUpdated(String(uri), { within: list(within).map(String) });
    return 'announced';
  });
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
