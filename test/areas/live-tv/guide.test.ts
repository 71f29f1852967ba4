import { expect } from 'chai';
import { sendReminders } from '#workers/live/guide/keeper.ts';
import { type GuidePlaceForTests, guideOf, minute, newGuidePlace, type Show } from '../../workers/live/support.ts';

const episode = (number: string): string =>
  `<sub-title>Part</sub-title><episode-num system="xmltv_ns">${number}</episode-num>`;
const SHOWS: Show[] = [
  { at: -60, title: 'Morning' },
  { at: 0, title: 'Now' },
  { at: 60, title: 'Next', more: '<category>News</category><new/>' },
  {
    at: 120,
    title: 'Café Film',
    more: '<date>1950</date><category>Movie</category><star-rating><value>9/10</value></star-rating>',
  },
  { at: 240, title: 'Strong', more: '<rating><value>FSK 18</value></rating><desc>Secret</desc>' },
  { at: 600, title: 'Series', more: episode('0.4.') },
  { channel: 'two.example', at: 0, minutes: 120, title: 'Sport', more: '<category>Football</category><live/>' },
  { channel: 'two.example', at: 720, title: 'Series', more: episode('0.4.') },
  { channel: 'two.example', at: 780, title: '100% of it_' },
];

describe('the guide', function () {
  this.timeout(60_000);
  let place: GuidePlaceForTests;
  let source: string;
  const ids: Record<string, string> = {};
  before(async () => {
    place = await newGuidePlace();
    ids['one'] = await place.channel('2.9', { name: 'One', group_name: 'Home' });
    ids['two'] = await place.channel('2.10', { name: 'TWO HD' });
    ids['bare'] = await place.channel('3', { name: 'Without' });
    ids['off'] = await place.channel('4', { name: 'one', enabled: false });
    place.served.body = guideOf(SHOWS, ['one.example', 'two.example']);
    source = await place.source();
  });

  const asMember = async () => place.api.as(await place.api.given.member());
  const at = (minutes: number): string => minute(minutes).toISOString();
  const programOf = async (title: string): Promise<string> => {
    const { rows } = await place.api.deps.db.raw(
      'select p.id from guide_programs p join guide_titles t on t.id = p.title where t.text = ? order by p.start_at',
      [title],
    );
    return (rows as { id: string }[])[0]?.id ?? '';
  };
  const titles = async (query: object, client?: Awaited<ReturnType<typeof asMember>>): Promise<string[]> => {
    const answer = await (client ?? place.admin).listLivePrograms({ query } as never);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.items.map(({ title }) => title);
  };

  it('is found by the search of everything, for those who may watch live television and within their age limit', async () => {
    const { api } = place;
    const found = async (q: string, person: Parameters<typeof api.as>[0]): Promise<string[]> => {
      const { status, body } = await api.as(person).searchAll({ query: { q } });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.groups
        .filter(({ key }) => key === 'program')
        .flatMap(({ hits }) =>
          hits.map(({ kind, title, subtitle }) => [kind, title, subtitle].filter(Boolean).join(' ')),
        );
    };
    const member = await api.given.member();
    expect(await found('cafe fi', member)).to.deep.equal(['program Café Film']);
    expect(await found('series', member), 'the next of two airings').to.deep.equal(['program Series Part']);
    expect(await found('morning', member), 'it is over').to.deep.equal([]);
    expect(await found('strong', member)).to.deep.equal(['program Strong']);
    expect(await found('strong', await api.given.child())).to.deep.equal([]);
    expect(await found('cafe -film', member), 'an excluded word').to.deep.equal([]);
    const { db } = api.deps;
    let before = 'Strong';
    for (const [title, ...questions] of [
      ['Spider-Man', 'spider-man', 'spiderman', 'man spider'],
      ['Law & Order', 'law & order', 'law and order', 'order'],
      [`Grey's Anatomy`, `grey's anatomy`, 'greys'],
      ['Tatort: Borowski', 'tatort borowski'],
      ['S.W.A.T.', 's.w.a.t.', 'swat'],
      ['Rocky II', 'rocky 2'],
      ['東京物語の夜', '東京物語'],
    ]) {
      await db('guide_titles').where({ text: before }).update({ text: title });
      for (const q of questions) expect(await found(q, member), q).to.deep.equal([`program ${title}`]);
      before = title ?? '';
    }
    await db('guide_titles').where({ text: before }).update({ text: 'Strong' });
    const denied = await api.given.person('member', { restrictions: JSON.stringify({ liveTv: 'deny' }) });
    expect(await found('cafe', denied)).to.deep.equal([]);
  });

  it('is a page of channels by number with the programmes of the window, which a client that has it gets as 304', async () => {
    const query = { from: at(10), to: at(70) };
    const { body, headers } = await place.admin.getLiveGuide({ query } as never);
    expect([body.from, body.to]).to.deep.equal([at(0), at(90)]);
    expect(
      body.items.map(({ channel, programs }) => [channel.number, programs.map(({ title }) => title)]),
    ).to.deep.equal([
      ['2.9', ['Now', 'Next']],
      ['2.10', ['Sport']],
      ['3', []],
    ]);
    expect(body.items[0]?.channel.guide).to.deep.include({ guideSourceId: source, guideChannelId: 'one.example' });
    const none = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await place.admin.getLiveGuide({ query, headers: none } as never)).status).to.equal(304);
    const first = await place.admin.getLiveGuide({ query: { ...query, limit: 1 } } as never);
    const second = await place.admin.getLiveGuide({
      query: { ...query, limit: 1, cursor: first.body.page.cursor },
    } as never);
    expect(second.body.items.map(({ channel }) => channel.number)).to.deep.equal(['2.10']);
    const some = await place.admin.getLiveGuide({
      query: { filter: 'group:eq:home', channelIds: `${ids['one']},${ids['two']}` },
    } as never);
    expect(some.body.items.map(({ channel }) => channel.name)).to.deep.equal(['One']);
    for (const wrong of [
      { from: at(-3 * 1440) },
      { from: at(22 * 1440) },
      { from: at(0), to: at(1500) },
      { from: at(0), to: at(0) },
    ])
      expect((await place.admin.getLiveGuide({ query: wrong } as never)).status, JSON.stringify(wrong)).to.equal(400);
  });

  it('finds programmes by text, time, channel, series and filter', async () => {
    expect(await titles({ q: 'CAFE' })).to.deep.equal(['Café Film']);
    expect(await titles({ q: 'part' })).to.deep.equal(['Series', 'Series']);
    expect(await titles({ q: 'ca' })).to.deep.equal(['Café Film']);
    expect(await titles({ q: '0% of it_' })).to.deep.equal(['100% of it_']);
    expect(await titles({ q: '0%%of' })).to.deep.equal([]);
    expect((await titles({ from: at(10), to: at(70) })).toSorted()).to.deep.equal(['Next', 'Now', 'Sport']);
    expect(await titles({ channelId: ids['two'], from: at(130) })).to.deep.equal(['Series', '100% of it_']);
    expect(await titles({ seriesKey: 'title:series' })).to.have.lengthOf(2);
    expect(await titles({ filter: 'kind:eq:movie;year:lt:1960' })).to.deep.equal(['Café Film']);
    expect(await titles({ filter: 'category:eq:news' })).to.deep.equal(['Next']);
    expect(await titles({ filter: 'is_live:eq:true;on_air:eq:true' })).to.deep.equal(['Sport']);
    expect(await titles({ filter: 'group:eq:home;is_new:eq:true' })).to.deep.equal(['Next']);
    expect(await titles({ filter: 'favorite:eq:true' })).to.deep.equal([]);
    const week = { from: at(0), to: at(6 * 1440) };
    expect((await titles({ ...week, sort: '-starRating' }))[0]).to.equal('Café Film');
    expect((await titles({ ...week, sort: 'title', limit: 1 }))[0]).to.equal('100% of it_');
    const open = await place.admin.listLivePrograms({ query: { sort: 'title' } } as never);
    expect(open.status).to.equal(400);
  });

  it('knows the films and episodes that the libraries hold', async () => {
    const { db } = place.api.deps;
    const { givenItem, givenLibrary } = await import('#support/given-items.ts');
    const films = await givenLibrary(db, 'movies');
    const film = await givenItem(db, films, { title: 'Cafe film', year: 1951, top: true });
    const { body } = await place.admin.listLivePrograms({ query: { q: 'café' } } as never);
    expect(body.items[0]?.libraryItemId).to.equal(film);
    expect(await titles({ filter: 'owned:eq:true' })).to.deep.equal(['Café Film']);
    const shows = await givenLibrary(db, 'shows');
    const show = await givenItem(db, shows, { type: 'show', title: 'Series', top: true });
    const season = await givenItem(db, shows, { type: 'season', parent_id: show, index_number: 1 });
    const part = { type: 'episode', parent_id: season, grandparent_id: show, parent_index: 1, index_number: 5 };
    const held = await givenItem(db, shows, part);
    const series = await place.admin.listLivePrograms({ query: { seriesKey: 'title:series' } } as never);
    expect(series.body.items.map(({ libraryItemId }) => libraryItemId)).to.deep.equal([held, held]);
  });

  it('shows other airings of an episode, and only the times of a programme above the age limit', async () => {
    const { body } = await place.admin.getLiveProgram({ params: { id: await programOf('Series') } });
    expect(body.otherAirings.map(({ channelId }) => channelId)).to.deep.equal([ids['two']]);
    const child = place.api.as(await place.api.given.child(12));
    const strong = await programOf('Strong');
    const { body: hidden } = await child.getLiveProgram({ params: { id: strong } });
    expect(hidden.program).to.include({ title: 'Restricted', kind: 'other' }).and.not.have.property('description');
    const grid = await child.getLiveGuide({ query: { from: at(240), to: at(300), channelIds: ids['one'] ?? '' } });
    expect(grid.body.items[0]?.programs.map(({ title }) => title)).to.deep.equal(['Restricted']);
    expect(await titles({ q: 'strong' }, child)).to.deep.equal([]);
    expect(await titles({ q: 'strong' })).to.deep.equal(['Strong']);
    const refused = await child.setProgramReminder({ params: { id: strong }, body: {} });
    expect(refused.status).to.equal(403);
  });

  it('hides the channels that the caller does not see, with their programmes', async () => {
    const { db } = place.api.deps;
    await db('live_channels').where({ id: ids['two'] }).update({ drm: true });
    const member = await asMember();
    const { body } = await member.getLiveGuide({ query: {} });
    expect(body.items.map(({ channel }) => channel.name)).to.deep.equal(['One', 'Without']);
    expect(await titles({ q: 'sport' }, member)).to.deep.equal([]);
    expect((await member.getLiveProgram({ params: { id: await programOf('Sport') } })).status).to.equal(404);
    await db('live_channels').where({ id: ids['two'] }).update({ drm: false });
    const denied = await place.api.given.person('member', { restrictions: JSON.stringify({ liveTv: 'deny' }) });
    expect((await place.api.as(denied).getLiveGuide({ query: {} })).status).to.equal(403);
  });

  it('reminds once, at the time that follows the programme', async () => {
    const { db } = place.api.deps;
    const person = await place.api.given.member();
    const client = place.api.as(person);
    // it begins an hour from now at least, also where an hour ends during the test
    const program = await programOf('Café Film');
    const set = await client.setProgramReminder({ params: { id: program }, body: { leadMs: 60_000 } });
    expect(set.body).to.deep.equal({
      programId: program,
      remindAt: new Date(minute(120).getTime() - 60_000).toISOString(),
    });
    expect((await client.setProgramReminder({ params: { id: await programOf('Now') }, body: {} })).status).to.equal(
      409,
    );
    const { body } = await client.getLiveProgram({ params: { id: program } });
    expect(body.program.reminder).to.include({ leadMs: 60_000 });
    const sent = (): Promise<{ data: { name: string } }[]> =>
      db('notifications').where({ kind: 'live-reminder', profile_id: person.profileId });
    await sendReminders({ db: db as never });
    expect(await sent()).to.deep.equal([]);
    // the programme moves to the past half hour, so that it is due
    await db('guide_programs')
      .where({ id: program })
      .update({ start_at: new Date(Date.now() - 1000) });
    await Promise.all([sendReminders({ db: db as never }), sendReminders({ db: db as never })]);
    expect((await sent()).map(({ data }) => data.name)).to.deep.equal(['Café Film']);
    await db('guide_programs')
      .where({ id: program })
      .update({ start_at: minute(120) });
    await client.setProgramReminder({ params: { id: program }, body: {} });
    await client.removeProgramReminder({ params: { id: program } });
    expect(await db('program_reminders').where({ profile_id: person.profileId })).to.deep.equal([]);
  });

  it('leaves the programmes of a disabled source out at once and keeps its mappings', async () => {
    await place.admin.updateGuideSource({ params: { id: source }, body: { enabled: false } });
    const programs = async (): Promise<number> => {
      const { body } = await place.admin.getLiveGuide({ query: { from: at(0) } });
      return body.items.flatMap((row) => row.programs).length;
    };
    expect([await programs(), await titles({ q: 'sport' })]).to.deep.equal([0, []]);
    await place.admin.updateGuideSource({ params: { id: source }, body: { enabled: true } });
    expect(await programs()).to.be.greaterThan(0);
  });
});
