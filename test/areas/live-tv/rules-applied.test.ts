import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { startApi, type TestClient } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { minute, type Show } from '../../workers/live/support.ts';
import { GIB, RecordingPlace, refusal } from './recording-place.ts';
import { episode, REPEAT, RuleRequests } from './rule-requests.ts';

const two = 'two.example';
/** Episode 1 twice, 2 on both channels at one time with a repeat, 3 only while Football is on, and 4 as a repeat. */
const SHOWS: Show[] = [
  { at: 120, title: 'Harbour', more: episode(1, 1) },
  { at: 240, title: 'Harbour', more: episode(1, 2) },
  { at: 480, title: 'Harbour', more: episode(1, 3) },
  { at: 600, title: 'Harbour', more: episode(1, 4, REPEAT) },
  { at: 720, title: 'Harbour Lights', more: '<category>Documentary</category>' },
  { channel: two, at: 240, title: 'Other' },
  { channel: two, at: 360, title: 'Harbour', more: episode(1, 1) },
  { channel: two, at: 480, title: 'Football', more: '<category>Sports</category>' },
  { channel: two, at: 840, title: 'Harbour', more: episode(1, 2) },
  { channel: 'coded.example', at: 960, title: 'Harbour', more: episode(1, 5) },
];
const SERIES = 'series:eq:title\\:harbour';
/** Of RFC 8037. */
const VERIFIER = '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}';

