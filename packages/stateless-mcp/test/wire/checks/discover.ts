import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectResult } from '../expectations.ts';
import { at, request, SERVER_INFO_KEY, VERSION } from '../messages.ts';

export const discoverChecks: readonly WireCheck[] = [
  {
    ids: ['DISC-01', 'DISC-03'],
    title: 'discover tells versions and capabilities',
    async run(endpoint) {
      const result = expectResult(await endpoint.post(request('server/discover')));
      expect(result.supportedVersions).toContain(VERSION);
      expect(at(result.supportedVersions, 0)).toBe(VERSION);
      expect(result.capabilities).toBeTypeOf('object');
    },
  },
  {
    ids: ['DISC-01', 'DISC-03'],
    title: 'a server without features answers discover all the same',
    server: 'bare',
    async run(endpoint) {
      const result = expectResult(await endpoint.post(request('server/discover')));
      expect(result).toMatchObject({ supportedVersions: [VERSION], capabilities: {} });
    },
  },
  {
    ids: ['DISC-04'],
    title: 'the identity of the server is metadata, not part of the body',
    async run(endpoint) {
      const result = expectResult(await endpoint.post(request('server/discover')));
      expect(at(result, '_meta', SERVER_INFO_KEY)).toMatchObject({ name: 'wire-fixture', version: '1.2.3' });
      expect(result).not.toHaveProperty('serverInfo');
    },
  },
  {
    ids: ['DISC-05'],
    title: 'discover carries the instructions',
    async run(endpoint) {
      const result = expectResult(await endpoint.post(request('server/discover')));
      expect(result.instructions).toBe('Call echo first.');
    },
  },
  {
    ids: ['DISC-06'],
    title: 'discover carries cache hints',
    async run(endpoint) {
      const { ttlMs, cacheScope } = expectResult(await endpoint.post(request('server/discover')));
      expect(Number.isInteger(ttlMs) && Number(ttlMs) >= 0, String(ttlMs)).toBe(true);
      expect(['public', 'private']).toContain(cacheScope);
    },
  },
  {
    ids: ['DISC-08', 'SUB-20', 'SUB-21'],
    title: 'every feature that is served is advertised',
    async run(endpoint) {
      const { capabilities } = expectResult(await endpoint.post(request('server/discover')));
      expect(capabilities).toEqual({
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      });
    },
  },
  {
    ids: ['DISC-08'],
    title: 'nothing is advertised that is not served',
    server: 'bare',
    async run(endpoint) {
      const { capabilities } = expectResult(await endpoint.post(request('server/discover')));
      for (const feature of ['tools', 'prompts', 'resources', 'completions', 'extensions']) {
        expect(capabilities).not.toHaveProperty(feature);
      }
    },
  },
  {
    ids: ['DISC-10'],
    title: 'the lists of the advertised capabilities answer',
    async run(endpoint) {
      const members = { 'tools/list': 'tools', 'prompts/list': 'prompts', 'resources/list': 'resources' };
      for (const [method, member] of Object.entries(members)) {
        const result = expectResult(await endpoint.post(request(method)));
        expect(Array.isArray(result[member]), method).toBe(true);
      }
      const templates = expectResult(await endpoint.post(request('resources/templates/list')));
      expect(Array.isArray(templates.resourceTemplates)).toBe(true);
    },
  },
];
