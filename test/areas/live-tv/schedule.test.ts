import { expect } from 'chai';
import type { Knex } from 'knex';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { keepScheduled } from '#workers/live/schedule/keeper.ts';
import { candidateRows } from '../../../api/areas/live-tv/rules/candidates.store.ts';
import { onlyInHours } from '../../../api/areas/live-tv/rules/hours.ts';
import { ownerOf } from '../../../api/areas/live-tv/rules/owner.ts';
import { minute, type Show } from '../../workers/live/support.ts';
import { RecordingPlace, refusal } from './recording-place.ts';
import { episode, RuleRequests } from './rule-requests.ts';

const two = 'two.example';
const SHOWS: Show[] = [
  { at: 0, minutes: 90, title: 'On air' },
  { at: 120, title: 'Harbour', more: episode(1, 1) },
  { at: 240, title: 'Harbour', more: episode(1, 2) },
  { at: 480, title: 'Daily' },
  { at: 720, title: 'Strong', more: '<rating><value>FSK 18</value></rating>' },
  { channel: two, at: 120, title: 'Football' },
  { channel: two, at: 600, title: 'Film', more: '<category>Movie</category>' },
];
const at = (title: string, minutes: number, more: Partial<Show> = {}): Show[] =>
  SHOWS.map((show) => (show.title === title ? { ...show, at: minutes, ...more } : show));

