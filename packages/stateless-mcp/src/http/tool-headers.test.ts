import { describe, expect, it } from 'vitest';
import { recordingLogger } from '../../test/recording-logger.ts';
import { ToolHeaders } from './tool-headers.ts';

const list = (...tools: readonly unknown[]) => ({ resultType: 'complete', tools }) as const;

function tool(name: string, type: string, header = 'Region'): Readonly<Record<string, unknown>> {
  return { name, inputSchema: { type: 'object', properties: { region: { type, 'x-mcp-header': header } } } };
}

function learnt(...tools: readonly unknown[]) {
  const log = recordingLogger();
  const headers = new ToolHeaders(log);
  return { log, headers, result: headers.learn(list(...tools)) };
}

describe('ToolHeaders', () => {
  it('HDR-12: knows the headers of what it has learnt', () => {
    const { headers } = learnt(tool('a', 'string'), { name: 'b', inputSchema: { type: 'object' } });
    expect(headers.of('a', { region: 'eu' })).toEqual([['mcp-param-region', 'eu']]);
    expect(headers.of('b', { region: 'eu' })).toEqual([]);
    expect(headers.of('c', { region: 'eu' })).toEqual([]);
  });

  it.each([undefined, null, 'text', [], { region: { deeper: 1 } }, { region: null }, {}])(
    'HDR-18: has none for the arguments %j',
    (given) => {
      expect(learnt(tool('a', 'string')).headers.of('a', given)).toEqual([]);
    },
  );

  it.each([undefined, null, 7, {}, 'toString', '__proto__'])('has none for the name %j', (name) => {
    expect(learnt(tool('a', 'string')).headers.of(name, { region: 'eu' })).toEqual([]);
  });

  it('HDR-15: hands on the same list if all is well, and otherwise another without the invalid ones', () => {
    const good = list(tool('a', 'string'));
    expect(new ToolHeaders(recordingLogger()).learn(good)).toBe(good);
    const mixed = {
      ...list(tool('a', 'number'), tool('b', 'string')),
      nextCursor: 'n',
      ttlMs: 5,
      cacheScope: 'public',
    };
    const before = structuredClone(mixed);
    const read = new ToolHeaders(recordingLogger()).learn(mixed);
    expect(read).toEqual({ ...before, tools: [before.tools[1]] });
    expect(mixed).toEqual(before);
  });

  it('HDR-15: warns once of each fault, by name', () => {
    const { log, headers } = learnt(tool('a', 'number'), tool('b', 'number'));
    headers.learn(list(tool('a', 'number'), tool('b', 'number')));
    expect(log.entries.map(({ level, fields }) => [level, fields.tool])).toEqual([
      ['warn', 'a'],
      ['warn', 'b'],
    ]);
    headers.learn(list(tool('a', 'string', 'no token')));
    expect(log.entries).toHaveLength(3);
    expect(log.entries[2]?.message).toContain('HTTP token');
  });

  it('a tool that has become invalid has no headers any more', () => {
    const { headers } = learnt(tool('a', 'string'));
    headers.learn(list(tool('a', 'number')));
    expect(headers.of('a', { region: 'eu' })).toEqual([]);
  });

  it('forgets, and learns anew', () => {
    const { headers } = learnt(tool('a', 'string'));
    headers.clear();
    expect(headers.of('a', { region: 'eu' })).toEqual([]);
    headers.learn(list(tool('a', 'string')));
    expect(headers.of('a', { region: 'eu' })).toHaveLength(1);
  });

  it.each([[undefined], ['text'], [{}]])('leaves a result alone whose tools are %j', (tools) => {
    const result = { resultType: 'complete', tools } as const;
    expect(new ToolHeaders(recordingLogger()).learn(result)).toBe(result);
  });

  it('has room for a limited number of tools, and keeps to the newest definition of those', () => {
    const { headers } = learnt(...Array.from({ length: 10_001 }, (_, index) => tool(`t${index}`, 'string')));
    expect(headers.of('t9999', { region: 'eu' })).toHaveLength(1);
    expect(headers.of('t10000', { region: 'eu' })).toHaveLength(0);
    headers.learn(list(tool('t0', 'string', 'Zone')));
    expect(headers.of('t0', { region: 'eu' })).toEqual([['mcp-param-zone', 'eu']]);
  });

  it('says a long name shortly', () => {
    const { log } = learnt(tool('x'.repeat(10_000), 'number'));
    expect(log.entries[0]?.message.length).toBeLessThan(400);
  });
});