describe('recording rules, applied', function () {
  this.timeout(60_000);
  let place: RecordingPlace;
  let rules: RuleRequests;
  before(async () => {
    place = await RecordingPlace.open(SHOWS);
    rules = new RuleRequests(place);
  });
  afterEach(() => rules.clear());

  it('records each new episode of a series once, at its first airing, and says why it leaves others out', async () => {
    const { rule, upcoming, skipped } = await rules.made({ programId: await place.program('Harbour') });
    expect(rule).to.deep.include({
      ...{ name: 'Harbour', enabled: true, match: SERIES, channelIds: [], newOnly: true, skipOwned: true, days: [] },
      ...{ startPadMs: 60_000, endPadMs: 180_000, priority: 50, maxUpcoming: 50, libraryId: place.guide.library.id },
      ...{ ownerUserId: place.person.accountId, mine: true, upcoming: 3, conflicts: 0, recorded: 0 },
    });
    expect(rule).to.not.have.any.keys('from', 'to', 'keepLast', 'keepDays');
    expect(upcoming.map(({ channelName, episodeNumber, state }) => [channelName, episodeNumber, state])).to.deep.equal([
      ['One', 1, 'scheduled'],
      ['One', 2, 'scheduled'],
      ['One', 3, 'scheduled'],
    ]);
    expect(upcoming[0]).to.include({ ruleId: rule.id, mine: true, folderId: place.guide.library.folderId });
    expect(await rules.leftOut(skipped)).to.deep.equal([
      'Harbour 1 at 360: duplicate',
      'Harbour 2 at 840: duplicate',
      'Harbour 4 at 600: repeat',
    ]);
    const before = await place.db('recordings').select('*');
    await rules.plan();
    expect(await place.db('recordings').select('*'), 'the job changes nothing').to.deep.equal(before);
    const admin = await rules.made({ match: 'title:eq:harbour;kind:eq:series', newOnly: false }, place.guide.admin);
    expect(admin.rule).to.include({ name: 'harbour', mine: true });
    expect(await rules.leftOut(admin.skipped)).to.include('Harbour 3 at 480: duplicate');
    expect(
      admin.upcoming.map(({ episodeNumber }) => episodeNumber),
      'the encrypted channel has 5',
    ).to.deep.equal([4]);
  });

  it('takes the first airing that gets a slot, another one when it loses it, and a conflict where there is none', async () => {
    await place.made('Other', { priority: 60 });
    await place.made('Football', { priority: 60 });
    const { rule, upcoming } = await rules.made({ match: SERIES });
    expect(await rules.planned()).to.deep.equal([
      ['One', 120, 'Harbour', 'scheduled'],
      ['Two', 240, 'Other', 'scheduled'],
      ['One', 480, 'Harbour', 'conflict'],
      ['Two', 480, 'Football', 'scheduled'],
      ['Two', 840, 'Harbour', 'scheduled'],
    ]);
    expect([rule.upcoming, rule.conflicts]).to.deep.equal([3, 1]);
    const first = upcoming.find(({ episodeNumber }) => episodeNumber === 1);
    const timed = { startAt: minute(120).toISOString(), endAt: minute(180).toISOString(), priority: 90 };
    const hand = await place.record({ channelId: place.channels['Two'], ...timed });
    expect((await place.read(first?.id ?? '')).state).to.equal('conflict');
    await rules.plan();
    expect(await place.read(first?.id ?? ''), 'the same recording').to.include({
      state: 'scheduled',
      channelName: 'Two',
    });
    await place.drop(hand.body.id);
    await rules.plan();
    expect(await place.read(first?.id ?? '')).to.include({ channelName: 'One', startAt: minute(120).toISOString() });
    expect((await rules.read(rule.id)).rule).to.include({ upcoming: 3, conflicts: 1 });
  });

  it('leaves out episodes that were recorded or are in a library, takes failed and partial ones again, and no airing that a person cancelled', async () => {
    const shows = await givenLibrary(place.db, 'shows');
    const { db } = place;
    const show = await givenItem(db, shows, { type: 'show', title: 'Harbour' });
    const season = await givenItem(db, shows, { type: 'season', parent_id: show, index_number: 1 });
    const owned = await givenItem(db, shows, {
      ...{ type: 'episode', parent_id: season, grandparent_id: show, index_number: 3, parent_index: 1 },
    });
    const { rule } = await rules.made({ match: SERIES });
    const [first, second] = await db('recordings').where({ rule_id: rule.id }).orderBy('start_at').select('id');
    await place.drop(first.id);
    await place.set(second.id, { state: 'partial', state_reason: 'gaps' });
    await rules.plan();
    expect(await rules.planned(), 'the second airings').to.deep.equal([
      ['Two', 360, 'Harbour', 'scheduled'],
      ['Two', 840, 'Harbour', 'scheduled'],
    ]);
    // The file of a partial recording is no reason, but that of another one is.
    await place.set(second.id, { item_id: owned });
    await rules.plan();
    expect((await rules.planned()).map(([, at]) => at)).to.deep.equal([360, 480, 840]);
    await place.set(second.id, { state: 'completed', item_id: null });
    await rules.plan();
    expect(
      (await rules.planned()).map(([, at]) => at),
      'recorded, and in a library',
    ).to.deep.equal([360]);
    const again = await rules.changed(rule.id, { skipOwned: false });
    expect(await rules.planned(), 'an episode that the rule recorded is not taken again').to.deep.equal([
      ['Two', 360, 'Harbour', 'scheduled'],
      ['One', 480, 'Harbour', 'scheduled'],
    ]);
    expect(await rules.leftOut(again.skipped)).to.include('Harbour 2 at 840: duplicate');
    await db('items').whereIn('id', [owned, season, show]).update({ trashed_at: new Date() });
    await place.db('libraries').where({ id: shows.id }).delete();
  });

  it('takes an airing that another account cancelled', async () => {
    const other = place.guide.api.as(await place.guide.api.given.member());
    await place.drop((await place.made('Harbour', {}, other)).id, {}, other);
    await rules.made({ match: SERIES });
    expect((await rules.planned())[0]).to.deep.equal(['One', 120, 'Harbour', 'scheduled']);
  });

  it('plans no more than the rule and the account may have', async () => {
    const { rule, skipped } = await rules.made({ match: SERIES, newOnly: false, maxUpcoming: 2 });
    expect((await rules.planned()).map(([, at]) => at)).to.deep.equal([120, 240]);
    expect(await rules.leftOut(skipped)).to.deep.equal([
      ...['Harbour 1 at 360: duplicate', 'Harbour 2 at 840: duplicate'],
      ...['Harbour 3 at 480: limit', 'Harbour 4 at 600: limit'],
    ]);
    await place.made('Football');
    const row = await place.db('recordings').where({ rule_id: null }).first();
    const { id: _id, conflict: _conflict, ...copy } = row;
    const rows = Array.from({ length: 497 }, () => ({ ...copy, id: newId(), program_id: null, gaps: '[]' }));
    await place.db('recordings').insert(rows.map((one) => ({ ...one, start_at: minute(9000), end_at: minute(9060) })));
    await rules.changed(rule.id, { maxUpcoming: 50 });
    const own = await place.db('recordings').where({ rule_id: rule.id });
    expect(own.length, '500 in all').to.equal(2);
    const [{ id }] = await place.db('recording_rules').select('id');
    const { id: _rule, ...columns } = await place.db('recording_rules').where({ id }).first();
    await place.db('recording_rules').insert(Array.from({ length: 99 }, () => ({ ...columns, id: newId() })));
    expect(refusal(await rules.create({ match: SERIES }))).to.deep.equal([409, 'rule-limit']);
    expect((await rules.create({ match: SERIES, dryRun: true })).status).to.equal(200);
    const { rule: passed } = await rules.made({ match: SERIES }, place.guide.admin);
    const toOwn = { ownerUserId: place.person.accountId };
    expect(refusal(await rules.change(passed.id, toOwn, place.guide.admin))).to.deep.equal([409, 'rule-limit']);
    await rules.changed(rule.id, toOwn, place.guide.admin);
  });

  it('keeps its planned recordings as they are while the licence has lapsed', async () => {
    const { rule } = await rules.made({ match: SERIES });
    const before = await place.db('recordings').select('*').orderBy('id');
    const { databaseUrl, keysFile } = place.guide.api.config;
    const lapsed = await startApi({
      ...{ FOYER_DATABASE_URL: databaseUrl, FOYER_KEYS_FILE: keysFile, FOYER_PLUS_VERIFIER: VERIFIER },
    });
    const member = lapsed.as(place.person);
    expect((await rules.create({ match: SERIES }, member)).status).to.equal(402);
    const { upcoming } = await rules.changed(rule.id, { maxUpcoming: 1, newOnly: false, priority: 9 }, member);
    expect(upcoming).to.have.length(3);
    expect(await place.db('recordings').select('*').orderBy('id')).to.deep.equal(before);
    await rules.changed(rule.id, { enabled: false }, member);
    expect(await rules.planned()).to.deep.equal([]);
  });

  it('shows in a dry run the next two weeks with all conflicts, and saves nothing', async () => {
    await place.made('Football');
    const far = [...SHOWS, { at: 20 * 1440, title: 'Harbour', more: episode(1, 9) }];
    await place.show(far);
    const before = await place.db('recordings').select('*');
    const tried = await rules.create({ match: SERIES, priority: 90, newOnly: false, dryRun: true });
    expect(tried.status).to.equal(200);
    expect(tried.body.rule).to.include({ upcoming: 4, conflicts: 0 });
    expect(tried.body.upcoming.map(({ title, state }) => `${title} ${state}`)).to.deep.equal([
      ...Array.from({ length: 4 }, () => 'Harbour scheduled'),
      'Football conflict',
    ]);
    expect([await place.db('recordings').select('*'), await rules.names()]).to.deep.equal([before, []]);
    expect(await place.db('notifications')).to.deep.equal([]);
    const { rule } = await rules.made({ match: SERIES });
    const edited = await rules.changed(rule.id, { newOnly: false, priority: 90, dryRun: true });
    expect(edited.upcoming.map(({ title, state }) => `${title} ${state}`)).to.include('Football conflict');
    expect((await rules.read(rule.id)).rule).to.include({ newOnly: true, priority: 50, upcoming: 3, conflicts: 1 });
    await place.show(SHOWS);
  });

  it('refuses a rule that is not one', async () => {
    const program = await place.program('Harbour');
    const wrong = [
      [{}, 400, 'one_of'],
      [{ programId: program, match: SERIES }, 400, 'one_of'],
      [{ programId: newId() }, 404, undefined],
      [{ match: 'is_new:eq:true' }, 400, 'too_wide'],
      [{ match: 'title:ne:Harbour' }, 400, 'too_wide'],
      [{ match: 'title:eq' }, 400, 'malformed'],
      [{ match: 'colour:eq:red;title:eq:x' }, 400, 'unknown_field'],
      [{ match: 'series:contains:harbour' }, 400, 'bad_operator'],
      [{ match: SERIES, channelIds: [newId()] }, 400, 'unknown_channel'],
      [{ match: SERIES, from: '20:00', to: '20:00' }, 400, 'out_of_range'],
      [{ match: SERIES, from: '24:00' }, 400, 'invalid_format'],
      [{ match: SERIES, days: ['someday'] }, 400, 'invalid_value'],
      [{ match: SERIES, libraryId: place.music.id }, 400, 'unknown_library'],
      [{ match: SERIES, folderId: place.music.folderId }, 400, 'unknown_folder'],
    ] as const;
    for (const [body, ...expected] of wrong)
      expect(refusal(await rules.create(body)), JSON.stringify(body)).to.deep.equal(expected);
    await place.storage({ capacity: JSON.stringify({ totalBytes: GIB, freeBytes: 1, at: new Date().toISOString() }) });
    expect(refusal(await rules.create({ match: SERIES }))).to.deep.equal([409, 'disk-full']);
    await place.storage({ capacity: null });
  });

  it('finds programmes by category, by part of a title and on channels, as rules say', async () => {
    const found = async (body: object): Promise<unknown[]> => {
      const { upcoming } = (await rules.create({ ...body, newOnly: false, dryRun: true })).body;
      return upcoming.map(({ title, channelName }) => `${title} on ${channelName}`);
    };
    expect(await found({ match: 'category:eq:documentary' })).to.deep.equal(['Harbour Lights on One']);
    expect(await found({ match: 'category:in:DOCUMENTARY,sports' })).to.have.length(2);
    expect(await found({ match: 'category:starts:docu;category:ne:sports' })).to.have.length(1);
    expect(await found({ match: 'title:contains:LIGHTS' })).to.deep.equal(['Harbour Lights on One']);
    const onTwo = { channelIds: [place.channels['Two']] };
    expect(await found({ match: 'title:starts:harb', ...onTwo })).to.deep.equal(['Harbour on Two', 'Harbour on Two']);
    const { rule, upcoming } = await rules.made({ match: 'title:eq:harbour lights;recorded:eq:false' });
    await rules.plan();
    const kept = (await rules.read(rule.id)).upcoming.map(({ id }) => id);
    expect(kept, 'its own recording does not count').to.deep.equal(upcoming.map(({ id }) => id));
    expect(await found({ match: 'title:eq:harbour lights;recorded:eq:false' })).to.deep.equal([]);
  });

  it('runs with the rights that its owner has now', async () => {
    const { api } = place.guide;
    const { db } = place;
    const person = await api.given.member();
    const own = api.as(person);
    await rules.made({ match: SERIES }, own);
    const count = async (): Promise<number> => {
      await rules.plan();
      return (await rules.planned()).length;
    };
    const account = (row: object) => db('accounts').where({ id: person.accountId }).update(row);
    expect(await count()).to.equal(3);
    const losses: [object, object][] = [
      [{ restrictions: JSON.stringify({ record: 'deny' }) }, { restrictions: '{}' }],
      [{ restrictions: JSON.stringify({ liveTv: 'deny' }) }, { restrictions: '{}' }],
      [{ own_permissions: JSON.stringify({ 'download:own': false }) }, { own_permissions: '{}' }],
      [{ disabled: true }, { disabled: false }],
      [{ expires_at: minute(-120) }, { expires_at: null }],
      [{ hide_unrated: true }, { hide_unrated: false }],
    ];
    for (const [loss, gain] of losses) {
      await account(loss);
      expect(await count(), JSON.stringify(loss)).to.equal(0);
      await account(gain);
      expect(await count()).to.equal(3);
    }
    await db('libraries').where({ id: place.guide.library.id }).update({ everyone: false });
    expect(await count()).to.equal(0);
    await db('libraries').where({ id: place.guide.library.id }).update({ everyone: true });
    expect(await count()).to.equal(3);
    const denied = api.as(await api.given.person('member', { restrictions: JSON.stringify({ record: 'deny' }) }));
    const closed = api.as(await api.given.person('member', { restrictions: JSON.stringify({ liveTv: 'deny' }) }));
    const [{ id }] = await db('recording_rules').select('id');
    expect((await rules.create({ match: SERIES }, denied)).status).to.equal(403);
    expect((await denied.getRecordingRule({ params: { id } } as never)).status).to.equal(200);
    for (const answer of [
      await rules.create({ match: SERIES }, closed),
      await closed.listRecordingRules({}),
      await closed.getRecordingRule({ params: { id } } as never),
      await rules.change(id, {}, closed),
      await rules.drop(id, closed),
    ])
      expect(answer.status).to.equal(403);
    for (const client of [api.as(await api.given.child()), api.as(await api.given.guest())])
      expect([
        (await rules.create({ match: SERIES }, client)).status,
        (await rules.drop(id, client)).status,
      ]).to.deep.equal([403, 403]);
  });

  it('is shown to those who see its channels, and changed by its owner and those who manage libraries', async () => {
    const { api } = place.guide;
    const hidden = await givenLibrary(place.db, 'livetv', { everyone: false });
    const channel = await givenItem(place.db, hidden, { type: 'channel', title: 'Hidden' });
    await place.db('live_channels').insert({
      ...{ id: channel, library_id: hidden.id, number: '90', number_order: 90_000, name: 'Hidden' },
    });
    const all = (await rules.made({ match: SERIES, name: 'All', priority: 10 })).rule;
    await rules.made({ match: SERIES, name: 'One', channelIds: [place.channels['One']] });
    const secret = (await rules.made({ match: SERIES, name: 'Hidden', channelIds: [channel] }, place.guide.admin)).rule;
    const other = api.as(await api.given.member());
    expect(await rules.names(other)).to.deep.equal(['One', 'All']);
    expect(await rules.names(other, { sort: 'name' })).to.deep.equal(['All', 'One']);
    expect([await rules.names(other, { mine: true }), await rules.names(place.member, { mine: true })]).to.deep.equal([
      [],
      ['One', 'All'],
    ]);
    expect((await rules.names(place.guide.admin, { sort: '-createdAt' }))[0]).to.equal('Hidden');
    expect((await rules.read(all.id, other)).rule.mine).to.equal(false);
    const absent = (client: TestClient) => client.getRecordingRule({ params: { id: secret.id } } as never);
    expect([(await absent(other)).status, (await rules.change(secret.id, {}, other)).status]).to.deep.equal([404, 404]);
    expect([(await rules.change(all.id, {}, other)).status, (await rules.drop(all.id, other)).status]).to.deep.equal([
      403, 403,
    ]);
    const person = await api.given.member();
    expect((await rules.change(all.id, { ownerUserId: person.accountId })).status).to.equal(403);
    expect(refusal(await rules.change(all.id, { ownerUserId: newId() }, place.guide.admin))).to.deep.equal([
      400,
      'unknown_account',
    ]);
    const passed = await rules.changed(all.id, { ownerUserId: person.accountId, name: 'Passed' }, place.guide.admin);
    expect(passed.rule).to.include({ ownerUserId: person.accountId, mine: false, name: 'Passed' });
    const owners = await place.db('recordings').where({ rule_id: all.id }).distinct('account_id');
    expect(owners).to.deep.equal([{ account_id: person.accountId }]);
    await place.db('recording_rules').where({ id: all.id }).update({ account_id: null, enabled: false });
    expect(refusal(await rules.change(all.id, { enabled: true }, place.guide.admin))).to.deep.equal([409, 'no-owner']);
    await rules.changed(all.id, { enabled: true, ownerUserId: person.accountId }, place.guide.admin);
    await place.db('libraries').where({ id: hidden.id }).delete();
  });

  it('makes planned recordings again from the changed rule, but not those changed by hand or begun; switching off and deleting cancels', async () => {
    const { rule } = await rules.made({ match: SERIES, keepDays: 9, from: '00:00', to: '23:59' });
    const [first, second, third] = await place.db('recordings').where({ rule_id: rule.id }).orderBy('start_at');
    await place.change(first.id, { priority: 77, endPadMs: 0 });
    await place.set(second.id, { state: 'recording', started_at: new Date(), start_at: minute(-10) });
    const body = { priority: 33, startPadMs: 0, keepDays: null, from: null, to: null, libraryId: place.films.id };
    const changed = await rules.changed(rule.id, { ...body, keepLast: 4, name: 'Port' });
    expect(changed.rule).to.include({ priority: 33, startPadMs: 0, keepLast: 4, name: 'Port' });
    expect(changed.rule).to.not.have.any.keys('keepDays', 'from', 'to');
    const rows = await place.db('recordings').where({ rule_id: rule.id }).orderBy('created_at').orderBy('id');
    const valuesOf = (id: string): unknown[] => {
      const row = rows.find((one) => one.id === id);
      return [row.priority, row.start_pad_ms, row.end_pad_ms, row.keep_days, row.library_id];
    };
    const live = place.guide.library.id;
    expect([first, second, third].map(({ id }) => valuesOf(id))).to.deep.equal([
      [77, 60_000, 0, 9, live],
      [50, 60_000, 180_000, 9, live],
      [33, 0, 180_000, null, place.films.id],
    ]);
    expect(rows, 'neither is planned again').to.have.length(3);
    const narrow = await rules.changed(rule.id, { match: `${SERIES};year:eq:1900` });
    expect(narrow.upcoming.map(({ id }) => id).sort()).to.deep.equal(
      [first.id, second.id].toSorted((a, b) => (a < b ? -1 : 1)),
    );
    await rules.changed(rule.id, { match: SERIES, enabled: false });
    expect((await rules.read(rule.id)).upcoming.map(({ id }) => id)).to.deep.equal([second.id]);
    await rules.plan();
    expect((await rules.planned()).length, 'it stays off').to.equal(1);
    await rules.changed(rule.id, { enabled: true });
    expect((await rules.read(rule.id)).rule.upcoming).to.equal(3);
    await place.db('recordings').insert({
      ...third,
      ...{ id: newId(), state: 'completed', program_id: null, gaps: '[]', episode_key: 'other' },
    });
    expect((await rules.drop(rule.id)).status).to.equal(204);
    expect((await place.member.listRecordings({})).body.items.map(({ state }) => state).sort()).to.deep.equal([
      'completed',
      'recording',
    ]);
    expect((await rules.drop(rule.id)).status).to.equal(404);
  });
});
