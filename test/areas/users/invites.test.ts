import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';

const error = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

describe('invites', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });
  beforeEach(() => api.deps.redis.flushdb()); // attempts of an address are counted

  const invite = async (by: Person, body: object = {}) => {
    const answer = await api.as(by).createInvite({ body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return { ...answer.body, code: answer.body.url?.split('/invite#code=')[1] ?? '' };
  };
  let made = 0;
  const accept = (code: string, more: object = {}) => {
    made += 1;
    return api.anyone.acceptInvite({ body: { code, username: `guest ${made}`, password: 'long enough 9', ...more } });
  };
  const stateOf = async (id: string) =>
    (await api.as(owner).listInvites({ query: { limit: 200 } })).body.items.find((one) => one.id === id)?.state;
  const payloads = async (event: string) =>
    ((await api.deps.db('outbox').where({ event }).select('payload')) as { payload: Record<string, string> }[]).map(
      ({ payload }) => payload,
    );

  it('shows its link once, keeps its hash, and greets with it', async () => {
    const one = await invite(owner, { displayName: 'Ana', message: 'welcome', role: 'guest' });
    expect(Buffer.from(one.code, 'base64url')).to.have.length(16);
    const row = await api.deps.db('invites').where({ id: one.id }).first<{ hash: Buffer }>('hash');
    expect(row.hash.equals(createHash('sha256').update(one.code).digest())).to.equal(true);
    expect(JSON.stringify((await api.as(owner).listInvites()).body)).to.not.include(one.code);
    const { body } = await api.anyone.checkInvite({ body: { code: one.code } });
    expect(body).to.include({ role: 'guest', displayName: 'Ana', message: 'welcome', oidc: false });
    expect(body.passwordRules).to.deep.equal({ minLength: 8, maxLength: 256 });
    expect(await stateOf(one.id)).to.equal('open');
  });

  it('offers no passkey where none is taken', async () => {
    const { code } = await invite(owner);
    const set = async (key: string, value: unknown): Promise<void> => {
      await api.deps
        .db('settings')
        .insert({ key, value: JSON.stringify(value) })
        .onConflict('key')
        .merge();
      await api.deps.settings.reload();
    };
    const offers = async () => 'passkeyOptions' in (await api.anyone.checkInvite({ body: { code } })).body;
    await set('server.publicUrl', 'https://foyer.example');
    expect(await offers()).to.equal(true);
    await set('auth.passkeys.enabled', false);
    expect(await offers()).to.equal(false);
    await set('auth.passkeys.enabled', true);
    await set('server.publicUrl', null);
  });

  it('creates the account with role and template, announces it, and signs in', async () => {
    const library = await givenLibrary(api.deps.db, 'movies', { everyone: false });
    const one = await invite(owner, {
      role: 'child',
      libraries: { mode: 'only', ids: [library.id] },
      template: { ageLimit: 6, permissions: { 'playlist:own': false }, restrictions: { cast: 'deny' } },
    });
    const answer = await accept(one.code, { displayName: 'Kid' });
    expect(answer.status).to.equal(201);
    const { account, session, accessToken } = answer.body;
    expect([account.role, account.displayName, session.method]).to.deep.equal(['child', 'Kid', 'invite']);
    const kid = api.as({ ...owner, headers: { authorization: `Bearer ${accessToken}` } });
    const me = (await kid.getMe()).body;
    expect(me.access).to.deep.include({ ageLimit: 6, libraries: { mode: 'only', ids: [library.id] } });
    expect(me.access.restrictions).to.include({ cast: 'deny', discover: 'deny' });
    expect(me.permissions).to.deep.equal(['library:view']);
    expect(await payloads('user.created')).to.deep.include({ userId: account.id, role: 'child' });
    expect(await payloads('invite.accepted')).to.deep.include({ inviteId: one.id });
    const granted = (await payloads('library.access.granted')).filter(({ userId }) => userId === account.id);
    expect(granted).to.deep.equal([{ libraryId: library.id, userId: account.id, byUserId: owner.accountId }]);
    const listed = (await api.as(owner).listInvites({ query: { state: 'used' } })).body.items;
    expect(listed.find(({ id }) => id === one.id)?.accepted[0]?.userId).to.equal(account.id);
  });

  it('gives the last use to one of ten concurrent callers', async () => {
    const { code, id } = await invite(owner, { maxUses: 2 });
    await accept(code);
    await api.deps.redis.flushdb();
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(code)));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(answers.filter(({ status }) => status === 404)).to.have.length(9);
    expect(await stateOf(id)).to.equal('used');
    const uses = await api.deps.db('invite_uses').where({ invite_id: id }).select('account_id');
    expect(uses).to.have.length(2);
  });

  it('takes no use for a name that is taken, a weak password, both or neither way to sign in', async () => {
    const { code, id } = await invite(owner);
    const taken = (await api.as(owner).createUser({ body: { username: 'Taken', password: 'long enough 9' } })).body;
    expect(error(await accept(code, { username: 'TAKEN' })).details.reason).to.equal('username-taken');
    expect((await accept(code, { password: 'password' })).status).to.equal(400);
    expect((await accept(code, { password: undefined })).status).to.equal(400);
    expect((await accept(code, { role: 'admin' })).status).to.equal(400);
    expect([await stateOf(id), taken.username]).to.deep.equal(['open', 'Taken']);
    expect((await accept(code)).status).to.equal(201);
  });

  it('answers unknown, used, expired and revoked alike', async () => {
    const [used, revoked, expired] = [await invite(owner), await invite(owner), await invite(owner)];
    await accept(used.code);
    await api.as(owner).revokeInvite({ params: { id: revoked.id } });
    await api.deps
      .db('invites')
      .where({ id: expired.id })
      .update({ expires_at: new Date(Date.now() - 1000) });
    const bodies = [];
    for (const { code } of [used, revoked, expired, { code: 'AAAAAAAAAAAAAAAAAAAAAA' }]) {
      const answer = await api.anyone.checkInvite({ body: { code } });
      expect(answer.status).to.equal(404);
      const { requestId: _id, ...rest } = error(answer) as unknown as { requestId: string };
      bodies.push(JSON.stringify(rest));
    }
    expect(new Set(bodies).size).to.equal(1);
    expect([await stateOf(revoked.id), await stateOf(expired.id)]).to.deep.equal(['revoked', 'expired']);
    expect((await api.as(owner).revokeInvite({ params: { id: used.id } })).status).to.equal(204);
    expect(await stateOf(used.id)).to.equal('used');
  });

  it('counts as an attempt to sign in: ten a minute of one address', async () => {
    const statuses = [];
    for (let i = 0; i < 11; i += 1)
      statuses.push((await api.anyone.checkInvite({ body: { code: 'BBBBBBBBBBBBBBBBBBBBBB' } })).status);
    expect(statuses).to.deep.equal([...Array.from({ length: 10 }, () => 404), 429]);
    expect((await accept('BBBBBBBBBBBBBBBBBBBBBB')).status).to.equal(429);
  });

  it('omits permissions that its maker may no longer give, and is void once they may not invite', async () => {
    const library = await givenLibrary(api.deps.db, 'movies', { everyone: false });
    const admin = await api.given.admin();
    const wide = {
      maxUses: 3,
      libraries: { mode: 'default', ids: [library.id] },
      template: { permissions: { 'job:manage': true } },
    };
    const { code } = await invite(admin, wide);
    const account = api.deps.db('accounts').where({ id: admin.accountId });
    await account.clone().update({ library_mode: 'only', own_permissions: '{"job:manage":false}' });
    const { body } = await accept(code);
    const newcomer = (await api.as(owner).getUser({ params: { id: body.account.id } })).body;
    expect(newcomer.access.libraries).to.deep.equal({ mode: 'only', ids: [] });
    expect(newcomer.permissions.permissions['job:manage'].allowed).to.equal(false);
    await account.clone().update({ disabled: true });
    expect((await accept(code)).status).to.equal(404);
    await account.clone().update({ disabled: false, role: 'member', own_permissions: '{}' });
    expect((await accept(code)).status).to.equal(404);
  });

  it('keeps rank and reach when it is made, and its bounds', async () => {
    const admin = await api.given.admin();
    const create = (by: Person, body: object) => api.as(by).createInvite({ body });
    expect(error(await create(admin, { role: 'admin' })).details.by).to.equal('rank');
    expect((await create(owner, { role: 'owner' })).status).to.equal(400);
    expect((await invite(owner, { role: 'admin' })).role).to.equal('admin');
    for (const expiresAt of [inDays(91), inDays(-1)]) expect((await create(owner, { expiresAt })).status).to.equal(400);
    expect((await invite(owner, { email: 'new@example.org', maxUses: 5 })).maxUses).to.equal(1);
    const granted = { template: { permissions: { 'user:manage': true } } };
    expect(error(await create(owner, { role: 'guest', ...granted })).details.reason).to.equal('not-for-role');
    expect(error(await create(admin, granted)).details.by).to.equal('owner');
    const strange = { libraries: { mode: 'only', ids: [ABSENT] } };
    expect(error(await create(owner, strange)).code).to.equal('VALIDATION_FAILED');
    const child = await api.given.child();
    expect(error(await create(child, {})).details.permission).to.equal('user:manage');
  });

  it('holds 200 open ones and no more', async () => {
    const other = await startApi();
    const first = await other.given.owner();
    const created = await other.as(first).createInvite({ body: {} });
    await other.deps.db.raw(
      `insert into invites (id, hash, role, created_by, expires_at)
       select gen_random_uuid(), sha256(n::text::bytea), 'member', ?, now() + interval '1 day' from generate_series(1, 199) n`,
      [first.accountId],
    );
    expect(error(await other.as(first).createInvite({ body: {} })).details.reason).to.equal('too-many-invites');
    await other.as(first).revokeInvite({ params: { id: created.body.id } });
    expect((await other.as(first).createInvite({ body: {} })).status).to.equal(201);
  });
});
