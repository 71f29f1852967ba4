import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import { presented, readAccessToken, signAccessToken } from '#identity/credentials.ts';
import type { Keys } from '#platform/keys.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';

const MINUTE = 60_000;

describe('credentials', () => {
  let api: Api;
  let keys: Keys;
  before(async () => {
    api = await startApi();
    keys = api.deps.keys;
  });
  const claimsOf = ({ accountId, profileId, sessionId }: Person) => ({ accountId, profileId, sessionId });
  const statusOf = async (token: string): Promise<string> => {
    const answer = await api.fetch('/api/v1/libraries', { headers: { authorization: `Bearer ${token}` } });
    const body = (await answer.json()) as { error?: { code: string } };
    return body.error?.code ?? String(answer.status);
  };
  const ago = (person: Person, ms: number): Promise<string> =>
    signAccessToken(keys, claimsOf(person), new Date(Date.now() - ms));

  it('are read from where they belong: bearer, key by its prefix, cookie by TLS', () => {
    expect(presented({ authorization: 'bearer  abc' }, true)).to.deep.equal({
      kind: 'token',
      text: 'abc',
      cookie: false,
    });
    expect(presented({ authorization: 'Bearer foyer_x' }, true)).to.deep.equal({ kind: 'key', text: 'foyer_x' });
    const cookie = 'a=b; foyer_session=plain; __Host-foyer_session=tls=x';
    expect(presented({ cookie }, true)).to.deep.equal({ kind: 'token', text: 'tls=x', cookie: true });
    expect(presented({ cookie }, false)).to.deep.equal({ kind: 'token', text: 'plain', cookie: true });
    expect(presented({ authorization: 'Basic abc', cookie: 'xfoyer_session=1' }, false)).to.equal(undefined);
  });

  it('name their kind and nothing else, and no two are alike', async () => {
    const person = await api.given.member();
    const now = new Date();
    const [one, two] = await Promise.all([1, 2].map(() => signAccessToken(keys, claimsOf(person), now)));
    const part = (token: string | undefined, at: number): Record<string, unknown> =>
      JSON.parse(Buffer.from(token?.split('.')[at] ?? '', 'base64url').toString()) as Record<string, unknown>;
    expect(part(one, 0)).to.deep.equal({ alg: 'EdDSA', typ: 'at+jwt', kid: keys.signing[0]?.kid });
    const { jti, ...claims } = part(one, 1);
    const iat = Math.floor(now.getTime() / 1000);
    expect(claims).to.deep.equal({
      ...{ iss: keys.serverId, aud: 'foyer-api', sub: person.accountId, pid: person.profileId, sid: person.sessionId },
      ...{ iat, exp: iat + 900 },
    });
    expect(jti).to.be.a('string').and.not.equal(part(two, 1)['jti']);
  });

  it('last 15 minutes and a leeway of one', async () => {
    const person = await api.given.member();
    expect(await statusOf(await ago(person, 14 * MINUTE))).to.equal('200');
    expect(await statusOf(await ago(person, 15.5 * MINUTE))).to.equal('200');
    expect(await statusOf(await ago(person, 16.5 * MINUTE))).to.equal('AUTH_TOKEN_EXPIRED');
  });

  it('of a retired key are taken while the ring has it, and new ones are made by the first', async () => {
    const person = await api.given.member();
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const fresh = { kid: randomUUID(), privateKey: privateKey as never, publicKey: publicKey as never };
    const both: Keys = { ...keys, signing: [fresh, ...keys.signing] };
    const old = await ago(person, 1000);
    expect(await readAccessToken(both, old)).to.include(claimsOf(person));
    const made = await signAccessToken(both, claimsOf(person), new Date());
    expect(JSON.parse(Buffer.from(made.split('.')[0] ?? '', 'base64url').toString())).to.include({ kid: fresh.kid });
    expect(await readAccessToken(keys, made).catch((e: { code: string }) => e.code)).to.equal('AUTH_TOKEN_INVALID');
  });

  it('are refused unless this server made them for this purpose', async () => {
    const person = await api.given.member();
    const [signing] = keys.signing;
    if (!signing) throw new Error('no key');
    const make = (header: object, more: { iss?: string; aud?: string } = {}): Promise<string> =>
      new SignJWT({ pid: person.profileId, sid: person.sessionId })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: signing.kid, ...header })
        .setIssuer(more.iss ?? keys.serverId)
        .setAudience(more.aud ?? 'foyer-api')
        .setSubject(person.accountId)
        .setIssuedAt()
        .setExpirationTime('10m')
        .sign(signing.privateKey);
    expect(await statusOf(await make({}))).to.equal('200');
    const good = await make({});
    const [head = '', body = '', signature = ''] = good.split('.');
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    const other = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: 'x' }));
    const wrong = [
      await make({ typ: 'JWT' }),
      await make({ kid: 'unknown' }),
      await make({}, { iss: 'another server' }),
      await make({}, { aud: 'foyer-cast' }),
      `${none}.${body}.`,
      `${head}.${other.toString('base64url')}.${signature}`,
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      'not.a.token',
    ];
    for (const token of wrong) expect(await statusOf(token), token.slice(0, 60)).to.equal('AUTH_TOKEN_INVALID');
  });

  it('count no more from the request on at which session, account or device ended', async () => {
    const { db } = api.deps;
    const ends: Record<string, (person: Person) => Promise<unknown>> = {
      'session removed': ({ sessionId }) => db('sessions').where({ id: sessionId }).delete(),
      'session over': ({ sessionId }) => db('sessions').where({ id: sessionId }).update({ expires_at: new Date() }),
      'account disabled': ({ accountId }) => db('accounts').where({ id: accountId }).update({ disabled: true }),
      'account expired': ({ accountId }) => db('accounts').where({ id: accountId }).update({ expires_at: new Date() }),
    };
    for (const [name, end] of Object.entries(ends)) {
      const person = await api.given.member();
      const token = await ago(person, 0);
      expect(await statusOf(token), name).to.equal('200');
      await end(person);
      expect(await statusOf(token), name).to.equal('AUTH_TOKEN_INVALID');
    }
  });

  it('that are keys end when revoked, and report so when they expire', async () => {
    const admin = await api.given.admin();
    const bare = (person: Person): string => (person.headers['authorization'] ?? '').replace('Bearer ', '');
    const revoked = await api.given.key(admin, ['library:view'], { revoked_at: new Date() });
    const expired = await api.given.key(admin, ['library:view'], { expires_at: new Date(Date.now() - 1000) });
    const narrow = await api.given.key(await api.given.member(), ['library:manage', 'library:view']);
    expect(await statusOf(bare(revoked))).to.equal('AUTH_TOKEN_INVALID');
    expect(await statusOf(bare(expired))).to.equal('AUTH_TOKEN_EXPIRED');
    const made = await api.as(narrow).createLibrary({ body: { name: 'Above its account', type: 'movies' } });
    expect(made.status, 'a scope its account does not have').to.equal(403);
  });
});
