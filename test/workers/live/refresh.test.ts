import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { liveOutbound } from '#areas/live-tv/public.ts';
import { enqueueRefreshes } from '#workers/live/guide/keeper.ts';
import { createGuideRefresh } from '#workers/live/guide/refresh.ts';
import { trimLive } from '#workers/live/trim.ts';
import { type GuidePlaceForTests, guideOf, minute, newGuidePlace, type Show } from './support.ts';

interface Kept {
  id: string;
  title: string;
  start_at: Date;
  end_at: Date;
  version: string;
}

describe('refreshes of guides', function () {
  this.timeout(60_000);
  let place: GuidePlaceForTests;
  let source: string;
  before(async () => {
    place = await newGuidePlace();
    place.served.body = guideOf([{ at: 60, title: 'First' }]);
    source = await place.source();
  });

  const kept = async (): Promise<Kept[]> => {
    const { rows } = await place.api.deps.db.raw(
      `select p.id, t.text as title, p.start_at, p.end_at, p.xmin::text as version from guide_programs p
         join guide_channels c on c.id = p.channel join guide_titles t on t.id = p.title
        where c.source_id = ? order by c.guide_id, p.start_at`,
      [source],
    );
    return rows as Kept[];
  };
  const take = async (shows: readonly Show[], channels?: readonly string[]): Promise<Kept[]> => {
    place.served.body = guideOf(shows, channels);
    expect(await place.refresh(source)).to.equal(true);
    return kept();
  };
  const state = async () => {
    const { body } = await place.admin.listGuideSources();
    const found = body.items.find(({ id }) => id === source);
    if (!found) throw new Error('no source');
    return found;
  };

  it('keeps the id of an airing, also of one that moves, and writes no row that is the same', async () => {
    const before = await take([
      { at: 60, title: 'News' },
      { at: 120, title: 'Film' },
      { at: 240, title: 'Late' },
      { at: 300, title: 'Quiz' },
    ]);
    expect(before.map(({ title }) => title)).to.deep.equal(['News', 'Film', 'Late', 'Quiz']);
    const [news, film, late, quiz] = before as [Kept, Kept, Kept, Kept];
    // Film and Late move by an hour, so that Film starts where nothing did and Late where Quiz was; Quiz is replaced.
    const after = await take([
      { at: 60, title: 'News' },
      { at: 180, title: 'Film' },
      { at: 300, title: 'Late' },
      { at: 360, title: 'Sports' },
    ]);
    const idOf = (title: string): string | undefined => after.find((one) => one.title === title)?.id;
    expect([idOf('News'), idOf('Film'), idOf('Late')]).to.deep.equal([news.id, film.id, late.id]);
    expect(idOf('Sports')).to.not.be.oneOf([news.id, film.id, late.id, quiz.id]);
    expect(after[0]?.version, 'the same row is not written').to.equal(news.version);
    const renamed = await take([
      { at: 60, title: 'News at Eight' },
      { at: 180, title: 'Film' },
      { at: 300, title: 'Late' },
    ]);
    expect(renamed.map(({ id }) => id)).to.deep.equal([news.id, film.id, late.id]);
    const far = await take([{ at: 60 + 181, title: 'News at Eight' }]);
    expect(far[0]?.id, 'over three hours is another airing').to.not.equal(news.id);
  });

  it('sets missing ends, cuts overlaps, drops doubles and counts what cannot be read', async () => {
    const start = (at: number): string =>
      minute(at)
        .toISOString()
        .replaceAll(/[-:T]|\.000Z/g, '');
    place.served.body = `<tv><channel id="one.example"/>
      <programme start="${start(60)}" channel="one.example"><title>Open</title></programme>
      <programme start="${start(90)}" stop="${start(200)}" channel="one.example"><title>Long</title></programme>
      <programme start="${start(150)}" channel="one.example"><title>Last</title></programme>
      <programme start="${start(150)}" channel="one.example"><title>Twice</title></programme>
      <programme start="nonsense" channel="one.example"><title>X</title></programme>
      <programme start="${start(90)}" channel="two.example"><title>Other</title></programme></tv>`;
    await place.refresh(source);
    const minutes = (at: Date): number => (at.getTime() - minute(0).getTime()) / 60_000;
    expect(
      (await kept()).map(({ title, start_at: from, end_at: to }) => [title, minutes(from), minutes(to)]),
    ).to.deep.equal([
      ['Open', 60, 90],
      ['Long', 90, 150],
      ['Last', 150, 210],
      ['Other', 90, 150],
    ]);
    expect(await state()).to.deep.include({ state: 'ready', channels: 2, programs: 4, skippedEntries: 2 });
  });

  it('reads gzip, xz and Latin-1, moves by minutes and takes only the days that it is to', async () => {
    const shows = [
      { at: 60, title: 'Café' },
      { at: 3 * 24 * 60, title: 'Too far' },
    ];
    const text = guideOf(shows).replace('UTF-8', 'ISO-8859-1');
    const packed = {
      gzip: gzipSync(Buffer.from(text, 'latin1')),
      xz: execFileSync('xz', ['-c'], { input: Buffer.from(text, 'latin1') }),
    };
    await place.admin.updateGuideSource({ params: { id: source }, body: { days: 2, shiftMinutes: 30 } } as never);
    for (const body of Object.values(packed)) {
      place.served.body = body;
      await place.refresh(source);
      const [only, ...others] = await kept();
      expect([only?.title, only?.start_at.toISOString(), others.length]).to.deep.equal([
        'Café',
        minute(90).toISOString(),
        0,
      ]);
      await take([{ at: 90, title: 'Between' }]);
    }
    await place.admin.updateGuideSource({ params: { id: source }, body: { days: 14, shiftMinutes: 0 } } as never);
  });

  it('keeps the old guide when the new one is broken, tries again after 5, 15 and 60 minutes, and notifies after an hour', async () => {
    const { db } = place.api.deps;
    const before = await take([{ at: 60, title: 'Good' }]);
    const broken: (string | Buffer)[] = [
      guideOf([{ at: 60, title: 'Bad' }]).slice(0, -20),
      '<html/>',
      gzipSync(guideOf([{ at: 60, title: 'Bad' }])).subarray(0, 60),
    ];
    const waits: number[] = [];
    for (const body of broken) {
      place.served.body = body;
      expect(await place.refresh(source)).to.equal(false);
      const { nextRefreshAt = '' } = await state();
      waits.push(Math.round((Date.parse(nextRefreshAt) - Date.now()) / 60_000));
    }
    expect(waits).to.deep.equal([5, 15, 60]);
    expect((await state()).error).to.include({ code: 'unreadable' });
    expect((await kept()).map(({ id }) => id)).to.deep.equal(before.map(({ id }) => id));
    const notices = (): Promise<{ id: string }[]> => db('notifications').where({ kind: 'guide-failing' });
    expect(await notices()).to.deep.equal([]);
    await db('guide_states')
      .where({ source_id: source })
      .update({ failing_since: new Date(Date.now() - 80 * 60_000) });
    const last = await createGuideRefresh()({ sourceId: source }, place.work()).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    );
    expect(last).to.equal('unreadable');
    expect((await notices()).length).to.be.greaterThan(0);
    await take([{ at: 60, title: 'Good' }]);
    expect(await state()).to.not.have.property('error');
  });

  it('sends If-None-Match and its headers, and no credential in the address', async () => {
    const { db } = place.api.deps;
    place.served.headers = { etag: '"one"' };
    const [first] = await take([{ at: 60, title: 'Same' }]);
    place.served.requests.length = 0;
    await place.refresh(source);
    expect(place.served.requests.at(-1)?.headers['if-none-match']).to.equal('"one"');
    expect((await kept())[0]?.version).to.equal(first?.version);
    place.served.headers = {};
    await db('guide_states').where({ source_id: source }).update({ etag: null });
    const url = place.served.url.replace('http://', 'http://me:secret@').concat('?key=hidden');
    const { body } = await place.admin.updateGuideSource({
      params: { id: source },
      body: { url, headers: { 'X-Token': 'quiet' } },
    } as never);
    expect(body.url)
      .to.include('***')
      .and.not.match(/secret|hidden/);
    const request = place.served.requests.at(-1);
    expect(request?.headers['x-token']).to.equal('quiet');
    expect(request?.headers['authorization']).to.equal(`Basic ${Buffer.from('me:secret').toString('base64')}`);
    const [row] = await db('guide_sources').where({ id: source });
    expect(JSON.stringify(row)).to.not.match(/secret@|hidden|quiet/);
  });

  it('reads a guide whose bytes are the same only where its days bring more of it', async () => {
    const { db } = place.api.deps;
    const far = 15 * 24 * 60;
    await take([
      { at: 60, title: 'Near' },
      { at: far, title: 'Far' },
    ]);
    const readAgain = async (): Promise<boolean> => {
      const result = await createGuideRefresh()({ sourceId: source }, place.work());
      return !(result as { unchanged: boolean }).unchanged;
    };
    const row = async () => (await db('guide_states').where({ source_id: source }).first()) ?? expect.fail('no state');
    expect((await row()).next_start_at).to.deep.equal(minute(far));
    expect(await readAgain()).to.equal(false);
    expect(Date.parse((await state()).lastRefreshAt ?? '')).to.be.greaterThan(Date.now() - 30_000);
    const inside = new Date(Date.now() + 14 * 24 * 3_600_000 - 60_000);
    place.served.headers = { etag: '"same"' };
    await db('guide_states').where({ source_id: source }).update({ next_start_at: inside, etag: '"same"' });
    expect(await readAgain(), 'the days reach a programme that was left out').to.equal(true);
    expect(place.served.requests.at(-1)?.headers).to.not.have.property('if-none-match');
    expect((await row()).etag, 'a guide that was cut has its validators').to.equal('"same"');
    place.served.headers = {};
    expect(await readAgain()).to.equal(false);
    await db('guide_sources').where({ id: source }).update({ shift_minutes: 30 });
    expect(await readAgain(), 'its times move').to.equal(true);
    expect((await kept()).map(({ start_at: at }) => at)).to.deep.equal([minute(90)]);
    await db('guide_sources').where({ id: source }).update({ shift_minutes: 0 });
    expect(await readAgain()).to.equal(true);
  });

  it('maps a channel that is new although the server sends no guide', async () => {
    const { db } = place.api.deps;
    place.served.headers = { etag: '"mapped"' };
    await take([{ at: 60, title: 'Same' }]);
    const channel = await place.channel('31', { name: 'One' });
    await db('recording_plan').update({ stale: false });
    expect(await createGuideRefresh()({ sourceId: source }, place.work())).to.deep.equal({ unchanged: true });
    const row = await db('live_channels').where({ id: channel }).first();
    expect([row.guide_source_id, row.guide_channel_id]).to.deep.equal([source, 'one.example']);
    expect((await db('recording_plan').first()).stale, 'rules find its programmes').to.equal(true);
    await db('live_channels').where({ id: channel }).delete();
    place.served.headers = {};
  });

  it('reads a guide again whose source was changed during the refresh', async () => {
    const { db, config } = place.api.deps;
    const outbound = liveOutbound(config);
    const refreshed = async (shiftMinutes?: number): Promise<object> => {
      const changing: typeof outbound = async (...request) => {
        const answer = await outbound(...request);
        if (shiftMinutes !== undefined)
          await place.admin.updateGuideSource({ params: { id: source }, body: { shiftMinutes } } as never);
        return answer;
      };
      const result = await createGuideRefresh(changing)({ sourceId: source }, place.work());
      await db('jobs').where({ kind: 'live.guide' }).update({ state: 'completed' });
      return result;
    };
    const isDue = async (): Promise<boolean> => Date.parse((await state()).nextRefreshAt ?? '') <= Date.now();
    const starts = async () => (await kept()).map(({ start_at: at }) => at);
    await take([{ at: 60, title: 'Old' }]);
    place.served.headers = { etag: '"new"' };
    place.served.body = guideOf([{ at: 60, title: 'New' }]);
    for (const [shift, guide] of [
      [30, 'a new guide'],
      [15, 'the same bytes'],
    ] as const) {
      if (shift === 15) await db('guide_states').where({ source_id: source }).update({ etag: null });
      await refreshed(shift);
      expect(await isDue(), guide).to.equal(true);
      expect(await refreshed(), guide).to.include({ unchanged: false });
      expect(await starts(), guide).to.deep.equal([minute(60 + shift)]);
      expect(await refreshed(), guide).to.deep.equal({ unchanged: true });
      expect(await isDue(), guide).to.equal(false);
    }
    place.served.headers = {};
    await place.admin.updateGuideSource({ params: { id: source }, body: { shiftMinutes: 0 } } as never);
  });

  it('refreshes due sources once, and deletes past days and channels that no guide names', async () => {
    const { db } = place.api.deps;
    await take(
      [
        { at: 60, title: 'Stays' },
        { channel: 'two.example', at: 60, title: 'Goes' },
      ],
      ['one.example', 'two.example'],
    );
    await db('jobs').where({ kind: 'live.guide' }).update({ state: 'completed' });
    await enqueueRefreshes({ db: db as never });
    const open = () => db('jobs').where({ kind: 'live.guide', state: 'waiting' });
    expect(await open()).to.have.lengthOf(0);
    await db('guide_states')
      .where({ source_id: source })
      .update({ next_at: new Date(Date.now() - 1000) });
    for (let round = 0; round < 2; round += 1) await enqueueRefreshes({ db: db as never });
    expect(await open()).to.have.lengthOf(1);
    await take([{ at: 60, title: 'Stays' }]);
    const [row] = await kept();
    await db('guide_programs').insert({
      ...{
        id: '01900000-0000-7000-8000-0000000000aa',
        channel: db('guide_programs').where({ id: row?.id }).select('channel'),
      },
      ...{ title: db('guide_programs').where({ id: row?.id }).select('title'), kind: 'other', hash: Buffer.alloc(20) },
      ...{ start_at: minute(-72 * 60), end_at: minute(-71 * 60) },
    });
    await trimLive({}, place.work());
    expect((await kept()).map(({ title }) => title)).to.deep.equal(['Stays']);
    expect(await db('guide_channels').where({ source_id: source }).pluck('guide_id')).to.deep.equal(['one.example']);
    expect(await db('guide_titles').where({ text: 'Goes' })).to.deep.equal([]);
  });
});