describe('the schedule of recordings', function () {
  this.timeout(60_000);
  let place: RecordingPlace;
  let rules: RuleRequests;
  before(async () => {
    place = await RecordingPlace.open(SHOWS);
    rules = new RuleRequests(place);
  });
  afterEach(async () => {
    await rules.clear();
    await place.show(SHOWS);
  });

  it('takes recordings along with programmes that move, and leaves those of programmes that go at their times', async () => {
    const daily = await place.made('Daily');
    const film = await place.made('Film', { endAt: undefined });
    await place.change(film.id, { endAt: minute(700).toISOString() });
    await rules.made({ match: 'title:eq:harbour' });
    await rules.show(
      at('Daily', 560, { minutes: 90 })
        .map((show) => (show.title === 'Film' ? { ...show, at: 660 } : show))
        .filter(({ title, at: start }) => title !== 'Harbour' || start === 240),
    );
    expect(await place.read(daily.id)).to.include({
      startAt: minute(560).toISOString(),
      endAt: minute(650).toISOString(),
    });
    expect(await place.read(film.id), 'its length was set by hand').to.include({
      startAt: minute(660).toISOString(),
      endAt: minute(760).toISOString(),
    });
    const gone = async (): Promise<unknown[]> => {
      const rows = await place.db('recordings').where({ title: 'Harbour' }).orderBy('start_at');
      return rows.map((row) => [row.start_at, row.state, row.state_reason]);
    };
    expect(await gone()).to.deep.equal([
      [minute(120), 'scheduled', 'programme-gone'],
      [minute(240), 'scheduled', null],
    ]);
    await rules.plan();
    expect(await gone(), 'of a rule too').to.have.length(2);
    await rules.show(SHOWS.map((show) => (show.at === 120 && show.title === 'Harbour' ? { ...show, at: 140 } : show)));
    expect(await gone(), 'it is back, 20 minutes later').to.deep.equal([
      [minute(140), 'scheduled', null],
      [minute(240), 'scheduled', null],
    ]);
  });

  it('keeps the times while a guide is off, and gives a rule its episode elsewhere', async () => {
    const { rule } = await rules.made({ match: 'title:eq:harbour' });
    const daily = await place.made('Daily');
    const ids = await place.db('recordings').orderBy('id').pluck('id');
    await place.db('guide_sources').where({ id: place.source }).update({ enabled: false });
    await rules.plan();
    const rows = await place.db('recordings').orderBy('id').select('id', 'state_reason');
    expect(rows).to.deep.equal(ids.map((id) => ({ id, state_reason: 'programme-gone' })));
    await place.db('guide_sources').where({ id: place.source }).update({ enabled: true });
    await rules.plan();
    expect((await place.db('recordings').whereNotNull('state_reason')).length).to.equal(0);
    const [first] = (await rules.read(rule.id)).upcoming;
    const later = SHOWS.filter((show) => show.at !== 120);
    await rules.show([...later, { at: 960, title: 'Harbour', more: episode(1, 1) }]);
    expect(await place.read(first?.id ?? ''), 'far from its old time').to.include({
      startAt: minute(960).toISOString(),
    });
    await rules.show(at('Daily', 480, { title: 'Daily Special' }));
    expect(await place.read(daily.id)).to.include({ title: 'Daily Special' });
    await place.made('On air');
    await place
      .db('recordings')
      .where({ title: 'On air' })
      .update({ state: 'recording', started_at: minute(0) });
    await rules.show(at('On air', 0, { minutes: 110 }));
    const running = await place.db('recordings').where({ title: 'On air' }).first();
    expect([running.start_at, running.end_at, running.planned_to]).to.deep.equal([minute(0), minute(110), minute(113)]);
  });

  it('is read by slots: shared streams, conflicts, and blocks without a title for those who may not see them', async () => {
    const harbour = await place.made('Harbour');
    const part = { startAt: minute(150).toISOString(), endAt: minute(200).toISOString() };
    const shared = (await place.record({ channelId: place.channels['One'], ...part })).body;
    const lost = await place.made('Football');
    const strong = await place.made('Strong', { priority: 70 });
    const read = async (query: object = {}, client = place.member) =>
      (await client.getRecordingSchedule({ query } as never)).body;
    const { items, slots, computedAt } = await read();
    expect(
      items.map(({ recording, slot, tunerId }) => [recording.id, slot, tunerId === place.tuner]),
    ).to.have.deep.members([
      [harbour.id, 0, true],
      [lost.id, undefined, false],
      [shared.id, 0, true],
      [strong.id, 0, true],
    ]);
    expect(items.find(({ recording }) => recording.id === harbour.id)?.sharedWith).to.deep.equal([shared.id]);
    expect(slots).to.deep.equal([{ tunerId: place.tuner, slotCount: 1 }]);
    expect(Date.parse(computedAt ?? '')).to.be.closeTo(Date.now(), 20_000);
    expect((await read({}, place.guide.admin)).slots[0]).to.include({ name: 'Roof' });
    expect((await read({ conflictsOnly: true })).items.map(({ recording }) => recording.id)).to.deep.equal([lost.id]);
    const window = { from: minute(600).toISOString(), to: minute(800).toISOString() };
    expect((await read(window)).items.map(({ recording }) => recording.id)).to.deep.equal([strong.id]);
    const { api } = place.guide;
    const [block] = (await read(window, api.as(await api.given.child(12)))).items;
    expect(block).to.include({ tunerId: place.tuner, slot: 0 });
    expect(block?.recording).to.deep.include({
      ...{ id: strong.id, title: '', channelName: '', state: 'scheduled', priority: 70, mine: false },
      libraryId: '00000000-0000-0000-0000-000000000000',
      ...{ startAt: minute(720).toISOString(), endAt: minute(780).toISOString() },
    });
    expect(block?.recording).to.not.have.any.keys('channelId', 'programId', 'ownerUserId', 'image', 'ruleId');
    const library = await givenLibrary(place.db, 'livetv');
    const hidden = await givenItem(place.db, library, { type: 'channel' });
    await place.db('live_channels').insert({
      ...{ id: hidden, library_id: library.id, number: '77', number_order: 77_000, name: 'Hidden' },
    });
    for (const query of [
      { to: minute(-60).toISOString() },
      { to: minute(22 * 1440).toISOString() },
      { from: minute(600).toISOString(), to: minute(500).toISOString() },
    ])
      expect(refusal(await place.member.getRecordingSchedule({ query } as never))).to.deep.equal([400, 'out_of_range']);
    const closed = api.as(await api.given.person('member', { restrictions: JSON.stringify({ liveTv: 'deny' }) }));
    expect((await closed.getRecordingSchedule({})).status).to.equal(403);
  });

  it('is made within seconds of a change, once', async () => {
    const { db } = place;
    const jobs = () => db('jobs').where({ kind: 'live.schedule' }).select('state');
    await db('jobs').where({ kind: 'live.schedule' }).delete();
    const stopping = new AbortController();
    const keeper = keepScheduled(place.guide.work(), stopping.signal);
    await db('recording_plan').update({ stale: true });
    expect(await jobs(), 'nothing to plan').to.deep.equal([]);
    await place.made('Daily');
    await eventually(async () => (await jobs()).length === 1, 5000);
    await rules.plan();
    await db('jobs').where({ kind: 'live.schedule' }).update({ state: 'completed' });
    const { stale } = await db('recording_plan').first();
    expect(stale).to.equal(false);
    await place.show(at('Daily', 500));
    await eventually(async () => (await jobs()).length === 2, 5000);
    await db('jobs').where({ kind: 'live.schedule' }).update({ state: 'completed' });
    await rules.plan();
    await db('recording_plan').update({ computed_at: minute(-120) });
    await eventually(async () => (await jobs()).length === 3, 5000);
    stopping.abort();
    await keeper;
  });

  it('knows hours by the clocks of the server, over midnight and on both days on which they change', async () => {
    const { db } = place;
    const zone = 'Europe/Berlin';
    const within = async (times: readonly string[], hours: [string[], string | null, string | null]) => {
      const [days, from, to] = hours;
      const query = db
        .from(db.raw(`(select unnest(?::timestamptz[]) as start_at) as p`, [[...times]]))
        .select('p.start_at')
        .orderBy('p.start_at') as unknown as Knex.QueryBuilder;
      onlyInHours(query, { days, from_time: from, to_time: to }, zone);
      return ((await query) as { start_at: Date }[]).map(({ start_at: start }) => start.toISOString().slice(5, 16));
    };
    // On 29 March 2026 the clocks go from 2:00 to 3:00, on 25 October from 3:00 back to 2:00.
    const spring = ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z', '2026-03-29T22:30Z'];
    expect(await within(spring, [[], '01:00', '02:59'])).to.deep.equal(['03-29T00:30']);
    expect(await within(spring, [['sun'], '03:00', '03:30'])).to.deep.equal(['03-29T01:00', '03-29T01:30']);
    const autumn = ['2026-10-24T23:30Z', '2026-10-25T00:30Z', '2026-10-25T01:30Z', '2026-10-25T02:00Z'];
    expect(await within(autumn, [[], '02:30', '02:30'])).to.deep.equal(['10-25T00:30', '10-25T01:30']);
    expect(await within(autumn, [['sun'], '02:00', null])).to.have.length(3);
    const night = ['2026-01-02T21:30Z', '2026-01-02T23:30Z', '2026-01-03T01:00Z', '2026-01-03T02:00Z'];
    expect(await within(night, [['fri'], '22:00', '02:00']), 'Friday night').to.deep.equal([
      '01-02T21:30',
      '01-02T23:30',
      '01-03T01:00',
    ]);
    expect(await within(night, [['sat'], '22:00', '02:00'])).to.deep.equal([]);
    expect(await within(night, [['sat'], null, '02:00'])).to.deep.equal(['01-02T23:30', '01-03T01:00']);
  });

  it('finds the programmes of a rule by an index, in one statement', async () => {
    const { db } = place;
    const { rule } = await rules.made({ match: 'title:eq:harbour' });
    const row = await db('recording_rules').where({ id: rule.id }).first();
    await db.raw(
      `insert into guide_titles (text) select 'Title ' || n from generate_series(1, 3000) n on conflict do nothing`,
    );
    await db.raw(
      `insert into guide_categories (text) select 'Kind ' || n from generate_series(1, 200) n on conflict do nothing`,
    );
    await db.raw(
      `insert into guide_programs (id, channel, start_at, end_at, title, kind, categories, series_key, hash)
       select gen_random_uuid(), (select id from guide_channels order by id limit 1),
              now() + interval '30 days' + n * interval '20 seconds', now() + interval '30 days' + (n + 1) * interval '20 seconds',
              (select id from guide_titles where text = 'Title ' || (1 + n % 3000)), 'other', array['Kind ' || (1 + n % 200)],
              'key ' || n % 3000, '' from generate_series(1, 60000) n`,
    );
    await db.raw(`update guide_programs set start_at = start_at - interval '29 days', end_at = end_at - interval '29 days'
      where start_at > now() + interval '29 days'`);
    for (const table of ['guide_programs', 'guide_titles', 'guide_categories']) await db.raw(`analyze ${table}`);
    const owner = await ownerOf(db, place.person.accountId);
    if (!owner) throw new Error('no owner');
    const keys = owner.channels.map(({ key }) => key);
    const expected: [string, string][] = [
      ['title:eq:Title 7', 'guide_programs_title'],
      ['title:in:Title 7,Title 8', 'guide_programs_title'],
      ['title:contains:itle 77', 'guide_programs_title'],
      ['series:eq:key 9', 'guide_programs_series'],
      ['category:eq:kind 9', 'guide_programs_categories'],
    ];
    for (const [match, index] of expected) {
      const query = candidateRows(db, { ...row, match }, { owner, keys, now: new Date(), timeZone: 'UTC' });
      const { sql, bindings } = query.toSQL();
      const { rows } = await db.raw(`explain (analyze, format json) ${sql}`, bindings as string[]);
      const text = JSON.stringify(rows);
      expect(text, match).to.include(index);
      expect(text, match).to.not.match(/"Seq Scan"[^}]*"guide_programs"/);
      expect(Number(/"Execution Time":([\d.]+)/.exec(text)?.[1]), match).to.be.below(500);
    }
    await db.raw(`delete from guide_programs where series_key like 'key %'`);
  });
});
