import { describe, expect, it } from 'vitest';
import { type HeaderFields, UserHeaders } from './user-headers.ts';

/** Makes one set of headers after the other. */
function sequence(...sets: readonly HeaderFields[]): () => HeaderFields {
  let next = 0;
  return () => sets[next++] ?? {};
}

describe('UserHeaders', () => {
  it('gives names in lower case, the last of several spellings', async () => {
    const { headers } = await new UserHeaders({ 'X-Tenant': 'a', 'x-tenant': 'b', 'X-Empty': '' }).read();
    expect(headers).toEqual({ 'x-tenant': 'b', 'x-empty': '' });
  });

  it.each([
    'Accept',
    'accept-encoding',
    'Connection',
    'Content-Length',
    'Content-Type',
    'Expect',
    'Host',
    'Keep-Alive',
    'MCP-Protocol-Version',
    'Mcp-Method',
    'Mcp-Name',
    'Mcp-Param-Region',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
  ])('leaves out %s, which is not for users to set', async (name) => {
    const { headers } = await new UserHeaders({ [name]: 'x', 'X-Tenant': 'a' }).read();
    expect(headers).toEqual({ 'x-tenant': 'a' });
  });

  it('keeps the names of prototypes apart', async () => {
    const fields = JSON.parse('{"__proto__":"a","constructor":"b"}') as HeaderFields;
    const { headers } = await new UserHeaders(fields).read();
    expect(Object.entries(headers)).toEqual([['constructor', 'b']]);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
  });

  it.each([
    ['authorization', 'Bearer abcd', ['Bearer abcd', 'abcd']],
    ['cookie', 'session=abcd', ['session=abcd']],
    ['x-api-key', 'abcd', ['abcd']],
    ['x-auth-token', 'abcd', ['abcd']],
    ['x-tenant', 'abcd', []],
  ])('knows the secrets in %s', async (name, value, secrets) => {
    const read = await new UserHeaders({ [name]: value }).read();
    for (const secret of secrets) expect(read.secrets).toContain(secret);
    expect(read.secrets.length > 0).toBe(secrets.length > 0);
  });

  it('says when credentials have changed, and only then', async () => {
    const user = new UserHeaders(
      sequence(
        { Authorization: 'a', 'X-Count': '1' },
        { 'X-Count': '2', authorization: 'a' },
        { Authorization: 'b' },
        { Authorization: 'b', Cookie: 'c' },
        {},
        {},
      ),
    );
    const changes: boolean[] = [];
    for (let read = 0; read < 6; read++) changes.push((await user.read()).haveCredentialsChanged);
    expect(changes).toEqual([false, false, true, true, true, false]);
    expect(user.hasCredentials).toBe(false);
  });

  it('says once that they have changed, although several requests learn of it at the same time', async () => {
    const user = new UserHeaders(sequence({ Authorization: 'a' }, { Authorization: 'b' }, { Authorization: 'b' }));
    await user.read();
    const reads = await Promise.all([user.read(), user.read()]);
    expect(reads.map(({ haveCredentialsChanged }) => haveCredentialsChanged)).toEqual([true, false]);
  });

  it('keeps what it read apart from what is read later', async () => {
    const user = new UserHeaders(sequence({ Authorization: 'first' }, { Authorization: 'second' }));
    const first = await user.read();
    await user.read();
    expect(first).toMatchObject({ headers: { authorization: 'first' }, secrets: ['first'] });
  });

  it('looks at constant headers when it is made, at others when they are read', async () => {
    expect(() => new UserHeaders({ 'X-A': 'a\nb' })).toThrow(TypeError);
    await expect(new UserHeaders(() => ({ 'X-A': 'a\nb' })).read()).rejects.toThrow(TypeError);
    await expect(new UserHeaders(() => undefined as unknown as HeaderFields).read()).rejects.toThrow(
      /must be an object/,
    );
  });

  it('is not changed by who changes the object that it was given', async () => {
    const fields = { 'X-Tenant': 'a' };
    const user = new UserHeaders(fields);
    fields['X-Tenant'] = 'b\n';
    await expect(user.read()).resolves.toMatchObject({ headers: { 'x-tenant': 'a' } });
  });
});
