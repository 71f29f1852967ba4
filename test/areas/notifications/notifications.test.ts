import { expect } from 'chai';
import { sweep } from '#areas/notifications/notifications.store.ts';
import { heldUntil, noPreferences } from '#areas/notifications/preferences.ts';
import { type Notice, notify, seers } from '#areas/notifications/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';

describe('notifications', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  const send = (notice: Notice) => api.deps.db.transaction((db) => notify(db, notice));
  const list = async (person: Person, query: Record<string, string | number | boolean> = {}) =>
    (await api.as(person).listNotifications({ query })).body;
  const shared = (person: Person, name = 'Mix', more: Partial<Notice> = {}): Notice => ({
    kind: 'playlist-shared',
    to: { accountIds: [person.accountId] },
    target: { kind: 'playlist', id: newId() },
    data: { name },
    ...more,
  });

  it('is written with its cause, announced once after commit, and never when that is rolled back', async () => {
    const member = await api.given.member();
    await api.deps.db
      .transaction(async (db) => {
        await notify(db, shared(member));
        throw new Error('back');
      })
      .catch(() => undefined);
    expect((await list(member)).items).to.have.length(0);
    await send(shared(member));
    const { items, unreadCount, urgentCount } = await list(member);
    expect(items[0]).to.include({
      kind: 'playlist-shared',
      title: 'Playlist shared',
      body: 'Mix was shared with you.',
      read: false,
      count: 1,
    });
    expect({ unreadCount, urgentCount }).to.deep.equal({ unreadCount: 1, urgentCount: 0 });
    const events = await api.deps.db.raw(
      `select payload, facts from outbox where event = 'notification.created' union all select payload, facts from events where event = 'notification.created'`,
    );
    const own = events.rows.filter((row: { payload: { userId: string } }) => row.payload.userId === member.accountId);
    expect(own).to.have.length(1);
    expect(own[0].payload).to.deep.equal({
      notificationId: items[0]?.id,
      userId: member.accountId,
      kind: 'playlist-shared',
    });
    expect(own[0].facts).to.deep.equal({ userIds: [member.accountId], profileId: member.profileId });
  });

  it('uses the language of the profile at reading', async () => {
    const member = await api.given.member();
    await send(shared(member));
    await api.deps.db('profiles').where({ id: member.profileId }).update({ language: 'de-AT' });
    expect((await list(member)).items[0]?.body).to.equal('Mix wurde mit dir geteilt.');
    const { body } = await api.as(member).getNotificationPreferences();
    expect(body.kinds['playlist-shared']?.title).to.equal('Wiedergabeliste geteilt');
  });

  it('merges by kind and target within its window: 200 new episodes are one with a count', async () => {
    const member = await api.given.member();
    const target = { kind: 'item', id: newId() };
    const episode: Notice = {
      kind: 'new-episode',
      to: { profileIds: [member.profileId] },
      target,
      data: { name: 'Show' },
    };
    for (let at = 0; at < 200; at += 1) await send(episode);
    const one = await list(member);
    expect(one.items.map(({ count }) => count)).to.deep.equal([200]);
    expect(one.items[0]?.body).to.equal('There are 200 new episodes of Show.');
    expect(one.unreadCount).to.equal(1);
    await send({ ...episode, target: { kind: 'item', id: newId() } });
    await api.deps.db.raw(`update notifications set first_at = now() - interval '25 hours' where count = 200`);
    await send(episode);
    expect((await list(member)).items.map(({ count }) => count)).to.deep.equal([1, 1, 200]);
  });

  it('goes to those who may act on it, and to no one else', async () => {
    const [admin, member] = [await api.given.admin(), await api.given.member()];
    const without = await api.given.person('admin', { own_permissions: JSON.stringify({ 'settings:manage': false }) });
    await send({ kind: 'disk-low', target: { kind: 'storage', id: newId() }, data: { name: 'films' } });
    expect((await list(admin)).items.map(({ kind }) => kind)).to.deep.equal(['disk-low']);
    expect((await list(admin)).urgentCount).to.equal(1);
    for (const person of [member, without]) expect((await list(person)).items).to.have.length(0);
    await api.deps
      .db('accounts')
      .where({ id: admin.accountId })
      .update({ own_permissions: JSON.stringify({ 'settings:manage': false }) });
    expect(await list(admin)).to.deep.include({ items: [], unreadCount: 0, urgentCount: 0 });
  });

  it('leaves the list when its target is no longer visible, and does not reach those who cannot see it', async () => {
    const [seeing, blind] = [await api.given.member(), await api.given.member()];
    const libraryId = newId();
    await api.deps
      .db('libraries')
      .insert({ id: libraryId, name: libraryId, name_folded: libraryId, type: 'movies', everyone: true });
    await api.deps.db('accounts').where({ id: blind.accountId }).update({ library_mode: 'only' });
    const to = { accountIds: [seeing.accountId, blind.accountId] };
    await send({ kind: 'library-granted', to, libraryId, data: { name: 'Films' } });
    expect((await list(blind)).items).to.have.length(0);
    expect(await list(seeing)).to.include({ unreadCount: 1 });
    await api.deps.db('libraries').where({ id: libraryId }).update({ everyone: false });
    expect(await list(seeing)).to.deep.include({ items: [], unreadCount: 0 });
    await api.deps.db('libraries').where({ id: libraryId }).update({ everyone: true });
    expect(await list(seeing)).to.include({ unreadCount: 1 });
  });

  it('reads by id or up to one, never later ones, on every device', async () => {
    const [member, other] = [await api.given.member(), await api.given.member()];
    for (const name of ['a', 'b', 'c']) await send(shared(member, name));
    await send(shared(other));
    const [c, b] = (await list(member)).items;
    const put = async (body: object, by = member) => (await api.as(by).markNotificationsRead({ body })).body;
    expect(await put({ upTo: b?.id })).to.deep.equal({ changed: 2, unreadCount: 1 });
    expect(await put({ upTo: b?.id })).to.deep.equal({ changed: 0, unreadCount: 1 });
    const theirs = (await list(other)).items[0]?.id;
    expect(await put({ ids: [c?.id, theirs, newId()] })).to.deep.equal({ changed: 1, unreadCount: 0 });
    expect(await list(other)).to.include({ unreadCount: 1 });
    expect(await put({ upTo: theirs })).to.deep.equal({ changed: 0, unreadCount: 0 });
    expect(await put({ ids: [c?.id], read: false })).to.deep.equal({ changed: 1, unreadCount: 1 });
    expect((await list(member, { unread: true })).items.map(({ id }) => id)).to.deep.equal([c?.id]);
    expect((await list(member, { since: b?.id ?? '' })).items.map(({ id }) => id)).to.deep.equal([c?.id]);
    expect((await list(member, { kind: 'new-episode' })).items).to.have.length(0);
    for (const body of [{}, { ids: [newId()], upTo: newId() }, { ids: [] }])
      expect((await api.as(member).markNotificationsRead({ body })).status).to.equal(400);
  });

  it('reads up to one that became part of a newer one since the list was drawn', async () => {
    const [member, other] = [await api.given.member(), await api.given.member()];
    const joined = { ...shared(member, 'joined'), mergeKey: 'joined' };
    await send(shared(member, 'before'));
    await send(joined);
    const [top] = (await list(member)).items;
    await send(joined);
    const upTo = top?.id ?? '';
    expect((await api.as(other).markNotificationsRead({ body: { upTo } })).body).to.include({ changed: 0 });
    const { body } = await api.as(member).markNotificationsRead({ body: { upTo } });
    expect(body).to.deep.equal({ changed: 1, unreadCount: 1 });
    expect((await list(member, { unread: true })).items.map(({ count }) => count)).to.deep.equal([2]);
  });

  it('deletes own ones, again without an error, and never those of others', async () => {
    const [member, other] = [await api.given.member(), await api.given.member()];
    await send(shared(member));
    const id = (await list(member)).items[0]?.id ?? '';
    const remove = async (by: Person) => (await api.as(by).deleteNotification({ params: { id } })).status;
    expect(await remove(other)).to.equal(404);
    expect(await remove(member)).to.equal(204);
    expect(await remove(member)).to.equal(204);
    expect(await remove(other)).to.equal(404);
    expect(await list(member)).to.deep.include({ items: [], unreadCount: 0 });
  });

  it('keeps preferences as one document, rejects those that must stay on, and holds from the next one', async () => {
    const member = await api.given.member();
    const off = { inApp: false, push: false, email: 'off' };
    const put = (body: object) => api.as(member).setNotificationPreferences({ body });
    expect((await put({ kinds: { 'sign-in-new-device': off } })).status).to.equal(400);
    expect((await put({ kinds: { 'no-such-kind': off } })).status).to.equal(400);
    expect((await put({ kinds: {}, quiet: { from: '24:00', to: '07:00' } })).status).to.equal(400);
    const muted = { libraryIds: [], itemIds: [], userIds: [newId()] };
    const saved = await put({ kinds: { 'playlist-shared': off }, muted });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect(saved.body.kinds).to.deep.equal({ 'playlist-shared': off });
    const form = (await api.as(member).getNotificationPreferences()).body;
    expect(form.kinds['playlist-shared']).to.include(off);
    expect(form.kinds['sign-in-new-device']?.fixed).to.deep.equal({ inApp: true, push: false, email: false });
    expect(form.kinds).to.not.have.property('disk-low');
    expect(form.available).to.deep.equal({ push: false, email: false });
    await send(shared(member));
    expect((await list(member)).items).to.have.length(0);
    await send({
      kind: 'friend-request',
      to: { accountIds: [member.accountId] },
      actorId: muted.userIds[0] ?? '',
      data: { name: 'x' },
    }).catch(() => undefined);
    expect((await list(member)).items).to.have.length(0);
  });

  it('has fewer kinds for a member than for an admin', async () => {
    const kinds = async (person: Person) =>
      Object.keys((await api.as(person).getNotificationPreferences()).body.kinds).length;
    expect(await kinds(await api.given.member())).to.equal(31);
    expect(await kinds(await api.given.owner())).to.equal(54);
  });

  it('honours quiet hours over midnight in a time zone, pauses, and exceptions', () => {
    const quiet = { from: '22:00', to: '07:00', days: [], urgentThrough: true };
    const at = (iso: string, preferences: object, urgent = false) =>
      heldUntil(
        { ...noPreferences, ...preferences },
        { now: new Date(iso), zone: 'Europe/Vienna', urgent },
      )?.toISOString();
    expect(at('2026-11-21T20:59:59Z', { quiet })).to.equal(undefined);
    expect(at('2026-11-21T21:00:00Z', { quiet })).to.equal('2026-11-22T06:00:00.000Z');
    expect(at('2026-11-22T05:59:00Z', { quiet })).to.equal('2026-11-22T06:00:00.000Z');
    expect(at('2026-11-22T06:00:00Z', { quiet })).to.equal(undefined);
    expect(at('2026-03-28T22:00:00Z', { quiet }), 'summer time begins').to.equal('2026-03-29T05:00:00.000Z');
    expect(at('2026-10-24T21:00:00Z', { quiet }), 'and ends').to.equal('2026-10-25T06:00:00.000Z');
    expect(at('2026-11-21T22:00:00Z', { quiet }, true)).to.equal(undefined);
    expect(at('2026-11-21T22:00:00Z', { quiet: { ...quiet, urgentThrough: false } }, true)).to.equal(
      '2026-11-22T06:00:00.000Z',
    );
    expect(at('2026-11-22T02:00:00Z', { quiet: { ...quiet, days: ['sun'] } })).to.equal(undefined);
    expect(at('2026-11-22T02:00:00Z', { quiet: { ...quiet, days: ['sat'] } })).to.equal('2026-11-22T06:00:00.000Z');
    const pausedUntil = '2026-11-23T00:00:00Z';
    expect(at('2026-11-22T12:00:00Z', { pausedUntil })).to.equal('2026-11-23T00:00:00.000Z');
    expect(at('2026-11-22T12:00:00Z', { pausedUntil, quiet }), 'a pause that ends in quiet hours').to.equal(
      '2026-11-23T06:00:00.000Z',
    );
  });

  it('takes the time zone of the server for a profile that has none', async () => {
    const { db } = api.deps;
    const [member, unavailable] = [
      await api.given.member(),
      await api.given.person('member', { time_zone: 'Asia/Tokyo' }),
    ];
    const zones = async () =>
      (await seers(db, [member.profileId, unavailable.profileId], { kind: 'friend-request' }))
        .map(({ zone }) => zone)
        .sort();
    expect(await zones()).to.deep.equal(['Asia/Tokyo', 'UTC']);
    await db('settings').insert({ key: 'server.timeZone', value: '"Europe/Vienna"' });
    await api.deps.settings.reload();
    expect(await zones()).to.deep.equal(['Asia/Tokyo', 'Europe/Vienna']);
  });

  it('sweeps read ones after 30 days, unread after 90, and those beyond 1,000', async () => {
    const member = await api.given.member();
    const add = (count: number, days: number, read: boolean) =>
      api.deps.db.raw(
        `insert into notifications (id, profile_id, kind, level, merge_key, created_at, read_at)
         select gen_random_uuid(), ?, 'friend-request', 'info', 'k', now() - make_interval(days => ?), case when ? then now() end
         from generate_series(1, ?::int)`,
        [member.profileId, days, read, count],
      );
    await add(3, 31, true);
    await add(3, 89, false);
    await add(3, 91, false);
    await sweep(api.deps.db);
    const left = () => api.deps.db('notifications').where({ profile_id: member.profileId });
    expect(await left()).to.have.length(3);
    await add(600, 1, true);
    await add(600, 2, false);
    await sweep(api.deps.db);
    expect(await left()).to.have.length(1000);
    expect(await left().whereNull('read_at')).to.have.length(603);
    expect(await list(member, { limit: 1 })).to.include({ unreadCount: 603 });
  });
});
