import { expect } from 'chai';
import { forgetWorker, reportWorker } from '#areas/streaming/sessions/offers.store.ts';
import { saveSettings } from '#platform/settings.ts';
import { ABSENT } from '#support/answers.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { audio, client, errorOf, GivenPlayback, HOUR, video } from '#support/given-playback.ts';
import { markMany } from '#workers/own-state.ts';
import type { Work } from '#workers/work.ts';

describe('Playback', () => {
  const given = new GivenPlayback();
  const { film, play, progress, events } = given;
  let shows: GivenLibrary;

  before(async () => {
    shows = await givenLibrary(given.api.deps.db, 'shows');
  });

  it('plays directly, reports, resumes a little earlier, and announces each step', async () => {
    const id = await film();
    const started = await play(id);
    expect(started.status, JSON.stringify(started.body)).to.equal(201);
    const { session } = started.body;
    expect(session.decision.method).to.equal('direct_play');
    expect(session.url).to.match(new RegExp(`/files/[^/]+/stream\\?session=${session.id}`));
    const params = { id: session.id };
    expect(
      (await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 600_000 } })).body.session
        .positionMs,
    ).to.equal(600_000);
    await given.me.reportPlayback({ params, body: { state: 'paused', positionMs: 610_000 } });
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 610_000 } });
    expect((await given.me.endPlaybackSession({ params, query: { positionMs: 620_000 } })).status).to.equal(204);
    expect(await progress(id)).to.include({ positionMs: 620_000, watched: false, playCount: 0 });
    expect(await events(session.id)).to.deep.equal([
      'playback.started',
      'playback.progress',
      'playback.paused',
      'playback.resumed',
      'playback.stopped',
    ]);
    const again = await play(id);
    expect(again.body.resume.positionMs).to.equal(620_000);
    expect(again.body.session.positionMs).to.equal(617_000);
    const late = await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 1 } });
    expect(errorOf(late).details).to.deep.include({ reason: 'session-stopped', stopReason: 'client' });
  });

  it('counts one play a session past the threshold and forgets a position under a minute', async () => {
    const id = await film();
    const { session } = (await play(id)).body;
    const params = { id: session.id };
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 30_000 } });
    expect(await progress(id)).to.include({ positionMs: 0, watched: false });
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: HOUR * 0.91 } });
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: HOUR * 0.95 } });
    expect(await progress(id)).to.include({ watched: true, playCount: 1, positionMs: 0 });
  });

  it('lets the newest write win between two devices', async () => {
    const id = await film();
    const at = (ms: number): string => new Date(Date.now() - ms).toISOString();
    await given.me.setItemProgress({ params: { id }, body: { positionMs: 900_000, at: at(1000) } });
    const older = await given.me.setItemProgress({ params: { id }, body: { positionMs: 100_000, at: at(60_000) } });
    expect(older.body.positionMs).to.equal(900_000);
    const zoned = at(500).replace('Z', '+00:00');
    const written = await given.me.setItemProgress({ params: { id }, body: { positionMs: 900_000, at: zoned } });
    expect(written.status, 'a time with a zone').to.equal(200);
    const behind = await given.me.setItemProgress({ params: { id }, body: { positionMs: HOUR * 2 } });
    expect(behind.status).to.equal(400);
  });

  it('opens the next unplayed episode of a show and follows with the one after', async () => {
    const { db } = given.api.deps;
    const show = await givenItem(db, shows, { type: 'show', top: true });
    const season = await givenItem(db, shows, { type: 'season', parent_id: show, index_number: 1 });
    const episodes: string[] = [];
    for (const n of [1, 2, 3]) {
      const one = await givenItem(db, shows, {
        type: 'episode',
        parent_id: season,
        grandparent_id: show,
        parent_index: 1,
        index_number: n,
        runtime_ms: HOUR,
      });
      await givenFile(db, shows, one, { container: 'mp4', duration_ms: HOUR, streams: [video, audio] });
      episodes.push(one);
    }
    await given.me.markWatched({ params: { id: episodes[0] ?? '' }, body: {} });
    const started = await play(show);
    expect(started.body.session.itemId).to.equal(episodes[1]);
    expect(started.body.nextItemId).to.equal(episodes[2]);
    await given.me.markWatched({ params: { id: show } });
    expect(await progress(show)).to.deep.include({ children: { total: 3, watched: 3, inProgress: 0 } });
    expect((await play(show, { dryRun: true })).body.session?.itemId).to.equal(episodes[0]);
    await given.me.unmarkWatched({ params: { id: season } });
    expect((await progress(show)).children?.watched).to.equal(0);
    await db('items').where({ id: episodes[2] }).update({ age_years: 18, age_rating: 'FSK 18' });
    const child = given.api.as(await given.api.given.person('child', { age_limit: 12 }));
    expect((await child.getItemProgress({ params: { id: show } })).body.children?.total).to.equal(2);
  });

  it('holds the cap of an account against many at once', async () => {
    given.person = await given.api.given.person('member', { limits: JSON.stringify({ streams: 2 }) });
    const ids = await Promise.all([film(), film(), film(), film(), film()]);
    const headers = (i: number) => ({ 'x-client-id': `device-number-000${i}` });
    const key = await given.api.given.key(given.person, ['library:view']);
    const answers = await Promise.all(
      ids.map((id, i) => given.api.as(key).startPlayback({ params: { id }, body: { client }, headers: headers(i) })),
    );
    expect(answers.map((answer) => answer.status)).to.have.members([201, 201, 429, 429, 429]);
    const refused = answers.find((answer) => answer.status === 429);
    expect(refused && errorOf(refused)).to.deep.include({
      code: 'STREAM_LIMIT_REACHED',
      details: { cap: 2, active: 2, scope: 'account' },
    });
  });

  it('changes tracks inside the session, and remembers them for the show', async () => {
    const french = { ...audio, stream_index: 2, language: 'fr', is_default: false };
    const id = await film({ streams: [video, audio, french], container: 'matroska', keyframes: null });
    const started = await play(id);
    expect(started.body.session.decision.method).to.equal('transcode');
    const other = started.body.audio.find((track) => track.language === 'fr');
    const changed = await given.me.changePlayback({
      params: { id: started.body.session.id },
      body: { audioStreamId: other?.id },
    });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    expect(changed.body.session.decision.audio?.streamId).to.equal(other?.id);
    expect(changed.body.session.url).to.not.equal(started.body.session.url);
    const again = await play(id);
    expect(again.body.session.decision.audio?.streamId).to.equal(other?.id);
  });

  it('keeps quality, bitrate and permissions when only a track is changed', async () => {
    const french = { ...audio, stream_index: 2, language: 'fr', is_default: false };
    const id = await film({ streams: [video, audio, french], bitrate: 8_000_000 });
    const started = await play(id, { quality: '480p-1m5', allow: { directPlay: false, directStream: false } });
    expect(started.body.session.decision).to.include({ method: 'transcode', quality: '480p-1m5' });
    const params = { id: started.body.session.id };
    const other = started.body.audio.find((track) => track.language === 'fr');
    const changed = await given.me.changePlayback({ params, body: { audioStreamId: other?.id } });
    expect(changed.body.session.decision).to.include({ method: 'transcode', quality: '480p-1m5' });
    const best = await given.me.changePlayback({ params, body: { quality: 'original' } });
    expect(best.body.session.decision.method).to.equal('transcode');
    expect(best.body.session.decision.reasons).to.include('direct-play-refused');
    const back = await given.me.changePlayback({ params, body: { audioStreamId: started.body.audio[0]?.id } });
    expect(back.body.session.decision.quality).to.equal(best.body.session.decision.quality);
  });

  it('keeps the cap of transcodes when a stream begins to be encoded, and continues unchanged when refused', async () => {
    const limited = await given.api.given.person('member', { limits: JSON.stringify({ transcodes: 1 }) });
    const as = given.api.as(limited);
    const start = async (id: string) => (await as.startPlayback({ params: { id }, body: { client } })).body.session;
    const encoded = await start(await film({ streams: [{ ...video, codec: 'mpeg4' }, audio], container: 'avi' }));
    await given.api.deps
      .db('playback_sessions')
      .where({ id: encoded.id })
      .update({ started_at: new Date(Date.now() - 60_000) });
    const direct = await start(await film());
    expect([encoded, direct].map((one) => one.decision.method)).to.deep.equal(['transcode', 'direct_play']);
    const params = { id: direct.id };
    const lower = () => as.changePlayback({ params, body: { quality: '360p-0m8' } });
    expect(errorOf(await lower())).to.deep.include({
      code: 'STREAM_LIMIT_REACHED',
      details: { cap: 1, active: 1, scope: 'transcodes' },
    });
    expect((await as.getPlaybackSession({ params })).body).to.deep.include({ url: direct.url, state: 'buffering' });
    await as.endPlaybackSession({ params: { id: encoded.id } });
    expect((await lower()).body.session.decision.method).to.equal('transcode');
    expect((await lower()).status).to.equal(200);
  });

  it('remembers tracks that were named at the start, or that the player reports', async () => {
    const french = { ...audio, stream_index: 2, language: 'fr', is_default: false };
    const german = { ...audio, stream_index: 3, language: 'de', is_default: false };
    const words = { stream_index: 4, kind: 'subtitle', codec: 'subrip', language: 'en' };
    const id = await film({ streams: [video, audio, french, german, words] });
    const switching = { client: { builtIn: 'chromium', switchesAudio: true } };
    const first = await play(id, switching);
    const track = (language: string) => first.body.audio.find((one) => one.language === language)?.id;
    await play(id, { ...switching, audioStreamId: track('fr') });
    const { session } = (await play(id, switching)).body;
    expect(session.decision.audio?.streamId).to.equal(track('fr'));
    const params = { id: session.id };
    const subtitleStreamId = first.body.subtitles[0]?.streamId;
    const tracks = { audioStreamId: track('de'), subtitleStreamId };
    const reported = await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 1000, ...tracks } });
    expect(reported.body.session.decision.audio?.streamId).to.equal(track('de'));
    const again = (await play(id, switching)).body.session.decision;
    expect([again.audio?.streamId, again.subtitle?.streamId]).to.deep.equal([track('de'), subtitleStreamId]);
    await given.me.reportPlayback({
      params: { id: (await play(id, switching)).body.session.id },
      body: { state: 'playing', positionMs: 1000, subtitleStreamId: null },
    });
    expect((await play(id, switching)).body.session.decision).to.not.have.property('subtitle');
  });

  it('takes the file that has the named track, even when another would cost less', async () => {
    const id = await film();
    const other = await givenFile(given.api.deps.db, given.library, id, {
      container: 'matroska',
      duration_ms: HOUR,
      edition: 'Extended',
      streams: [video, { ...audio, codec: 'ac3', language: 'de' }],
    });
    const [german] = await given.api.deps.db('media_streams').where({ file_id: other, kind: 'audio' }).pluck('id');
    const plain = (await play(id, { dryRun: true })).body.session.decision;
    expect(plain.fileId).to.not.equal(other);
    const named = (await play(id, { audioStreamId: german, dryRun: true })).body.session.decision;
    expect([named.fileId, named.audio?.streamId]).to.deep.equal([other, german]);
  });

  it('plays a film in parts from its beginning, continues in the part that was begun, and ends with the last', async () => {
    const id = await givenItem(given.api.deps.db, given.library, { runtime_ms: 2 * HOUR });
    const part = async (number: number) =>
      givenFile(given.api.deps.db, given.library, id, {
        ...{ container: 'mp4', duration_ms: HOUR, streams: [video, audio] },
        ...{ part: number, parts: 2, bitrate: 1_000_000 * number },
      });
    const [first, second] = [await part(1), await part(2)];
    const seen = async (fileId: string | undefined, positionMs: number) => {
      const { session } = (await play(id, fileId ? { fileId } : {})).body;
      await given.me.reportPlayback({ params: { id: session.id }, body: { state: 'playing', positionMs } });
      await given.me.endPlaybackSession({ params: { id: session.id } });
      return session.mediaFileId;
    };
    expect(await seen(undefined, HOUR * 0.99)).to.equal(first);
    expect(await progress(id)).to.include({ watched: false, fileId: first });
    expect(await seen(second, HOUR / 2)).to.equal(second);
    expect(await progress(id)).to.include({ fileId: second, progress: 0.75, positionMs: HOUR / 2 });
    expect(await seen(undefined, HOUR * 0.95)).to.equal(second);
    expect(await progress(id)).to.include({ watched: true, playCount: 1 });
    expect((await play(id, { dryRun: true })).body.session.mediaFileId).to.equal(first);
  });

  it('honours the original language of the film or its show, for people who prefer it', async () => {
    const french = { ...audio, stream_index: 2, language: 'fr', is_default: false };
    const switching = { client: { builtIn: 'chromium', switchesAudio: true }, dryRun: true };
    const id = await film({ streams: [video, audio, french] }, { details: { originalLanguage: 'fr' } });
    const heard = async () => {
      const { body } = await play(id, switching);
      return body.audio.find((one) => one.id === body.session.decision.audio?.streamId)?.language;
    };
    expect(await heard()).to.equal('en');
    await given.me.updatePlaybackPreferences({ body: { preferOriginalAudio: true } });
    expect(await heard()).to.equal('fr');
  });

  it('warns when the last place of the transcode workers is taken, and of preferences it could not keep', async () => {
    await given.me.updatePlaybackPreferences({ body: { audioLanguages: ['ja'] } });
    const id = await film({ streams: [{ ...video, codec: 'mpeg4' }, audio], container: 'avi' });
    const { db, settings, config } = given.api.deps;
    const warned = async (body: object = {}) => (await play(id, body)).body.warnings;
    expect(await warned({ dryRun: true })).to.deep.equal(['audio-fallback']);
    const [open] = await db('transcode_sessions').whereIn('state', ['starting', 'running', 'idle']).count();
    const most = Math.ceil((Number(open?.count) + 1) / config.maxSessions);
    await saveSettings(db, { 'transcode.maxWorkers': most }, null);
    await settings.reload();
    for (let left = most * config.maxSessions - Number(open?.count); left > 1; left -= 1) {
      await play(id, {});
      await db('playback_sessions').update({ started_at: new Date(Date.now() - 60_000) });
    }
    expect(await warned({ dryRun: true })).to.deep.equal(['audio-fallback', 'transcode-slots-low']);
    expect(await warned()).to.deep.equal(['audio-fallback', 'transcode-slots-low']);
    expect(errorOf(await play(id, { dryRun: false })).code).to.equal('TRANSCODE_LIMIT_REACHED');
    await saveSettings(db, { 'transcode.maxWorkers': 4 }, null);
    await settings.reload();
  });

  it('decides without opening anything for a dry run', async () => {
    const id = await film();
    const dry = await play(id, { dryRun: true });
    expect(dry.status).to.equal(200);
    expect(dry.body.session).to.include({ url: '' });
    expect((await given.me.listPlaybackSessions()).body.items).to.deep.equal([]);
  });

  it('rejects an unplayable item with the reason', async () => {
    const refusal = async (id: string, body: object = {}) => errorOf(await play(id, body));
    const bare = await givenItem(given.api.deps.db, given.library, {});
    expect(await refusal(bare)).to.deep.include({ code: 'MEDIA_NOT_PLAYABLE', details: { reason: 'missing-file' } });
    const unprobed = await film({ probe: null, probe_fault: null });
    await given.api.deps.db('media_files').where({ item_id: unprobed }).update({ probe: null });
    expect((await refusal(unprobed)).details.reason).to.equal('not-probed');
    await given.api.deps.db('media_files').where({ item_id: unprobed }).update({ probe_fault: 'codec-refused' });
    expect((await refusal(unprobed)).code).to.equal('MEDIA_UNSUPPORTED_CODEC');
    const none = await given.me.startPlayback({ params: { id: await film() }, body: {} });
    expect(none.status).to.equal(400);
    const strange = await play(await film(), { audioStreamId: ABSENT });
    expect(strange.status).to.equal(400);
    const onlyCopy = await film({ streams: [{ ...video, codec: 'mpeg4' }, audio], container: 'avi' });
    expect(await refusal(onlyCopy, { allow: { transcode: false } })).to.deep.include({
      code: 'MEDIA_TRANSCODE_DISABLED',
    });
  });

  it('keeps sessions to their own account, but for those who manage sessions', async () => {
    const { session } = (await play(await film())).body;
    const other = given.api.as(await given.api.given.member());
    const params = { id: session.id };
    expect((await other.getPlaybackSession({ params })).status).to.equal(404);
    expect((await other.endPlaybackSession({ params })).status).to.equal(404);
    expect((await other.reportPlayback({ params, body: { state: 'playing', positionMs: 1 } })).status).to.equal(404);
    expect((await other.listPlaybackSessions({ query: { scope: 'all' } })).status).to.equal(403);
    const admin = given.api.as(await given.api.given.admin());
    expect(
      (await admin.listPlaybackSessions({ query: { scope: 'all', include: 'item' } })).body.items.map((one) => one.id),
    ).to.include(session.id);
    for (const _ of [1, 2])
      expect((await admin.endPlaybackSession({ params, query: { message: 'Bed time' } })).status).to.equal(204);
    expect((await given.me.getPlaybackSession({ params })).body).to.include({
      state: 'stopped',
      stopReason: 'ended-by-admin',
    });
    const reported = (await given.me.listNotifications()).body.items.filter(({ kind }) => kind === 'session-ended');
    expect(reported.map(({ body }) => body)).to.have.length(1);
    expect(reported[0]?.body).to.match(/^Playing Title \w+ was ended\. Bed time$/);
  });

  it('marks by a job what the profile can see, counts plays when requested, and leaves later changes alone', async () => {
    const { db } = given.api.deps;
    const show = await givenItem(db, shows, { type: 'show', top: true });
    const place = { type: 'episode', parent_id: show, parent_index: 1, runtime_ms: HOUR };
    const [plain, grown, later] = [
      await givenItem(db, shows, { ...place, index_number: 1, age_years: 6 }),
      await givenItem(db, shows, { ...place, index_number: 2, age_years: 18 }),
      await givenItem(db, shows, { ...place, index_number: 3, age_years: 6 }),
    ];
    await db('accounts').where({ id: given.person.accountId }).update({ age_limit: 12 });
    const at = new Date(Date.now() - 60_000).toISOString();
    await given.me.setItemProgress({ params: { id: later }, body: { positionMs: 600_000 } });
    const work = {
      ...given.api.deps,
      signal: new AbortController().signal,
      checkpoint: null,
      keep: async () => undefined,
      report: async () => undefined,
      emit: async () => undefined,
    } as unknown as Work;
    const job = { profileId: given.person.profileId, itemId: show, watched: true, at, countPlay: true };
    await markMany(job, work);
    const states = async () => {
      const rows = await db('item_states').where({ profile_id: given.person.profileId }).select();
      return new Map(rows.map((row) => [row.item_id, [row.watched, row.play_count, row.position_ms]]));
    };
    expect(await states()).to.deep.equal(
      new Map([
        [plain, [true, 1, 0]],
        [later, [false, 0, 600_000]],
      ]),
    );
    await markMany({ ...job, watched: false, at: new Date().toISOString() }, work);
    expect((await states()).get(plain)).to.deep.equal([false, 1, 0]);
    expect((await states()).has(grown)).to.equal(false);
  });

  it('forgets positions of an item, an extra, and all that one sees in a container, and nothing else', async () => {
    const { db } = given.api.deps;
    const show = await givenItem(db, shows, { type: 'show', top: true });
    const place = { type: 'episode', parent_id: show, parent_index: 1, runtime_ms: HOUR };
    const begun = await givenItem(db, shows, { ...place, index_number: 1, age_years: 6 });
    const seen = await givenItem(db, shows, { ...place, index_number: 2, age_years: 6 });
    const grown = await givenItem(db, shows, { ...place, index_number: 3, age_years: 18 });
    const extra = await givenItem(db, shows, { type: 'video', extra_of: show, parent_id: show, runtime_ms: HOUR });
    const other = await film();
    await given.me.setItemRating({ params: { id: begun }, body: { value: 8 } });
    await given.me.markWatched({ params: { id: seen }, body: { countPlay: true } });
    for (const id of [begun, seen, grown, extra, other])
      await given.me.setItemProgress({ params: { id }, body: { positionMs: 600_000 } });
    await db('accounts').where({ id: given.person.accountId }).update({ age_limit: 12 });
    const states = async () => {
      const rows = await db('item_states').where({ profile_id: given.person.profileId }).select();
      const reported = new Map(rows.map((row) => [row.item_id, row]));
      return [begun, seen, grown, extra, other].map((id) => {
        const { position_ms, watched, play_count, rating } = reported.get(id);
        return [position_ms, watched, play_count, rating];
      });
    };
    const clear = async (id: string) => (await given.me.clearItemProgress({ params: { id } })).status;
    expect([await clear(show), await clear(show)]).to.deep.equal([204, 204]);
    const kept = [600_000, false, 0, null];
    expect(await states()).to.deep.equal([[0, false, 0, 8], [0, true, 1, null], kept, kept, kept]);
    await clear(extra);
    expect((await states())[3]).to.deep.equal([0, false, 0, null]);
    await given.me.markWatched({ params: { id: extra } });
    expect((await states())[3]?.[1]).to.equal(true);
  });

  it('takes offline reports one by one, each once', async () => {
    const id = await film();
    const report = (clientEventId: string, more: object) => ({
      clientEventId,
      itemId: id,
      at: new Date(Date.now() - 5000).toISOString(),
      ...more,
    });
    const body = {
      reports: [
        report('01900000-0000-7000-8000-0000000000a1', { positionMs: 700_000, playedMs: 120_000 }),
        report('01900000-0000-7000-8000-0000000000a1', { positionMs: 800_000 }),
        report('01900000-0000-7000-8000-0000000000a2', {
          positionMs: 100_000,
          at: new Date(Date.now() - 99_000).toISOString(),
        }),
        { ...report('01900000-0000-7000-8000-0000000000a3', {}), itemId: ABSENT },
      ],
    };
    const synced = await given.me.syncPlayback({ body });
    expect(synced.body.results.map((one) => one.outcome)).to.deep.equal(['applied', 'duplicate', 'older', 'not-found']);
    expect((await progress(id)).positionMs).to.equal(700_000);
    expect(await given.api.deps.db('plays').where({ profile_id: given.person.profileId }).first()).to.include({
      played_ms: 120_000,
    });
    await given.me.markWatched({ params: { id } });
    const unseen = { ...report('01900000-0000-7000-8000-0000000000a4', { watched: false }), at: new Date() };
    expect((await given.me.syncPlayback({ body: { reports: [unseen] } })).body.results[0]?.outcome).to.equal('applied');
    expect((await progress(id)).watched).to.equal(false);
  });

  it('takes from offline reports about a show the states of its episodes, and no position', async () => {
    const show = await givenItem(given.api.deps.db, shows, { type: 'show', top: true });
    const place = { type: 'episode', parent_id: show, parent_index: 1, index_number: 1, runtime_ms: HOUR };
    const episode = await givenItem(given.api.deps.db, shows, place);
    const report = (n: number, more: object) => ({
      ...{ clientEventId: `01900000-0000-7000-8000-0000000000b${n}`, itemId: show },
      ...{ at: new Date().toISOString(), ...more },
    });
    const sent = await given.me.syncPlayback({
      body: { reports: [report(1, { positionMs: 600_000 }), report(2, { watched: true })] },
    });
    expect(sent.body.results.map((one) => one.outcome)).to.deep.equal(['invalid', 'applied']);
    const rows = await given.api.deps
      .db('item_states')
      .where({ profile_id: given.person.profileId })
      .select('item_id', 'watched');
    expect(rows).to.deep.equal([{ item_id: episode, watched: true }]);
  });

  it('lists the encoders of the workers', async () => {
    const worker = { pod: 'gpu', encoder: 'h264_vaapi', gpu: true, slots: 3, used: 0, idleSince: null };
    const codecs = async () => (await given.me.getPlaybackCapabilities()).body.codecs;
    expect(await codecs()).to.deep.equal([{ codec: 'h264', hardware: false }]);
    await reportWorker(given.api.deps.redis, 'gpu-1', worker);
    expect(await codecs()).to.deep.equal([{ codec: 'h264', hardware: true }]);
    await forgetWorker(given.api.deps.redis, 'gpu-1');
  });

  it('keeps ratings, favourites and reading positions to the profile', async () => {
    const id = await film();
    expect((await given.me.setItemRating({ params: { id }, body: { value: 7.5, favorite: true } })).body).to.include({
      value: 7.5,
      favorite: true,
    });
    expect((await given.me.setItemRating({ params: { id }, body: { value: 7.3 } })).status).to.equal(400);
    expect((await given.me.setItemRating({ params: { id }, body: {} })).status).to.equal(400);
    await given.me.clearItemRating({ params: { id } });
    const own = (await given.me.getItem({ params: { id } })).body.userState;
    expect(own).to.include({ favorite: true }).and.not.have.property('rating', 7.5);
    const comics = await givenLibrary(given.api.deps.db, 'comics');
    const comic = await givenItem(given.api.deps.db, comics, { type: 'comic', details: { pages: 20 } });
    expect((await given.me.getReadingPosition({ params: { id: comic } })).status).to.equal(404);
    expect((await given.me.setReadingPosition({ params: { id: comic }, body: { value: 'page:21' } })).status).to.equal(
      400,
    );
    expect((await given.me.setReadingPosition({ params: { id: comic }, body: { value: 'page:20' } })).body).to.include({
      progress: 1,
      finished: true,
      pages: 20,
    });
    expect((await progress(comic)).watched).to.equal(true);
    await given.me.setReadingPosition({ params: { id: comic }, body: { value: 'page:12' } });
    expect((await given.me.getItem({ params: { id: comic } })).body.progressLabel).to.equal('page 12 of 20');
    expect((await given.me.setReadingPosition({ params: { id }, body: { value: 'page:1' } })).status).to.equal(409);
  });

  it('keeps preferences by profile and returns one to the default with null', async () => {
    await given.me.updatePlaybackPreferences({ body: { subtitleMode: 'always', audioLanguages: ['fr'] } });
    expect((await given.me.getPlaybackPreferences()).body).to.deep.include({
      subtitleMode: 'always',
      audioLanguages: ['fr'],
      autoplayNext: true,
    });
    const back = await given.me.updatePlaybackPreferences({ body: { subtitleMode: null } });
    expect(back.body.subtitleMode).to.equal('foreign-audio');
    expect((await given.me.getPlaybackCapabilities()).body).to.include({
      isRemote: false,
      activeStreams: 0,
      watchedPercent: 90,
    });
  });
});
