import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { saveSettings } from '#platform/settings.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { audio, GivenPlayback, HOUR, video } from '#support/given-playback.ts';
import { eventually } from '#support/stores.ts';

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

describe('Progress', () => {
  const given = new GivenPlayback();
  const { film, play, progress } = given;

  const database = () => given.api.deps.db;

  const sync = async (...reports: { itemId: string; at: string; [more: string]: unknown }[]): Promise<string[]> => {
    const { body } = await given.me.syncPlayback({
      body: { reports: reports.map((one) => ({ clientEventId: newId(), ...one })) },
    });
    return body.results.map(({ outcome }) => outcome);
  };

  it('lets no report that comes late move a session back, pause it or count its play', async () => {
    const id = await film();
    const { session } = (await play(id)).body;
    const params = { id: session.id };
    const sessionAfter = async (body: object) =>
      (await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 0, ...body } })).body.session;
    await sessionAfter({ positionMs: 900_000, at: ago(10_000), rate: 1.5 });
    const late = await sessionAfter({ positionMs: 600_000, state: 'paused', at: ago(20_000) });
    expect(late).to.include({ positionMs: 900_000, state: 'playing', rate: 1.5 });
    expect((await sessionAfter({ positionMs: HOUR * 0.95, at: ago(20_000) })).positionMs).to.equal(900_000);
    expect(await progress(id)).to.include({ positionMs: 900_000, watched: false, playCount: 0 });
    expect(await given.events(session.id)).to.not.include('playback.paused');
    expect((await sessionAfter({ positionMs: 930_000, at: ago(0) })).positionMs).to.equal(930_000);
  });

  it('keeps what another device has played while a paused player repeats its position, until that one plays on', async () => {
    const id = await film();
    const params = { id: (await play(id)).body.session.id };
    const report = (state: 'playing' | 'paused', positionMs: number, at?: string) =>
      given.me.reportPlayback({ params, body: { state, positionMs, ...(at && { at }) } });
    const pausedAt = ago(30_000);
    await report('paused', 600_000, pausedAt);
    await given.me.setItemProgress({ params: { id }, body: { positionMs: 900_000, at: ago(20_000) } });
    for (const at of [pausedAt, ago(0), undefined]) {
      const { session } = (await report('paused', 600_000, at)).body;
      expect(session).to.include({ positionMs: 600_000, state: 'paused' });
      expect(Date.now() - Date.parse(session.lastReportAt ?? '')).to.be.lessThan(5000);
      expect((await progress(id)).positionMs).to.equal(900_000);
    }
    await report('playing', 600_000);
    expect((await progress(id)).positionMs).to.equal(600_000);
  });

  it('keeps what another device has played when a paused player is closed', async () => {
    const id = await film();
    const params = { id: (await play(id)).body.session.id };
    await given.me.reportPlayback({ params, body: { state: 'paused', positionMs: 600_000, at: ago(30_000) } });
    await given.me.setItemProgress({ params: { id }, body: { positionMs: 900_000, at: ago(20_000) } });
    await given.me.endPlaybackSession({ params, query: { positionMs: 600_000 } });
    expect((await progress(id)).positionMs).to.equal(900_000);
  });

  it('counts no play for a report that a later report of another device has overtaken', async () => {
    const id = await film();
    const params = { id: (await play(id)).body.session.id };
    await given.me.setItemProgress({ params: { id }, body: { positionMs: 900_000 } });
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: HOUR * 0.95, at: ago(60_000) } });
    expect(await progress(id)).to.include({ positionMs: 900_000, playCount: 0 });
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: HOUR * 0.96 } });
    expect(await progress(id)).to.include({ watched: true, playCount: 1 });
  });

  it('takes no offline position behind the end, and of a bad report nothing', async () => {
    const id = await film();
    const at = ago(5000);
    const stranger = newId();
    expect(
      await sync(
        { itemId: id, at, positionMs: HOUR + 2000, watched: true },
        { itemId: id, at, positionMs: 600_000, fileId: stranger, playedMs: 120_000 },
        { itemId: id, at, positionMs: 700_000 },
      ),
    ).to.deep.equal(['invalid', 'invalid', 'applied']);
    expect(await progress(id)).to.include({ positionMs: 700_000, watched: false });
    expect(await database()('plays').where({ item_id: id })).to.have.length(0);
  });

  it('notes with an offline position in which file of the item it is', async () => {
    const id = await film();
    const [fileId] = await database()('media_files').where({ item_id: id }).pluck('id');
    expect(await sync({ itemId: id, at: ago(5000), positionMs: 700_000, fileId })).to.deep.equal(['applied']);
    expect(await progress(id)).to.include({ positionMs: 700_000, fileId });
  });

  it('counts one play for several offline reports behind its end, and another for the next one', async () => {
    const id = await film();
    const report = (ms: number, part: number, more: object = {}) => ({
      ...{ itemId: id, at: ago(ms), positionMs: HOUR * part },
      ...more,
    });
    await sync(report(90_000, 0.5), report(80_000, 0.91), report(70_000, 0.95));
    expect(await progress(id)).to.include({ watched: true, playCount: 1 });
    await sync(report(60_000, 0.5), report(50_000, 0.91));
    expect((await progress(id)).playCount).to.equal(2);
  });

  it('keeps the history of offline playback, also where a later position is stored', async () => {
    const id = await film();
    await given.me.setItemProgress({ params: { id }, body: { positionMs: 900_000 } });
    const at = ago(HOUR);
    expect(await sync({ itemId: id, at, positionMs: 100_000, playedMs: 120_000 })).to.deep.equal(['older']);
    const [played] = await database()('plays').where({ item_id: id });
    expect([played.ended_at.toISOString(), (await progress(id)).positionMs]).to.deep.equal([at, 900_000]);
  });

  it('reports after a change of tracks whether the film was watched', async () => {
    const id = await film();
    await given.me.markWatched({ params: { id } });
    const { session } = (await play(id)).body;
    const changed = await given.me.changePlayback({ params: { id: session.id }, body: { positionMs: 120_000 } });
    expect(changed.body.resume).to.deep.equal({ positionMs: 120_000, watched: true });
  });

  it('reports of a container a position in the next child, and that all of it was watched', async () => {
    const shows = await givenLibrary(database(), 'shows');
    const show = await givenItem(database(), shows, { type: 'show', top: true });
    const episodes: string[] = [];
    for (const n of [1, 2]) {
      const place = { type: 'episode', parent_id: show, parent_index: 1, index_number: n, runtime_ms: n * HOUR };
      episodes.push(await givenItem(database(), shows, place));
    }
    const [first = '', second = ''] = episodes;
    await given.me.markWatched({ params: { id: first } });
    await given.me.setItemProgress({ params: { id: second }, body: { positionMs: HOUR } });
    expect(await progress(show)).to.deep.include({
      ...{ type: 'show', positionMs: HOUR, durationMs: 2 * HOUR, progress: 0.5, watched: false },
      children: { total: 2, watched: 1, inProgress: 1, nextItemId: second },
    });
    await given.me.markWatched({ params: { id: second } });
    expect(await progress(show)).to.deep.include({
      ...{ positionMs: 0, durationMs: null, progress: 1, watched: true },
      children: { total: 2, watched: 2, inProgress: 0 },
    });
  });

  it('continues with the episode that was only opened, and with the comic that is being read', async () => {
    const shows = await givenLibrary(database(), 'shows');
    const show = await givenItem(database(), shows, { type: 'show', top: true });
    const comics = await givenLibrary(database(), 'comics');
    const series = await givenItem(database(), comics, { type: 'comic-series', top: true, details: {} });
    const children = { shows: [] as string[], comics: [] as string[] };
    for (const n of [1, 2, 3]) {
      const place = { parent_id: show, parent_index: 1, index_number: n, runtime_ms: HOUR };
      children.shows.push(await givenItem(database(), shows, { type: 'episode', ...place }));
      const comic = { parent_id: series, index_number: n, details: { pages: 20 } };
      children.comics.push(await givenItem(database(), comics, { type: 'comic', ...comic }));
    }
    await given.me.setItemProgress({ params: { id: children.shows[1] ?? '' }, body: { positionMs: 30_000 } });
    expect((await progress(show)).children?.nextItemId).to.equal(children.shows[1]);
    await given.me.setReadingPosition({ params: { id: children.comics[1] ?? '' }, body: { value: 'page:4' } });
    expect((await progress(series)).children).to.include({ inProgress: 1, nextItemId: children.comics[1] });
    expect((await given.me.getItem({ params: { id: series } })).body.next?.id).to.equal(children.comics[1]);
  });

  it('plays the audio items of an author', async () => {
    const books = await givenLibrary(database(), 'books');
    const author = await givenItem(database(), books, { type: 'author' });
    await givenItem(database(), books, { type: 'book', parent_id: author, index_number: 1 });
    const place = { type: 'audiobook', parent_id: author, index_number: 2, runtime_ms: HOUR };
    const heard = await givenItem(database(), books, place);
    await givenFile(database(), books, heard, { container: 'mp4', duration_ms: HOUR, streams: [audio] });
    expect((await play(author)).body.session?.itemId).to.equal(heard);
  });

  it('replaces a session that has ended meanwhile, and never one of another account', async () => {
    const id = await film({ streams: [video, audio] });
    const { session } = (await play(id)).body;
    await given.me.endPlaybackSession({ params: { id: session.id } });
    expect((await play(id, { replaces: session.id })).status).to.equal(201);
    given.me = given.api.as(await given.api.given.member());
    expect((await play(id, { replaces: session.id })).status).to.equal(404);
  });

  it('does not fail for a deleted item whose position is on its way', async () => {
    const during = async (id: string, send: () => Promise<{ status: number }>): Promise<number> => {
      const held = await database().transaction();
      await held('items').where({ id }).delete();
      const answer = send();
      const waits = async () => {
        const { rows } = await database().raw<{ rows: unknown[] }>(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      };
      await eventually(waits);
      await held.commit();
      return (await answer).status;
    };
    const id = await film();
    const set = () => given.me.setItemProgress({ params: { id }, body: { positionMs: 600_000 } });
    expect(await during(id, set)).to.equal(404);
    const played = await film();
    const params = { id: (await play(played)).body.session.id };
    const end = () => given.me.endPlaybackSession({ params, query: { positionMs: 700_000 } });
    expect(await during(played, end)).to.equal(204);
  });

  it('keeps a position in an item without a known length, and claims no share of it', async () => {
    const id = await film({}, { runtime_ms: null });
    await given.me.setItemProgress({ params: { id }, body: { positionMs: 600_000 } });
    expect(await progress(id)).to.include({ positionMs: 600_000, progress: 0, watched: false });
  });

  it('is watched from the credits of the file that plays, not of another edition', async () => {
    const id = await film();
    const [fileId] = await database()('media_files').where({ item_id: id }).pluck('id');
    const credits = (file: string | null, startMs: number) =>
      database()('markers').insert({
        ...{ id: newId(), item_id: id, file_id: file, kind: 'credits', source: 'person' },
        ...{ start_ms: startMs, end_ms: startMs + 60_000 },
      });
    const other = await givenFile(database(), given.library, id, { edition: 'Extended', duration_ms: 2 * HOUR });
    await credits(other, 900_000);
    const { session, markers } = (await play(id, { fileId })).body;
    expect(markers).to.deep.equal([]);
    const at = async (positionMs: number) => {
      await given.me.reportPlayback({ params: { id: session.id }, body: { state: 'playing', positionMs } });
      return (await progress(id)).watched;
    };
    expect(await at(1_200_000)).to.equal(false);
    await credits(fileId, 1_500_000);
    expect(await at(1_600_000)).to.equal(true);
  });

  it('follows with the next track of the same album', async () => {
    const music = await givenLibrary(database(), 'music');
    const artist = await givenItem(database(), music, { type: 'artist', top: true });
    const albums: string[][] = [];
    for (const _ of [1, 2]) {
      const album = await givenItem(database(), music, { type: 'album', parent_id: artist });
      const tracks: string[] = [];
      for (const n of [1, 2]) {
        const place = { parent_id: album, grandparent_id: artist, parent_index: 1, index_number: n };
        const id = await givenItem(database(), music, { type: 'track', ...place, runtime_ms: 200_000 });
        await givenFile(database(), music, id, { container: 'mp3', duration_ms: 200_000, streams: [audio] });
        tracks.push(id);
      }
      albums.push(tracks);
    }
    const [, [first = '', second = ''] = []] = albums;
    expect((await play(first, { dryRun: true })).body.nextItemId).to.equal(second);
    expect((await play(second, { dryRun: true })).body).to.not.have.property('nextItemId');
  });

  it('begins at the end when the request names a place behind it', async () => {
    const { session } = (await play(await film(), { startMs: 2 * HOUR })).body;
    expect(session.positionMs).to.equal(HOUR);
    const params = { id: session.id };
    const changed = await given.me.changePlayback({ params, body: { positionMs: 3 * HOUR } });
    expect(changed.body.session.positionMs).to.equal(HOUR);
  });

  it('lets no one else use up the reports of a session', async () => {
    const params = { id: (await play(await film())).body.session.id };
    const body = { state: 'playing' as const, positionMs: 60_000 };
    const stranger = given.api.as(await given.api.given.member());
    const strange = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => stranger.reportPlayback({ params, body })));
    expect(strange.map(({ status }) => status)).to.include(429);
    expect((await given.me.reportPlayback({ params, body })).status).to.equal(200);
  });

  it('shows ended sessions for a day, in lists too', async () => {
    const params = { id: (await play(await film())).body.session.id };
    await given.me.endPlaybackSession({ params });
    const sessionAfter = async (): Promise<unknown[]> => [
      (await given.me.getPlaybackSession({ params })).status,
      (await given.me.listPlaybackSessions({ query: { state: 'stopped' } })).body.items.length,
    ];
    expect(await sessionAfter()).to.deep.equal([200, 1]);
    await database()('playback_sessions')
      .where(params)
      .update({ stopped_at: new Date(Date.now() - 25 * HOUR) });
    expect(await sessionAfter()).to.deep.equal([404, 0]);
  });

  it('takes an existing quality', async () => {
    const set = async (homeQuality: string) =>
      (await given.me.updatePlaybackPreferences({ body: { homeQuality } })).status;
    expect([await set('720p-3m'), await set('auto'), await set('best')]).to.deep.equal([200, 200, 400]);
  });

  it('chooses clips for people who begin a film and prefer clips, within the age limit', async () => {
    const { settings } = given.api.deps;
    const clip = await film({}, { title: 'Curtain', age_years: 16 });
    await database()('preroll_clips').insert({
      ...{ id: newId(), item_id: clip, title: 'Curtain', position: 0, weight: 1, state: 'ready' },
      ...{ duration_ms: 10_000, library_ids: [] },
    });
    const rules = { pick: 'in-order', maxClips: 1, skippableAfterMs: 5000, itemTypes: ['movie'], resumeToo: false };
    await saveSettings(database(), { 'playback.preroll': { enabled: true, ...rules } }, null);
    await settings.reload();
    const id = await film();
    const clips = async (body: object = {}) => (await play(id, { preroll: true, ...body })).body.preroll.length;
    const sessionAfter = [await clips(), await clips({ preroll: false })];
    await given.me.setItemProgress({ params: { id }, body: { positionMs: 900_000 } });
    sessionAfter.push(await clips(), await clips({ startMs: 0 }));
    expect(sessionAfter).to.deep.equal([1, 0, 0, 1]);
    await given.me.updatePlaybackPreferences({ body: { preroll: false } });
    expect(await clips({ startMs: 0 })).to.equal(0);
    given.me = given.api.as(await given.api.given.person('child', { age_limit: 12 }));
    expect(await clips()).to.equal(0);
    await database()('preroll_clips').delete();
  });
});
