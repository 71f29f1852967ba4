import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { newId } from '#platform/ids.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { device, errorOf, issueOf, PASSWORD, signIn, somebody, unconfirm, withToken } from '#support/signing-in.ts';
import { purgeProfile } from '#workers/user-purge.ts';
import type { Work } from '#workers/work.ts';

describe('Auth: profiles', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
  });
  const profile = async (me: TestClient, body: object = {}): Promise<string> => {
    const answer = await me.createProfile({ body: { name: `Viewer ${Math.random()}`, ...body } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.id;
  };
  const enter = (me: TestClient, id: string, pin?: string) =>
    me.selectProfile({ params: { id }, body: pin === undefined ? undefined : { pin } });
  const mainOf = async (me: TestClient): Promise<string> =>
    (await me.getMe()).body.profiles.find(({ main }) => main)?.id ?? '';

  describe('createProfile', () => {
    it('adds a viewer, up to eight, each of another name', async () => {
      const { me } = await somebody(api);
      const limits = { ageLimit: 6, hideUnrated: true };
      const answer = await me.createProfile({ body: { name: 'Mia', color: 'pink', pin: '1234', limits } });
      expect(answer.body).to.deep.include({ name: 'Mia', color: 'pink', main: false, hasPin: true, limits });
      expect(JSON.stringify(await api.deps.db('profiles').select('*'))).to.not.include('"1234"');
      expect(errorOf(await me.createProfile({ body: { name: 'MIA' } })).details.reason).to.equal('duplicate-name');
      const rest = await Promise.all(
        Array.from({ length: 8 }, (_, i) => me.createProfile({ body: { name: `Number ${i}` } })),
      );
      expect(rest.filter(({ status }) => status === 201)).to.have.length(6);
      expect(errorOf(await me.createProfile({ body: { name: 'Ninth' } })).details.reason).to.equal('too-many-profiles');
    });

    it('is for the main profile of grown-up accounts, with a PIN of 4 to 8 digits', async () => {
      const child = await somebody(api, 'child');
      expect(errorOf(await child.me.createProfile({ body: { name: 'x' } })).details.by).to.equal('role');
      const { me } = await somebody(api);
      for (const pin of ['123', '123456789', 'abcd'])
        expect((await me.createProfile({ body: { name: 'x', pin } })).status).to.equal(400);
      const { accessToken } = (await enter(me, await profile(me))).body;
      const answer = await withToken(api, accessToken).createProfile({ body: { name: 'y' } });
      expect(errorOf(answer).details.by).to.equal('profile');
    });
  });

  describe('selectProfile', () => {
    it('puts the session into the profile; the old access token is stale, the refresh token stays', async () => {
      const { me, refreshToken } = await somebody(api);
      const id = await profile(me, { limits: { ageLimit: 6 } });
      const entered = await enter(me, id);
      expect(entered.status).to.equal(200);
      expect(entered.body).to.not.have.property('refreshToken');
      expect(entered.headers.getSetCookie().map((line) => line.split('=')[0])).to.deep.equal(['foyer_session']);
      expect(errorOf(await me.getMe()).code).to.equal('AUTH_TOKEN_EXPIRED');
      const now = (await withToken(api, entered.body.accessToken).getMe()).body;
      expect(now.profile.id).to.equal(id);
      expect(now.confirmedUntil, 'who is handed the device proved nothing').to.equal(null);
      expect(
        now.profiles.some(({ limits }) => limits),
        'limits are for main',
      ).to.equal(false);
      const refreshed = await api.anyone.refreshSession({ body: { refreshToken }, headers: device });
      expect(refreshed.body.profile.id, 'it stays over a refresh').to.equal(id);
    });

    it('takes the word of settings out of the token of a viewer of an admin, and gives it back to main', async () => {
      const { me } = await somebody(api, 'admin');
      const main = await mainOf(me);
      const claimIn = async (by: TestClient, id: string): Promise<[unknown, TestClient]> => {
        const { accessToken } = (await enter(by, id)).body;
        return [decodeJwt(accessToken ?? '')['adm'], withToken(api, accessToken)];
      };
      const [inside, viewer] = await claimIn(me, await profile(me));
      const [back] = await claimIn(viewer, main);
      expect([inside, back]).to.deep.equal([undefined, true]);
    });

    it('requires the PIN of the profile that is entered, unless the session is confirmed', async () => {
      const { me } = await somebody(api);
      const main = await mainOf(me);
      await me.updateProfile({ params: { id: main }, body: { pin: '4711' } });
      const kid = withToken(api, (await enter(me, await profile(me))).body.accessToken);
      expect(errorOf(await enter(kid, main)).details).to.deep.equal({ by: 'pin' });
      expect(errorOf(await enter(kid, main, '0000')).details).to.deep.equal({ by: 'pin', triesLeft: 4 });
      expect((await enter(kid, main, '4711')).status).to.equal(200);
    });

    it('blocks the PIN after five wrong ones in 15 minutes, until the password is proved', async () => {
      const { id: accountId, me } = await somebody(api);
      const id = await profile(me, { pin: '4711' });
      await unconfirm(api, accountId);
      const answers = await Promise.all(Array.from({ length: 8 }, () => enter(me, id, '0000')));
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([
        403, 403, 403, 403, 403, 429, 429, 429,
      ]);
      await api.deps.redis.flushdb();
      const blocked = await enter(me, id, '4711');
      expect(blocked.status).to.equal(429);
      expect(errorOf(blocked).details.retryAfterSec).to.be.within(800, 900);
      await me.confirmIdentity({ body: { password: PASSWORD } });
      await unconfirm(api, accountId);
      expect((await enter(me, id, '4711')).status).to.equal(200);
    });

    it('knows only profiles of the account', async () => {
      const [one, two] = [await somebody(api), await somebody(api)];
      expect((await enter(one.me, await profile(two.me))).status).to.equal(404);
    });
  });

  it('a sign-in starts with the profile last used on the device, or with main when that has a PIN', async () => {
    const { me, username } = await somebody(api);
    const id = await profile(me);
    await enter(me, id);
    const again = await signIn(api, username);
    expect(again.body.profile.id).to.equal(id);
    const main = withToken(
      api,
      (await enter(withToken(api, again.body.accessToken), await mainOf(withToken(api, again.body.accessToken)))).body
        .accessToken,
    );
    await main.updateProfile({ params: { id }, body: { pin: '1234' } });
    await enter(main, id, '1234');
    expect((await signIn(api, username)).body.profile.main).to.equal(true);
  });

  describe('updateProfile', () => {
    it('lets main change all, another profile its own looks alone', async () => {
      const { me } = await somebody(api);
      const id = await profile(me);
      const other = await profile(me);
      const changed = await me.updateProfile({
        params: { id },
        body: {
          name: 'Renamed',
          private: true,
          keepHistory: false,
          pin: '1234',
          limits: { ageLimit: 3 },
          country: 'DE',
        },
      });
      expect(changed.body).to.deep.include({ name: 'Renamed', private: true, keepHistory: false, hasPin: true });
      expect((await me.updateProfile({ params: { id }, body: { pin: null, limits: null } })).body).to.not.have.property(
        'limits',
      );
      const kid = withToken(api, (await enter(me, id)).body.accessToken);
      expect((await kid.updateProfile({ params: { id }, body: { name: 'Own', color: 'red' } })).body.name).to.equal(
        'Own',
      );
      for (const [target, body] of [
        [id, { limits: null }],
        [id, { pin: null }],
        [other, { name: 'x' }],
      ] as const)
        expect(errorOf(await kid.updateProfile({ params: { id: target }, body })).details.by).to.equal('profile');
    });

    it('takes no limits on main, and its PIN of a confirmed person only', async () => {
      const { id: accountId, me } = await somebody(api);
      const params = { id: await mainOf(me) };
      expect(issueOf(await me.updateProfile({ params, body: { limits: { ageLimit: 3 } } }))).to.equal('main_profile');
      await unconfirm(api, accountId);
      expect(errorOf(await me.updateProfile({ params, body: { pin: '1234' } })).details.by).to.equal('confirm');
      const child = await somebody(api, 'child');
      const own = { id: await mainOf(child.me) };
      expect(errorOf(await child.me.updateProfile({ params: own, body: { private: true } })).details.by).to.equal(
        'role',
      );
      expect((await child.me.updateProfile({ params: own, body: { color: 'red' } })).status).to.equal(200);
    });

    it('rejects an invalid time zone', async () => {
      const { me } = await somebody(api);
      const params = { id: await mainOf(me) };
      expect(issueOf(await me.updateProfile({ params, body: { timeZone: 'Mars/Olympus' } }))).to.equal('bad_time_zone');
      expect((await me.updateProfile({ params, body: { timeZone: 'Asia/Tokyo' } })).body.timeZone).to.equal(
        'Asia/Tokyo',
      );
    });
  });

  describe('viewing hours', () => {
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
    const hour = (ahead: number): string => `${String((new Date().getUTCHours() + ahead) % 24).padStart(2, '0')}:00`;
    /** Open in four hours of UTC, which is now in Dubai. */
    const later = [{ days: [...days], from: hour(4), to: hour(6) }];
    const close = (accountId: string) =>
      api.deps
        .db('accounts')
        .where({ id: accountId })
        .update({ viewing_hours: JSON.stringify(later), hours_zone: 'UTC' });

    it('of an account hold in all its profiles, however wide those of the profile are', async () => {
      const { id: accountId, me } = await somebody(api);
      await close(accountId);
      for (const viewingHours of [[], [{ days: [...days], from: '00:00', to: '00:00' }]]) {
        const id = await profile(me, { limits: { viewingHours } });
        const { body } = await signIn(api, (await me.getMe()).body.account.username, { profileId: id });
        const viewer = withToken(api, body.accessToken);
        expect((await viewer.getMe()).body).to.deep.include({ profile: body.profile });
        expect(errorOf(await viewer.listLibraries()).code).to.equal('PERMISSION_TIME_RESTRICTED');
        expect((await viewer.getMe()).body.viewing.allowed).to.equal(false);
      }
    });

    it('of a profile are shown to it, and do not close the main one', async () => {
      const { me } = await somebody(api);
      const id = await profile(me, { limits: { viewingHours: later } });
      expect((await me.getMe()).body.viewing).to.deep.equal({ allowed: true });
      const viewer = withToken(api, (await enter(me, id)).body.accessToken);
      expect(errorOf(await viewer.listLibraries()).code).to.equal('PERMISSION_TIME_RESTRICTED');
      const { viewing } = (await viewer.getMe()).body;
      expect(viewing.allowed).to.equal(false);
      expect(new Date(viewing.resumesAt ?? 0).getUTCHours()).to.equal(Number(hour(4).slice(0, 2)));
    });

    it('are shown with their end while they last', async () => {
      const { id: accountId, me } = await somebody(api);
      const open = [{ days: [...days], from: hour(23), to: hour(4) }];
      const row = api.deps.db('accounts').where({ id: accountId });
      await row.update({ viewing_hours: JSON.stringify(open), hours_zone: 'UTC' });
      const { viewing } = (await me.getMe()).body;
      expect(viewing.allowed).to.equal(true);
      expect(Date.parse(viewing.until ?? '') - Date.now()).to.be.within(2.9 * 3_600_000, 4 * 3_600_000);
    });

    it('are not moved by the time zone that a person chooses', async () => {
      const child = await somebody(api, 'child');
      await close(child.id);
      expect((await child.me.updateMe({ body: { timeZone: 'Asia/Dubai' } })).body.timeZone).to.equal('Asia/Dubai');
      const own = { id: await mainOf(child.me) };
      expect((await child.me.updateProfile({ params: own, body: { timeZone: 'Asia/Dubai' } })).status).to.equal(200);
      expect(errorOf(await child.me.listLibraries()).code).to.equal('PERMISSION_TIME_RESTRICTED');
      expect((await child.me.getMe()).body.viewing.allowed).to.equal(false);
    });
  });

  it('deleteProfile ends the sessions in it, keeps main, and may be repeated', async () => {
    const { me, username, id: accountId } = await somebody(api);
    const id = await profile(me);
    const there = await signIn(api, username, { profileId: id });
    expect(there.body.profile.id).to.equal(id);
    expect(errorOf(await me.deleteProfile({ params: { id: await mainOf(me) } })).details.reason).to.equal(
      'main-profile',
    );
    const stranger = await somebody(api);
    expect((await stranger.me.deleteProfile({ params: { id } })).status).to.equal(404);
    await unconfirm(api, accountId);
    expect(errorOf(await me.deleteProfile({ params: { id } })).details.by).to.equal('confirm');
    await me.confirmIdentity({ body: { password: PASSWORD } });
    for (let i = 0; i < 2; i += 1) expect((await me.deleteProfile({ params: { id } })).status).to.equal(204);
    expect((await withToken(api, there.body.accessToken).getMe()).status).to.equal(401);
    expect((await me.getMe()).body.profiles).to.have.length(1);
  });

  it('deleteProfile ends its playback, and a job removes its history', async () => {
    const { me, username, id: accountId } = await somebody(api);
    const { db } = api.deps;
    const id = await profile(me);
    const library = await givenLibrary(db, 'movies');
    const item_id = await givenItem(db, library);
    await db('item_states').insert({ profile_id: id, item_id, library_id: library.id, play_count: 1 });
    const session = newId();
    await db('playback_sessions').insert({
      ...{ id: session, account_id: accountId, profile_id: id, item_id, library_id: library.id, state: 'playing' },
      ...{ file_id: newId(), method: 'direct_play', decision: '{}', url: '/' },
    });
    await signIn(api, username, { profileId: id });
    expect((await me.deleteProfile({ params: { id } })).status).to.equal(204);
    expect((await me.getMe()).body.profiles.map((one) => one.id)).to.not.include(id);
    expect(await db('sessions').where({ profile_id: id })).to.deep.equal([]);
    const stopped = (await db('outbox').where({ event: 'playback.stopped' }).pluck('payload')) as {
      sessionId: string;
    }[];
    expect(stopped.map(({ sessionId }) => sessionId)).to.include(session);
    const job = await db('jobs')
      .where({ kind: 'profile.purge' })
      .orderBy('id', 'desc')
      .first<{ payload: { profileId: string } }>();
    expect(job.payload).to.deep.equal({ profileId: id });
    const work = { ...api.deps, signal: new AbortController().signal } as unknown as Work;
    for (let i = 0; i < 2; i += 1) await purgeProfile({ profileId: id }, work);
    for (const table of ['item_states', 'playback_sessions'])
      expect(await db(table).where({ profile_id: id }), table).to.deep.equal([]);
    expect(await db('profiles').where({ id })).to.deep.equal([]);
    const main = (await me.getMe()).body.profile.id;
    await db('item_states').insert({ profile_id: main, item_id, library_id: library.id, play_count: 1 });
    await purgeProfile({ profileId: main }, work);
    expect(await db('item_states').where({ profile_id: main }), "of a profile that is somebody's").to.have.length(1);
  });
});
