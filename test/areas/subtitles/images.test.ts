import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { STRETCHES } from '#platform/subtitles/stretches.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';
import { displaySetsOf, readCis1, realSup } from '#support/picture-films.ts';
import { probedFilm } from '#support/probed-film.ts';
import { atEnd } from '#support/stores.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { inPlace, type PlaceLimits } from '../../../api/areas/subtitles/pictures/places.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const READERS: PlaceLimits = { name: 'subtitle-pictures', places: 2, line: 8, waitMs: 60_000 };

describe('stretches of picture subtitles', function () {
  this.timeout(120_000);
  let api: Api;
  let member: Person;
  let me: TestClient;
  let id: string;
  let tracks: { id: string; codec: string }[];
  let sets: { timeMs: number; bytes: Buffer }[];

  before(async function () {
    this.timeout(600_000);
    const { made, real } = await fixtures();
    sets = displaySetsOf(realSup(real));
    api = await startApi();
    await api.given.owner();
    member = await api.given.member();
    me = api.as(member);
    const runtime = await startRuntime(api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
    const path = join(api.mediaRoot, 'Film.mkv');
    copyFileSync(join(made, 'h264-multi.mkv'), path);
    const film = await probedFilm(api, await givenLibrary(api.deps.db, 'movies'), path);
    id = film.itemId;
    tracks = await api.deps.db('media_streams').where({ file_id: film.fileId, kind: 'subtitle' }).select('id', 'codec');
  });

  const params = (codec = 'pgs') => ({ id, streamId: tracks.find((one) => one.codec === codec)?.id ?? '' });
  const images = (query: { from: number; to: number; v?: string }, codec = 'pgs') =>
    me.getSubtitleImages({ params: params(codec), query });
  const read = async (query: { from: number; to: number; v?: string }) => {
    const answer = await images(query);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return { ...readCis1(answer.body as unknown as Buffer), cache: answer.headers.get('cache-control') };
  };
  const jobs = async (): Promise<number> => (await api.deps.db('jobs').where({ kind: 'subtitles.extract' })).length;

  it('have the packets of the film, are read once, and may be cached while their version holds', async () => {
    const first = await read({ from: 3500, to: 6500 });
    expect(first.header).to.deep.equal({ codec: 'pgs' });
    expect(first.end).to.deep.equal({ cut: false });
    expect(first.packets.map(({ timeMs }) => timeMs)).to.deep.equal([1000, 3000, 4000, 6000]);
    expect(first.packets.map(({ bytes }) => bytes)).to.deep.equal(sets.slice(0, 4).map(({ bytes }) => bytes));
    expect(first.cache).to.equal('no-store');
    const count = await jobs();
    const { version } = (await me.getSubtitleSync({ params: params() })).body;
    expect((await read({ from: 3500, to: 6500, v: version })).cache).to.equal('private, max-age=86400');
    expect(await jobs()).to.equal(count);
    for (const [from, to] of [
      [0, 900],
      [400_000, 1_000_000],
    ] as const)
      expect((await read({ from, to })).packets).to.deep.equal([]);
    expect((await read({ from: 20_000, to: 21_000 })).packets.map(({ timeMs }) => timeMs)).to.deep.equal([7000, 9000]);
  });

  it('move with the correction of the track', async () => {
    const { version } = (await me.getSubtitleSync({ params: params() })).body;
    await me.setSubtitleTiming({ params: params(), body: { offsetMs: 10_000 } });
    const moved = await read({ from: 13_500, to: 16_500, v: version });
    expect(moved.packets.map(({ timeMs }) => timeMs)).to.deep.equal([11_000, 13_000, 14_000, 16_000]);
    expect(moved.cache).to.equal('no-store');
    expect((await read({ from: 0, to: 10_000 })).packets).to.deep.equal([]);
    await me.clearSubtitleTiming({ params: params() });
  });

  it('refuse other stretches, other tracks and other people', async () => {
    for (const [from, to] of [
      [5, 5],
      [6, 5],
      [0, 600_001],
    ] as [number, number][]) {
      const refused = await images({ from, to });
      expect([refused.status, errorOf(refused).details['issues'][0].path]).to.deep.equal([400, ['query', 'to']]);
    }
    const text = await images({ from: 0, to: 1000 }, 'subrip');
    expect([text.status, errorOf(text).code]).to.deep.equal([415, 'MEDIA_UNSUPPORTED_CODEC']);
    await api.deps.db('items').where({ id }).update({ age_years: 16 });
    const child = api.as(await api.given.person('child', { age_limit: 6 }));
    const hidden = await child.getSubtitleImages({ params: params(), query: { from: 0, to: 1000 } });
    await api.deps.db('items').where({ id }).update({ age_years: null });
    expect(hidden.status).to.equal(404);
    const broken = params();
    const row = await api.deps.db('media_streams').where({ id: broken.streamId }).first('stream_index');
    await api.deps.db('media_streams').where({ id: broken.streamId }).update({ stream_index: 99 });
    const unread = await me.getSubtitleImages({ params: broken, query: { from: 1, to: 1000 } });
    expect([unread.status, errorOf(unread).code]).to.deep.equal([500, 'TRANSCODE_FAILED']);
    await api.deps
      .db('media_streams')
      .where({ id: broken.streamId })
      .update({ ...row });
  });

  /** Takes a place or waits for one, until the function that is returned is called. */
  const hold = (): (() => Promise<void>) => {
    const stop = new AbortController();
    const held = inPlace({ redis: api.deps.redis, signal: stop.signal }, READERS, () =>
      sleep(60_000, undefined, { signal: stop.signal }),
    ).catch(() => undefined);
    return async () => {
      stop.abort();
      await held;
    };
  };

  it('have two readers and eight who wait on the whole server, also after Redis was emptied', async () => {
    await read({ from: 0, to: 2000 });
    const held: (() => Promise<void>)[] = [];
    for (let n = 0; n < 10; n += 1) {
      held.push(hold());
      await sleep(20); // in this order
    }
    await api.deps.redis.flushall();
    await sleep(1000);
    const refused = await images({ from: 0, to: 2001 });
    expect([refused.status, errorOf(refused).code]).to.deep.equal([503, 'TRANSCODE_LIMIT_REACHED']);
    expect((await read({ from: 0, to: 2000 })).packets, 'a stretch that is kept').to.have.length(1);
    await held[9]?.(); // one who waits hangs up
    const admitted = images({ from: 0, to: 2002 });
    await sleep(300);
    expect((await images({ from: 0, to: 2003 })).status).to.equal(503);
    await Promise.all(held.map((leave) => leave()));
    expect((await admitted).status).to.equal(200);
  });

  it('end with their client', async () => {
    const held = [hold(), hold()];
    await sleep(100);
    const gone = new AbortController();
    const count = await jobs();
    const url = `/api/v1/items/${id}/subtitles/${params().streamId}/images?from=0&to=2004`;
    const fetched = api.fetch(url, { headers: member.headers, signal: gone.signal }).catch(() => 'gone');
    await sleep(300);
    expect(await api.deps.redis.zcard('{places:subtitle-pictures}:waiting')).to.equal(1);
    gone.abort();
    expect(await fetched).to.equal('gone');
    await sleep(300);
    expect(await api.deps.redis.zcard('{places:subtitle-pictures}:waiting')).to.equal(0);
    await Promise.all(held.map((leave) => leave()));
    expect(await jobs()).to.equal(count);
  });

  it('are deleted an hour later', async () => {
    const { objects } = api.deps;
    const kept = async (): Promise<number> =>
      (await Array.fromAsync(objects.list('foyer-subtitles', STRETCHES))).length;
    const trim = (now: number) => {
      const list = objects.list.bind(objects);
      const aged: typeof list = async function* aged(bucket, prefix) {
        for await (const one of list(bucket, prefix)) yield { ...one, modifiedAt: new Date(now) };
      };
      return handlers['subtitles.trim']({}, { ...api.deps, objects: { ...objects, list: aged }, signal } as never);
    };
    const { signal } = new AbortController();
    const count = await kept();
    expect(count).to.be.greaterThan(2);
    await trim(Date.now() - 3_500_000);
    expect(await kept()).to.equal(count);
    await trim(Date.now() - 3_700_000);
    expect(await kept()).to.equal(0);
  });
});
