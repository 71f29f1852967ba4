import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { CLIENT, type OidcServer, startOidcServer } from '#support/oidc.ts';
import { declared, type Flows, flowsOf } from '#support/oidc-flows.ts';
import { somebody, withToken } from '#support/signing-in.ts';

describe('Auth: back-channel logout', () => {
  let oidc: OidcServer;
  let api: Api;
  let flows: Flows;
  before(async () => {
    oidc = await startOidcServer();
    api = await startApi({ FOYER_SETTINGS: declared(oidc) });
    flows = flowsOf(api, oidc);
    oidc.logoutUri = `${api.url}/api/v1/auth/oidc/logout`;
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
  });

  const send = (token: string, init: RequestInit = {}) =>
    api.fetch('/api/v1/auth/oidc/logout', {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token, more: 'ignored' }),
      ...init,
    });
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const claims = (more: object = {}) => {
    const now = Math.floor(Date.now() / 1000);
    return { iss: oidc.issuer, aud: CLIENT.id, iat: now, exp: now + 120, jti: crypto.randomUUID(), events, ...more };
  };
  const sessionsOf = async (accountId: string): Promise<string[]> =>
    api.deps.db('sessions').where({ account_id: accountId, method: 'oidc' }).pluck('id');

  it('ends the session of the sid when the provider itself requests it, and logout names its page', async () => {
    const { id } = await somebody(api);
    await flows.linkTo(id, 'leaver');
    oidc.next = { sub: 'leaver' };
    const jar = new Map<string, string>();
    const first = await flows.complete(api.anyone, await flows.through({}, { jar }));
    const second = await flows.complete(api.anyone, await flows.through());
    await oidc.leave(jar);
    expect(await sessionsOf(id)).to.deep.equal([second.body.signIn?.session.id]);
    expect((await withToken(api, first.body.signIn?.accessToken).getMe()).status).to.equal(401);
    const left = await withToken(api, second.body.signIn?.accessToken).logout();
    expect(left.body.ended).to.equal(true);
    expect(left.body.providerUrl).to.contain(`${oidc.issuer}/session/end`);
  });

  it('ends all sessions of a sub, and returns 200 for an unknown subject', async () => {
    const { id, me } = await somebody(api);
    await flows.linkTo(id, 'all');
    await flows.enter('all');
    await flows.enter('all');
    expect(await sessionsOf(id)).to.have.length(2);
    expect((await send(await oidc.sign(claims({ sub: 'an unknown subject' })))).status).to.equal(200);
    expect(await sessionsOf(id)).to.have.length(2);
    const answer = await send(await oidc.sign(claims({ sub: 'all' })));
    expect([answer.status, answer.headers.get('cache-control'), await answer.json()]).to.deep.equal([
      200,
      'no-store',
      {},
    ]);
    expect(await sessionsOf(id)).to.have.length(0);
    expect((await me.getMe()).status, 'a sign-in by password stays').to.equal(200);
  });

  it('returns 400 and ends nothing for a token that is no logout token, and for one used before', async () => {
    const { id } = await somebody(api);
    await flows.linkTo(id, 'stays');
    await flows.enter('stays');
    const sub = 'stays';
    const now = Math.floor(Date.now() / 1000);
    const { events: _without, ...noEvents } = claims({ sub });
    const { jti: _id, ...noId } = claims({ sub });
    const bad = [
      await oidc.sign(claims({ sub }), { typ: 'JWT' }),
      await oidc.sign(noEvents),
      await oidc.sign(noId),
      await oidc.sign(claims({ sub, nonce: 'x' })),
      await oidc.sign(claims()),
      await oidc.sign(claims({ sub, aud: 'another' })),
      await oidc.sign(claims({ sub, iss: 'https://evil.example' })),
      await oidc.sign(claims({ sub, exp: now - 70 })),
      `${(await oidc.sign(claims({ sub }))).slice(0, -8)}AAAAAAAA`,
    ];
    for (const [at, token] of bad.entries()) expect((await send(token)).status, String(at)).to.equal(400);
    expect((await send('x', { body: '{}', headers: { 'content-type': 'application/json' } })).status).to.equal(400);
    expect(await sessionsOf(id)).to.have.length(1);
    const jti = crypto.randomUUID();
    expect((await send(await oidc.sign(claims({ sub: 'other', jti })))).status).to.equal(200);
    expect((await send(await oidc.sign(claims({ sub, jti })))).status).to.equal(400);
    expect(await sessionsOf(id)).to.have.length(1);
  });
});
