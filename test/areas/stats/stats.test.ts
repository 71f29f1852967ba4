import { expect } from 'chai';
import fc from 'fast-check';
import { trimPlays } from '#areas/stats/public.ts';
import { named } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';
import { type PlayDraft, recordPlay } from '../../../api/areas/stats/plays.store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('Stats', () => {
  let api: Api;
  let owner: Person;
  let admin: TestClient;
  let person: Person;
  let me: TestClient;
  let films: GivenLibrary;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    admin = api.as(owner);
  });
  beforeEach(async () => {
    await api.deps.db.raw('truncate plays, play_sums, libraries cascade');
    films = await givenLibrary(api.deps.db, 'movies', { name: 'Films' });
    person = await api.given.member();
    me = api.as(person);
  });

  const film = (title = 'Film', more: object = {}) =>
    givenItem(api.deps.db, films, { title, runtime_ms: HOUR, ...more });
  const play = async (itemId: string, more: Partial<PlayDraft> & { ago?: number } = {}): Promise<void> => {
    const { ago = HOUR, playedMs = 10 * MINUTE, ...given } = more;
    const startedAt = given.startedAt ?? new Date(Date.now() - ago);
    await recordPlay(api.deps.db, {
      ...{ profileId: person.profileId, itemId, playedMs, completed: false, method: 'direct_play', source: 'playback' },
      ...{ client: 'Tester', ...given, startedAt, endedAt: given.endedAt ?? new Date(startedAt.getTime() + playedMs) },
    });
  };
  const titles = async (by: TestClient, query: object = {}) =>
    (await by.listHistory({ query: query as never })).body.items.map(({ title }) => title);
  const sums = async () => (await api.deps.db('play_sums').sum('plays as n').first())?.n;
  const profile = (id: string, change: object) => api.deps.db('profiles').where({ id }).update(change);

  describe('the history', () => {
    it('gets an entry when a session stops that really played, and continues it after a short break', async () => {
      const id = await film();
      const session = async (seconds: number, began: number) => {
        const row = {
          ...{ id: newId(), account_id: person.accountId, profile_id: person.profileId, item_id: id, file_id: newId() },
          ...{
            library_id: films.id,
            method: 'transcode',
            decision: JSON.stringify({ reasons: ['video-codec'] }),
            url: '/x',
          },
          ...{
            duration_ms: HOUR,
            state: 'playing',
            played_ms: seconds * 1000,
            device_id: null as string | null,
          },
          ...{ started_at: new Date(Date.now() - began), last_report_at: new Date(), client_name: 'Tester' },
        };
        return row;
      };
      const start = async (seconds: number, began: number, deviceId: string) => {
        const row = await session(seconds, began);
        await api.deps.db('playback_sessions').insert({ ...row, device_id: deviceId } as never);
        await me.endPlaybackSession({ params: { id: row.id } });
      };
      const device = newId();
      await start(30, 3 * HOUR, device);
      expect(await titles(me)).to.deep.equal([]);
      await start(90, HOUR, device);
      await start(120, 2 * MINUTE, device);
      const [entry, ...others] = (await me.listHistory()).body.items;
      expect(others).to.deep.equal([]);
      expect(entry).to.deep.include({ title: 'Film', type: 'movie', method: 'transcode', reasons: ['video-codec'] });
      expect(entry?.playedMs).to.be.within(210_000, 220_000);
      expect(await sums()).to.equal(1);
    });

    it('counts from a minute, a track from 30 seconds or half, and nothing without keepHistory', async () => {
      const id = await film();
      await play(id, { playedMs: MINUTE - 1 });
      const music = await givenLibrary(api.deps.db, 'music');
      const track = await givenItem(api.deps.db, music, { type: 'track', title: 'Song', runtime_ms: 40_000 });
      await play(track, { playedMs: 19_000, durationMs: 40_000 });
      expect(await titles(me)).to.deep.equal([]);
      await play(track, { playedMs: 20_000, durationMs: 40_000 });
      await profile(person.profileId, { keep_history: false });
      await play(id);
      expect(await titles(me)).to.deep.equal(['Song']);
    });

    it('is shown by the caller: own, children, adults by the setting, and private profiles to themselves', async () => {
      const id = await film();
      const child = await api.given.child();
      const shy = await api.given.member();
      await play(id);
      await play(id, { profileId: child.profileId });
      await play(id, { profileId: shy.profileId });
      await profile(shy.profileId, { private: true });
      const seen = async (by: TestClient, query: object) => {
        const answer = await by.listHistory({ query: query as never });
        return answer.status === 200 ? answer.body.items.map(({ userId }) => userId) : answer.status;
      };
      expect(await seen(admin, { userId: 'all' })).to.have.members([person.accountId, child.accountId]);
      expect(await seen(admin, { userId: shy.accountId })).to.deep.equal([]);
      expect(await seen(api.as(shy), {})).to.deep.equal([shy.accountId]);
      for (const query of [{ userId: 'all' }, { userId: child.accountId }, { profileId: child.profileId }])
        expect(await seen(me, query)).to.equal(403);
      const off = await admin.updateSettings({ body: { values: { 'stats.adminsSeeHistory': false } } });
      expect(off.status, JSON.stringify(off.body)).to.equal(200);
      await api.deps.settings.reload();
      expect(await seen(admin, { userId: 'all' })).to.deep.equal([child.accountId]);
      await admin.updateSettings({ body: { values: { 'stats.adminsSeeHistory': true } } });
      await api.deps.settings.reload();
    });

    it('leaves hidden items out, keeps the titles of deleted ones, and filters', async () => {
      const [a, b, c] = [await film('Seen'), await film('Too old', { age_years: 18 }), await film('Gone')];
      const show = await givenShow(api.deps.db, await givenLibrary(api.deps.db, 'shows'), {
        title: 'Show',
        seasons: 1,
        episodes: 1,
      });
      const child = await api.given.child();
      await api.deps.db('accounts').where({ id: child.accountId }).update({ age_limit: 12 });
      for (const id of [a, b, c])
        await play(id, { profileId: child.profileId, method: id === a ? 'transcode' : 'offline' });
      const episode = await api.deps.db('items').where({ type: 'episode' }).first('id');
      await play(episode?.id ?? '', { ago: 2 * HOUR, completed: true });
      await api.deps.db('items').where({ id: c }).delete();
      expect(await titles(api.as(child))).to.have.members(['Seen', 'Gone']);
      expect(await titles(admin, { userId: child.accountId, method: 'transcode' })).to.deep.equal(['Seen']);
      expect(await titles(admin, { userId: child.accountId, q: 'OLD' })).to.deep.equal(['Too old']);
      expect(await titles(me, { itemId: show.id, completed: true })).to.have.length(1);
      expect((await me.listHistory({ query: { itemId: show.id } })).body.items[0]?.parentTitle).to.equal('Show');
      expect(await titles(admin, { userId: 'all', sort: 'title', limit: 2 })).to.have.length(2);
    });

    it('is a CSV on request, in which formulas are text', async () => {
      await play(await film('=cmd|x,"y"'));
      const answer = await api.fetch('/api/v1/stats/history', { headers: { ...person.headers, accept: 'text/csv' } });
      expect(answer.headers.get('content-type')).to.include('text/csv');
      const lines = (await answer.text()).split('\r\n');
      expect(lines[0]).to.match(/^startedAt,endedAt,title/);
      expect(lines[1]).to.include(`"'=cmd|x,""y""",`);
    });

    it('is deleted by its own person alone, by one selection; sums keep the figures without the person', async () => {
      const [a, b] = [await film('A'), await film('B')];
      const other = await api.given.member();
      for (const id of [a, b]) await play(id);
      await play(a, { profileId: other.profileId });
      const [entry] = (await me.listHistory({ query: { itemId: a } })).body.items;
      for (const query of [{}, { all: false }, { ids: entry?.id, all: true }])
        expect((await me.deleteHistory({ query: query as never })).status).to.equal(400);
      expect((await api.as(other).deleteHistory({ query: { ids: entry?.id as never } })).status).to.equal(204);
      expect(await titles(me)).to.have.members(['A', 'B']);
      expect((await me.deleteHistory({ query: { itemId: a } })).status).to.equal(204);
      expect(await titles(me)).to.deep.equal(['B']);
      expect((await admin.getStats({ query: { scope: 'server' } })).body.totals).to.include({ plays: 3, users: 2 });
      expect((await me.getStats()).body.totals).to.include({ plays: 1, items: 1 });
      const child = await api.given.child();
      await play(a, { profileId: child.profileId });
      expect((await api.as(child).deleteHistory({ query: { all: true } })).status).to.equal(403);
      expect((await me.deleteHistory({ query: { all: true, userId: child.accountId } })).status).to.equal(403);
      expect((await admin.deleteHistory({ query: { all: true, userId: other.accountId } })).status).to.equal(404);
      expect((await admin.deleteHistory({ query: { all: true, userId: child.accountId } })).status).to.equal(204);
      expect(await sums()).to.equal(4);
    });

    it('loses old entries and addresses by its days, and a deleted person leaves figures alone', async () => {
      const id = await film();
      await play(id, { ago: 40 * DAY, address: '192.0.2.1' });
      await play(id, { ago: DAY, address: '192.0.2.2' });
      const addresses = async () =>
        (await admin.listHistory({ query: { userId: 'all' } })).body.items.map(({ address }) => address);
      expect(await addresses()).to.deep.equal(['192.0.2.2', undefined]);
      await trimPlays(api.deps.db, 0);
      expect(await api.deps.db('plays').whereNotNull('address')).to.have.length(1);
      await trimPlays(api.deps.db, 30);
      expect([(await titles(me)).length, await sums()]).to.deep.equal([1, 2]);
      await api.deps.db('profiles').where({ id: person.profileId }).delete();
      expect(await api.deps.db('plays')).to.have.length(0);
      expect((await admin.getStats({ query: { scope: 'server' } })).body.totals).to.include({ plays: 1, users: 0 });
    });
  });

  describe('figures', () => {
    const at = (text: string) => new Date(text);
    const grouped = async (query: object, by = me) => {
      const answer = await by.getStats({ query: { top: 0, ...query } as never });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return Object.fromEntries(
        answer.body.groups.filter(({ figures }) => figures.plays > 0).map(({ key, figures }) => [key, figures.plays]),
      );
    };
    const live = (zone: string) => profile(person.profileId, { time_zone: zone });

    it('follow the days of the zone, through both clock changes and zones of a quarter of an hour', async () => {
      const id = await film();
      await live('Europe/Berlin');
      // 30 March 2025 has 23 hours in Berlin, 26 October 25.
      for (const time of [
        '2025-03-29T22:59:00Z',
        '2025-03-29T23:00:00Z',
        '2025-03-30T21:59:00Z',
        '2025-03-30T22:00:00Z',
      ])
        await play(id, { startedAt: at(time) });
      expect(await grouped({ from: '2025-03-29', to: '2025-03-31' })).to.deep.equal({
        '2025-03-29': 1,
        '2025-03-30': 2,
        '2025-03-31': 1,
      });
      for (const time of [
        '2025-10-25T22:00:00Z',
        '2025-10-26T00:30:00Z',
        '2025-10-26T01:30:00Z',
        '2025-10-26T22:59:00Z',
        '2025-10-26T23:00:00Z',
      ])
        await play(id, { startedAt: at(time) });
      expect(await grouped({ from: '2025-10-26', to: '2025-10-26' })).to.deep.equal({ '2025-10-26': 4 });
      expect((await grouped({ from: '2025-10-26', to: '2025-10-26', groupBy: 'hour' }))['02']).to.equal(2);
      await live('America/Havana'); // 2 November 2025 has two midnights, an hour apart
      for (const time of ['2025-11-02T03:59:00Z', '2025-11-02T04:30:00Z', '2025-11-02T05:30:00Z'])
        await play(id, { startedAt: at(time) });
      expect(await grouped({ from: '2025-11-01', to: '2025-11-02' })).to.deep.equal({
        '2025-11-01': 1,
        '2025-11-02': 2,
      });
      await live('Asia/Kathmandu'); // +05:45
      await play(id, { startedAt: at('2025-06-01T18:14:00Z') });
      await play(id, { startedAt: at('2025-06-01T18:15:00Z') });
      expect(await grouped({ from: '2025-06-01', to: '2025-06-02' })).to.deep.equal({
        '2025-06-01': 1,
        '2025-06-02': 1,
      });
    });

    it('list times without plays, and refuse spans that are reversed, later or too long', async () => {
      const { groups, range } = (await me.getStats()).body;
      expect([groups.length, groups.at(-1)?.key, groups[0]?.figures.plays]).to.deep.equal([30, range.to, 0]);
      const bad = async (query: object) =>
        errorOf(await me.getStats({ query: query as never })).details['issues'][0].code;
      expect(await bad({ from: '2025-02-02', to: '2025-02-01' })).to.equal('reversed');
      expect(await bad({ to: '2999-01-01' })).to.equal('too_late');
      expect(await bad({ from: '2020-01-01', to: '2025-01-01' })).to.equal('too_long');
      for (const [groupBy, n] of [
        ['hour', 24],
        ['weekday', 7],
        ['month', 2],
      ] as const)
        expect(
          (await me.getStats({ query: { groupBy, from: '2025-01-31', to: '2025-02-01' } })).body.groups,
        ).to.have.length(n);
    });

    it('need session:manage beyond the own profile, and name no one who is private', async () => {
      const id = await film();
      const shy = await api.given.member();
      await profile(shy.profileId, { private: true });
      await play(id);
      await play(id, { profileId: shy.profileId, method: 'transcode', isRemote: true });
      for (const query of [
        { scope: 'server' },
        { userId: shy.accountId },
        { include: 'content' },
        { include: 'delivery' },
      ])
        expect(errorOf(await me.getStats({ query: query as never })).details['permission']).to.equal('session:manage');
      const { body } = await admin.getStats({ query: { scope: 'server', groupBy: 'user', split: 'method' } });
      expect(body.totals).to.include({ plays: 2, users: 2, remotePlays: 1, transcodedPlays: 1 });
      expect(body.groups.map(({ key }) => key)).to.have.members([person.accountId, 'others']);
      expect(body.groups.flatMap(({ split }) => split?.map(({ key }) => key) ?? [])).to.have.members([
        'direct_play',
        'transcode',
      ]);
      expect(body.top?.users?.map((one) => one.id)).to.deep.equal([person.accountId]);
      expect((await admin.getStats({ query: { userId: shy.accountId } })).body.totals.plays).to.equal(0);
    });

    it('name the most played items, shows and artists, without hidden ones, and compare with the span before', async () => {
      const [a, b] = [await film('A'), await film('B')];
      await givenShow(api.deps.db, await givenLibrary(api.deps.db, 'shows'), {
        title: 'Show',
        seasons: 1,
        episodes: 2,
      });
      const episodes = await api.deps.db('items').where({ type: 'episode' }).select('id');
      await play(a, { playedMs: 20 * MINUTE });
      await play(b, { ago: 40 * DAY });
      for (const { id } of episodes) await play(id, { playedMs: 15 * MINUTE });
      const { body } = await me.getStats({ query: { include: 'previous' as never } });
      expect(body.top?.items[0]).to.deep.include({ id: a, title: 'A', plays: 1, playedMs: 20 * MINUTE });
      expect(body.top?.shows.map(({ title, plays }) => [title, plays])).to.deep.equal([['Show', 2]]);
      expect([body.totals.plays, body.previous?.plays]).to.deep.equal([3, 1]);
      const etag = (await me.getStats()).headers.get('etag') ?? '';
      expect((await me.getStats({ headers: { 'if-none-match': etag } })).status).to.equal(304);
    });

    it('show managers the content and its delivery', async () => {
      const id = await film();
      await film('Never');
      await play(id, { startedAt: new Date(Date.now() - HOUR), playedMs: 30 * MINUTE, reasons: ['audio-codec'] });
      await play(id, {
        startedAt: new Date(Date.now() - 50 * MINUTE),
        playedMs: 30 * MINUTE,
        profileId: owner.profileId,
      });
      const { body } = await admin.getStats({ query: { scope: 'server', include: 'content,delivery' as never } });
      expect(body.content?.items).to.deep.equal({ movie: 2 });
      expect(body.delivery).to.deep.include({ methods: { direct_play: 2, direct_stream: 0, transcode: 0 } });
      expect(body.delivery?.reasons).to.deep.equal([{ reason: 'audio-codec', plays: 1 }]);
      expect(body.delivery?.peak.streams).to.equal(2);
    });

    it('are always what the plays add up to, whatever is played, continued and deleted', async () => {
      const ids = [await film('A'), await film('B'), await film('C')];
      const people = [person, await api.given.member()];
      const device = newId();
      const start = Date.UTC(2025, 2, 29);
      const move = fc.record({
        what: fc.constantFrom('play', 'play', 'play', 'delete'),
        item: fc.integer({ min: 0, max: 2 }),
        who: fc.integer({ min: 0, max: 1 }),
        minutes: fc.integer({ min: 0, max: 3 * 24 * 60 }),
        played: fc.integer({ min: 1, max: 90 }),
        method: fc.constantFrom('direct_play', 'transcode'),
        again: fc.boolean(),
      });
      const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
      await fc.assert(
        fc.asyncProperty(
          fc.array(move, { minLength: 1, maxLength: 12 }),
          fc.constantFrom(...zones),
          async (moves, zone) => {
            await api.deps.db.raw('truncate plays, play_sums');
            for (const { what, item, who, minutes, played, method, again } of moves) {
              const profileId = people[who]?.profileId ?? '';
              const itemId = ids[item] ?? '';
              if (what === 'delete') await api.as(people[who] as Person).deleteHistory({ query: { itemId } });
              else
                await play(itemId, {
                  ...{ profileId, playedMs: played * MINUTE, startedAt: new Date(start + minutes * MINUTE) },
                  ...{ method: method as 'transcode', completed: again, deviceId: again ? device : null },
                });
            }
            await live(zone);
            const rows = await api.deps.db('plays').where({ profile_id: person.profileId });
            const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
            const expected: Record<string, [number, number, number]> = {};
            for (const row of rows) {
              const key = day.format(row.started_at);
              const one = expected[key] ?? [0, 0, 0];
              expected[key] = one;
              one[0] += 1;
              one[1] += row.played_ms;
              one[2] += row.completed ? 1 : 0;
            }
            const { groups } = (await me.getStats({ query: { from: '2025-03-27', to: '2025-04-03', top: 0 } })).body;
            const found = groups
              .filter(({ figures }) => figures.plays > 0)
              .map(({ key, figures: { plays, playedMs, completed } }) => [key, [plays, playedMs, completed]]);
            expect(Object.fromEntries(found)).to.deep.equal(expected);
          },
        ),
        { numRuns: 25 },
      );
    });
  });

  it('walk an index for a page of the own history, and for that of the server', async () => {
    const { db } = api.deps;
    await db.raw(
      `insert into plays (id, profile_id, account_id, item_id, library_id, title, type, started_at, ended_at, played_ms, method, source)
        select gen_random_uuid(), ?, ?, gen_random_uuid(), ?, 'x', 'movie', now() - n * interval '1 minute', now(), 1, 'direct_play', 'playback'
          from generate_series(1, 20000) n`,
      [person.profileId, person.accountId, films.id],
    );
    await db.raw('analyze plays');
    const pages: { sql: string; bindings: unknown[] }[] = [];
    const listen = (one: { sql: string; bindings: unknown[] }): void =>
      void (one.sql.includes('as segment') && pages.push(one));
    db.on('query', listen);
    await me.listHistory({ query: { limit: 20 } });
    await admin.listHistory({ query: { userId: 'all', limit: 20 } });
    db.off('query', listen);
    expect(pages).to.have.length(2);
    for (const { sql, bindings } of pages) {
      const rows = await named<{ 'QUERY PLAN': string }>(db, { name: '', text: `explain ${sql}`, values: bindings });
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan)
        .to.match(/Index Scan using plays_/)
        .and.to.not.match(/Seq Scan on plays/);
    }
  });
});
