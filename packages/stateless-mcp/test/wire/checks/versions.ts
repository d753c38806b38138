import { expect } from 'vitest';
import type { WireCheck } from '../check.ts';
import { expectError, expectResult, textOf } from '../expectations.ts';
import { callTool, CAPABILITIES_KEY, listen, request, VERSION, VERSION_KEY } from '../messages.ts';

const unsupported = ['1999-01-01', '2099-12-31', '2026-07-28 ', 'constructor', ''];

export const versionChecks: readonly WireCheck[] = [
  {
    ids: ['VER-02', 'DISC-07', 'T-17', 'T-18'],
    title: 'a version that is not served is refused with the versions that are, on every method',
    async run(endpoint) {
      const { supportedVersions } = expectResult(await endpoint.post(request('server/discover')));
      for (const version of ['1999-01-01', '2099-12-31', 'constructor']) {
        const meta = { [VERSION_KEY]: version };
        for (const message of [
          request('server/discover', {}, { id: 'v', meta }),
          callTool('echo', { text: 'x' }, { id: 'v', meta }),
          listen({ toolsListChanged: true }, { id: 'v', meta }),
          request('no/such', {}, { id: 'v', meta }),
        ]) {
          const error = expectError(await endpoint.post(message), { code: -32022, id: 'v' });
          expect(error).toMatchObject({ data: { supported: supportedVersions, requested: version } });
        }
      }
      expect(supportedVersions).toContain(VERSION);
    },
  },
  {
    ids: ['VER-03'],
    title: 'that refusal has status 400',
    async run(endpoint) {
      const answer = await endpoint.post(request('tools/list', {}, { meta: { [VERSION_KEY]: '1999-01-01' } }));
      expectError(answer, { code: -32022, status: 400 });
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
    },
  },
  {
    ids: ['VER-06'],
    title: 'each request of a connection is judged by its own version',
    async run(endpoint) {
      const connection = endpoint.overOneConnection();
      for (const version of [VERSION, '1999-01-01', VERSION, '2099-12-31', VERSION]) {
        const answer = await connection.post(callTool('echo', { text: version }, { meta: { [VERSION_KEY]: version } }));
        if (version === VERSION) expect(textOf(expectResult(answer))).toBe(version);
        else expectError(answer, { code: -32022, status: 400 });
      }
    },
  },
  {
    ids: ['T-14', 'T-16'],
    title: 'no other spelling of a version will do',
    async run(endpoint) {
      for (const version of unsupported) {
        const answer = await endpoint.post(request('tools/list', {}, { meta: { [VERSION_KEY]: version } }), {
          'MCP-Protocol-Version': VERSION,
        });
        expectError(answer, { code: -32020, status: 400 });
      }
    },
  },
  {
    ids: ['VER-08'],
    title: 'an extension that the server lacks leaves the core as it is',
    async run(endpoint) {
      const extensions = { 'com.example/unheard-of': { depth: 3 }, 'io.modelcontextprotocol/tasks': {} };
      const meta = { [CAPABILITIES_KEY]: { extensions } };
      const answer = await endpoint.post(callTool('echo', { text: 'core' }, { meta }));
      expect(textOf(expectResult(answer))).toBe('core');
    },
  },
];
