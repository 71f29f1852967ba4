import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary, givenState } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { purgeUser } from '#workers/user-purge.ts';

const error = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

describe('devices', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });
  beforeEach(() => api.deps.redis.flushdb());

  let made = 0;
  /** An account that signs in with a password, from the client `id`. */
  const person = async () => {
    made += 1;
    const login = { username: `device owner ${made}`, password: 'long enough 9' };
    const body = { ...login, mustChangePassword: false };
    const { id } = (await api.as(owner).createUser({ body })).body;
    const signIn = async (client: string, name = 'Phone'): Promise<Person & { status: number; by?: unknown }> => {
      const headers = { 'x-client-id': client, 'x-client-name': name };
      const answer = await api.anyone.login({ body: login, headers });
      const authorization = `Bearer ${answer.body.accessToken}`;
      const by = answer.status === 200 ? {} : { by: error(answer).details.by };
      const as = { accountId: id, profileId: answer.body.profile?.id ?? '', sessionId: '' };
      return { ...as, headers: { authorization, ...headers }, status: answer.status, ...by };
    };
    return { id, signIn };
  };
  const PHONE = 'phone-0123456789abcdef';
  const TABLET = 'tablet-0123456789abcde';
  const devices = async (by: Person, id: string, query: Record<string, string | boolean> = {}) =>
    (await api.as(by).listUserDevices({ params: { id }, query })).body.items;

  it('are made at sign-in, with a hint of their client and never the whole', async () => {
    const { id, signIn } = await person();
    const phone = await signIn(PHONE, 'P'.repeat(80));
    await signIn(TABLET);
    const own = await devices(phone, id, { sort: 'firstSeenAt' });
    expect(own.map(({ clientId, current, sessions }) => [clientId, current, sessions])).to.deep.equal([
      ['phone-01', true, 1],
      ['tablet-0', false, 1],
    ]);
    expect(own[0]).to.include({ name: 'P'.repeat(60), state: 'trusted', isRemote: false, online: true });
    expect(JSON.stringify(own)).to.not.include(PHONE);
  });

  it('are online within a minute of a request', async () => {
    const { id, signIn } = await person();
    const phone = await signIn(PHONE);
    await api.deps
      .db('devices')
      .where({ account_id: id })
      .update({ last_seen_at: new Date(Date.now() - 61_000) });
    expect(await devices(owner, id, { online: true })).to.deep.equal([]);
    expect(await devices(owner, id, { online: false })).to.have.length(1);
    await api.as(phone).getMe();
    await eventually(async () => (await devices(owner, id, { online: true })).length === 1);
  });

  it('are shown to their account and to managers of accounts; for others they do not exist', async () => {
    const { id, signIn } = await person();
    await signIn(PHONE);
    const stranger = await api.given.member();
    const params = { id };
    const [device] = await devices(owner, id);
    const of = { id, deviceId: device?.id ?? '' };
    expect((await api.as(stranger).listUserDevices({ params })).status).to.equal(404);
    expect((await api.as(stranger).updateUserDevice({ params: of, body: { name: 'mine' } })).status).to.equal(404);
    expect((await api.as(stranger).removeUserDevice({ params: of })).status).to.equal(404);
    const foreign = { id: stranger.accountId, deviceId: of.deviceId };
    expect((await api.as(stranger).updateUserDevice({ params: foreign, body: { name: 'x' } })).status).to.equal(404);
    await api.as(stranger).removeUserDevice({ params: foreign });
    expect(await devices(owner, id)).to.have.length(1);
    const admin = await api.given.admin();
    const above = { id: owner.accountId, deviceId: of.deviceId };
    expect(error(await api.as(admin).updateUserDevice({ params: above, body: {} })).details.by).to.equal('rank');
    await api.deps.db('profiles').where({ id: stranger.profileId }).update({ main: false });
    const own = { id: stranger.accountId, deviceId: of.deviceId };
    expect(error(await api.as(stranger).removeUserDevice({ params: own })).details.by).to.equal('profile');
  });

  it('keep a name that was given', async () => {
    const { id, signIn } = await person();
    const phone = await signIn(PHONE, 'Before');
    const [device] = await devices(phone, id);
    const params = { id, deviceId: device?.id ?? '' };
    expect((await devices(await signIn(PHONE, 'Renamed'), id))[0]?.name).to.equal('Renamed');
    expect((await api.as(phone).updateUserDevice({ params, body: { name: 'Mine' } })).body.name).to.equal('Mine');
    expect((await devices(await signIn(PHONE, 'After'), id))[0]).to.include({ name: 'Mine', clientName: 'After' });
    expect((await api.as(phone).updateUserDevice({ params, body: { name: 'a\u0007b' } })).status).to.equal(400);
  });

  it('when blocked lose their sign-ins and are let in no more, until trusted again', async () => {
    const { id, signIn } = await person();
    const phone = await signIn(PHONE);
    const tablet = await signIn(TABLET);
    const blocked = (await devices(phone, id)).find(({ current }) => !current);
    const params = { id, deviceId: blocked?.id ?? '' };
    await api.as(phone).updateUserDevice({ params, body: { state: 'blocked' } });
    expect((await api.as(tablet).getMe()).status).to.equal(401);
    expect(await signIn(TABLET)).to.include({ status: 403, by: 'device-blocked' });
    const self = (await devices(phone, id)).find(({ current }) => current);
    const own = { id, deviceId: self?.id ?? '' };
    const refused = await api.as(phone).updateUserDevice({ params: own, body: { state: 'blocked' } });
    expect(error(refused).details.reason).to.equal('current-device');
    await api.as(phone).updateUserDevice({ params, body: { state: 'trusted' } });
    expect((await signIn(TABLET)).status).to.equal(200);
  });

  it('are as many as the account may have: a further one is let in once another is removed', async () => {
    const { id, signIn } = await person();
    const access = { libraries: { mode: 'default', ids: [] }, limits: { devices: 2 } };
    const set = await api.as(owner).setUserAccess({ params: { id }, body: access });
    expect(set.status, JSON.stringify(set.body)).to.equal(200);
    const phone = await signIn(PHONE);
    const others = await Promise.all([TABLET, 'laptop-0123456789abcde'].map((client) => signIn(client)));
    expect(others.map(({ status, by }) => [status, by])).to.have.deep.members([
      [200, undefined],
      [403, 'device-limit'],
    ]);
    expect((await signIn(PHONE)).status).to.equal(200);
    const gone = (await devices(phone, id)).find(({ current }) => !current);
    await api.as(phone).removeUserDevice({ params: { id, deviceId: gone?.id ?? '' } });
    expect((await signIn('laptop-0123456789abcde')).status).to.equal(200);
    expect((await signIn('fourth-0123456789abcde')).status).to.equal(403);
  });

  it('when removed are signed out and come back new', async () => {
    const { id, signIn } = await person();
    const phone = await signIn(PHONE);
    const tablet = await signIn(TABLET);
    const gone = (await devices(phone, id)).find(({ current }) => !current);
    const params = { id, deviceId: gone?.id ?? '' };
    for (let i = 0; i < 2; i += 1) expect((await api.as(phone).removeUserDevice({ params })).status).to.equal(204);
    expect((await api.as(tablet).getMe()).status).to.equal(401);
    expect((await signIn(TABLET)).status).to.equal(200);
    expect((await devices(phone, id)).map((device) => device.id)).to.not.include(gone?.id);
  });

  it('report how many keys were used on them', async () => {
    const member = await api.given.member();
    const key = await api.given.key(member, ['library:view']);
    const used = { ...key, headers: { ...key.headers, 'x-client-id': PHONE } };
    expect((await api.as(used).listLibraries()).status).to.equal(200);
    expect((await devices(owner, member.accountId))[0]).to.include({ keysUsed: 1, sessions: 0 });
  });

  describe('user.purge', () => {
    it('removes the remains of a deleted account, and nothing that belongs to a living one, however often it runs', async () => {
      const { db } = api.deps;
      const { id, signIn } = await person();
      const { profileId } = await signIn(PHONE);
      const library = await givenLibrary(db, 'movies');
      const itemId = await givenItem(db, library);
      await givenState(db, library, { profileId, itemId, watched: true });
      const work = { ...api.deps, signal: new AbortController().signal } as never;
      await purgeUser({ accountId: id }, work);
      expect(await db('accounts').where({ id })).to.have.length(1);
      expect(await db('item_states').where({ profile_id: profileId })).to.have.length(1);
      const { username } = (await api.as(owner).getUser({ params: { id } })).body;
      await api.as(owner).deleteUser({ params: { id }, query: { confirm: username } });
      for (let i = 0; i < 2; i += 1) await purgeUser({ accountId: id }, work);
      expect(await db('accounts').where({ id })).to.deep.equal([]);
      for (const table of ['profiles', 'devices', 'sessions'])
        expect(await db(table).where({ account_id: id })).to.deep.equal([]);
      expect(await db('item_states').where({ profile_id: profileId })).to.deep.equal([]);
      expect(await db('items').where({ id: itemId })).to.have.length(1);
    });

    it('hands personal storages over, or deletes them with their items', async () => {
      const { db } = api.deps;
      const [heir, giver, other] = [await person(), await person(), await person()];
      const storage = async (ownerId: string) => {
        const [row] = await db('storages')
          .insert({ id: db.raw('gen_random_uuid()'), name: 'own', owner_id: ownerId })
          .returning<{ id: string }[]>('id');
        return row?.id ?? '';
      };
      const [kept, gone] = [await storage(giver.id), await storage(other.id)];
      const work = { ...api.deps, signal: new AbortController().signal } as never;
      await db('accounts').whereIn('id', [giver.id, other.id]).update({ deleted_at: new Date(), disabled: true });
      await purgeUser({ accountId: giver.id, transferTo: heir.id }, work);
      await purgeUser({ accountId: other.id }, work);
      expect(await db('storages').where({ id: kept }).pluck('owner_id')).to.deep.equal([heir.id]);
      expect(await db('storages').where({ id: gone })).to.deep.equal([]);
    });
  });
});
