import { describe, expect, it } from 'vitest';
import { RemoteError } from './errors.ts';
import { outboundRequest, RevisionChoice } from './outbound.ts';
import type { McpResult, RequestParams } from './result.ts';

const VERSION = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const DONE: McpResult = Object.freeze({ resultType: 'complete' });

/** As it is on the wire. */
function written(params: RequestParams, wantsProgress: boolean): unknown {
  return JSON.parse(JSON.stringify(outboundRequest({ method: 'tools/call', params }, 7, VERSION, wantsProgress)));
}

function refusal(...supported: readonly unknown[]): RemoteError {
  return new RemoteError(-32022, 'no', { data: { supported, requested: VERSION }, status: 400 });
}

/** Answers by what it is given, in this order, and keeps the versions that it was asked in. */
function answering(...outcomes: readonly (McpResult | Error)[]) {
  const versions: string[] = [];
  const send = async (version: string): Promise<McpResult> => {
    const outcome = outcomes[versions.push(version) - 1];
    if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error('Asked too often');
    return outcome;
  };
  return { versions, send };
}

describe('outboundRequest', () => {
  it('META-01, META-02: writes the version over what came along', () => {
    const params = { name: 'a', _meta: { [VERSION_KEY]: '2025-06-18', [CAPABILITIES_KEY]: { roots: {} }, other: [1] } };
    expect(written(params, false)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'a', _meta: { [VERSION_KEY]: VERSION, [CAPABILITIES_KEY]: { roots: {} }, other: [1] } },
    });
  });

  it('META-18: the token is the id if progress is wanted, otherwise there is none', () => {
    const params = { _meta: { [CAPABILITIES_KEY]: {}, progressToken: 'of another hop' } };
    expect(written(params, true)).toMatchObject({ params: { _meta: { progressToken: 7 } } });
    expect(written(params, false)).not.toHaveProperty('params._meta.progressToken');
  });

  it('changes nothing of the request', () => {
    const _meta = Object.freeze({ [CAPABILITIES_KEY]: Object.freeze({}), progressToken: 1 });
    const params = Object.freeze({ name: 'a', _meta });
    written(params, true);
    expect(params._meta).toBe(_meta);
    expect(_meta.progressToken).toBe(1);
  });
});

describe('RevisionChoice', () => {
  it('begins with the newest and says so', async () => {
    const choice = new RevisionChoice();
    const { versions, send } = answering(DONE);
    await expect(choice.run(send)).resolves.toBe(DONE);
    expect(versions).toEqual([VERSION]);
    expect(choice.current).toBe(VERSION);
    expect(choice.reason).not.toBe('');
  });

  it('VER-04, T-19: tries once more what is named, and says why it speaks it', async () => {
    const choice = new RevisionChoice();
    const { versions, send } = answering(refusal('2099-01-01', VERSION), DONE);
    const before = choice.reason;
    await choice.run(send);
    expect(versions).toEqual([VERSION, VERSION]);
    expect(choice.reason).not.toBe(before);
  });

  it('VER-04, T-19: raises the second refusal', async () => {
    const second = refusal(VERSION);
    const { versions, send } = answering(refusal(VERSION), second);
    await expect(new RevisionChoice().run(send)).rejects.toBe(second);
    expect(versions).toHaveLength(2);
  });

  it('VER-04: raises what both cannot agree on, with what each speaks', async () => {
    const { versions, send } = answering(refusal('2025-06-18', '2024-11-05'));
    await expect(new RevisionChoice().run(send)).rejects.toMatchObject({
      code: -32022,
      status: 400,
      message: expect.stringMatching(/2026-07-28.*2025-06-18, 2024-11-05/) as string,
      data: { supported: ['2025-06-18', '2024-11-05'], requested: VERSION },
    });
    expect(versions).toHaveLength(1);
  });

  it('leaves every other error alone', async () => {
    for (const error of [new RemoteError(-32602, 'no', { data: { supported: [VERSION] } }), new Error('cut')]) {
      const { versions, send } = answering(error);
      await expect(new RevisionChoice().run(send)).rejects.toBe(error);
      expect(versions).toHaveLength(1);
    }
  });

  it('keeps what it chose when the second attempt fails for another reason', async () => {
    const choice = new RevisionChoice();
    const reason = choice.reason;
    await expect(choice.run(answering(refusal(VERSION), new Error('cut')).send)).rejects.toThrow('cut');
    expect(choice.reason).toBe(reason);
  });
});
