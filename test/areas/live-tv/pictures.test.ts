// DVB picture subtitles: burned in where a viewer chooses them, and kept in the file of a recording.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { newId } from '#platform/ids.ts';
import { listParts, PARTS_BUCKET, partKey } from '#platform/live/parts.ts';
import { wantRendition } from '#platform/live/renditions.store.ts';
import { LIVE_BUCKET, listSegments, segmentKey } from '#platform/live/segments.ts';
import type { Api, TestClient } from '#support/api.ts';
import { watchedChannel } from '#support/live-stage.ts';
import { dvdFilm } from '#support/picture-films.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { joinParts } from '#workers/live/finish/join.ts';
import type { Work } from '#workers/work.ts';

const RATE = 25;

/** Eight seconds of black with a white box from 2 to 5, as DVB subtitles in German. */
async function subtitled(): Promise<Buffer> {
  const folder = temporaryFolder('live-dvb');
  const film = await dvdFilm(folder, 15);
  const path = join(folder, 'broadcast.ts');
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-y', '-i', film, '-f', 'lavfi', '-i', 'sine=sample_rate=48000', '-t', '8'],
    ...['-map', '0:v', '-map', '1:a', '-map', '0:s', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25'],
    ...['-c:a', 'aac', '-c:s', 'dvbsub', '-metadata:s:s:0', 'language=ger', '-f', 'mpegts', path],
  ]);
  return readFileSync(path);
}

/** Mean brightness of the place of the box in each picture. */
function boxOf(path: string): number[] {
  const filters = 'scale=720:576,crop=200:20:150:490,scale=1:1:flags=area,format=gray';
  const args = ['-v', 'error', '-i', path, '-map', '0:v:0', '-vf', filters, '-f', 'rawvideo', '-'];
  return [...execFileSync('ffmpeg', args, { maxBuffer: 1 << 24 })];
}

describe('DVB picture subtitles', function () {
  this.timeout(150_000);
  let api: Api;
  let channel: string;
  let viewer: TestClient;
  let headers: Record<string, string>;

  const watch = (more: object = {}) =>
    viewer.watchLiveChannel({ params: { id: channel }, body: { client: { builtIn: 'chromium' }, ...more } });
  const end = (id: string) => viewer.endPlaybackSession({ params: { id } });

  before(async () => {
    ({ api, channel, viewer, headers } = await watchedChannel(await subtitled()));
  });

  it('are burned into a rendition of their own for those who choose them, also during a session', async () => {
    const plain = await watch();
    expect(plain.status).to.equal(201);
    const { session, subtitles } = plain.body;
    expect(session.decision).to.deep.include({ method: 'direct_stream' });
    expect(subtitles.map(({ format, language, url }) => [format, language, url])).to.deep.equal([['dvb', 'de', '']]);
    const other = await watch({ subtitleLanguage: 'fr' });
    expect(other.body.session.decision.subtitle).to.equal(undefined);
    const chosen = await watch({ subtitleLanguage: 'de' });
    const { decision, live, id } = chosen.body.session;
    expect(decision).to.deep.include({ method: 'transcode' });
    expect(decision.reasons).to.include('subtitle-burn-in');
    expect(decision.subtitle).to.deep.equal({ streamId: subtitles[0]?.streamId, delivery: 'burn-in' });
    const { body: changed } = await viewer.changePlayback({
      params: { id: session.id },
      body: { subtitleStreamId: subtitles[0]?.streamId ?? null },
    });
    expect(changed.session.decision.subtitle).to.deep.equal(decision.subtitle);
    expect(await api.deps.db('live_renditions').where({ channel_id: channel }).select('id')).to.have.length(1);
    const address = `/api/v1/live/sessions/${id}/${live?.rendition}`;
    const names = await eventually(async () => {
      const answer = await api.fetch(`${address}/index.m3u8`, { headers });
      const found = answer.status === 200 ? ((await answer.text()).match(/^segments\/.*$/gm) ?? []) : [];
      return found.length > 4 && found;
    }, 90_000);
    const path = join(temporaryFolder('live-burned'), 'all.ts');
    const parts = await Promise.all(
      names.map(async (name) => Buffer.from(await (await api.fetch(`${address}/${name}`, { headers })).arrayBuffer())),
    );
    writeFileSync(path, Buffer.concat(parts));
    const box = boxOf(path);
    expect(box.filter((grey) => grey > 180).length, 'pictures with the subtitle').to.be.within(RATE, box.length / 1.5);
    expect(box.filter((grey) => grey < 40).length, 'pictures without it').to.be.greaterThan(RATE);
    const { body: off } = await viewer.changePlayback({ params: { id: session.id }, body: { subtitleStreamId: null } });
    expect(off.session.decision).to.deep.include({ method: 'direct_stream' }).and.not.have.property('subtitle');
    for (const one of [session.id, other.body.session.id, id]) await end(one);
  });

  it('are left out where the present source has no such stream, and the pictures go on', async () => {
    const chosen = await watch({ subtitleLanguage: 'de' });
    const { live, id } = chosen.body.session;
    const rendition = live?.rendition ?? '';
    const row = await api.deps.db('live_renditions').where({ channel_id: channel, rendition }).first();
    expect(row?.options.video?.pictures).to.be.greaterThan(0);
    const options = JSON.stringify({ ...row?.options, video: { ...row?.options.video, pictures: 40 } });
    await api.deps.db('live_renditions').where({ channel_id: channel }).update({ ended_at: new Date() });
    await wantRendition(api.deps.db, { channelId: channel, rendition, options: JSON.parse(options) });
    const address = `/api/v1/live/sessions/${id}/${rendition}`;
    await eventually(async () => {
      const answer = await api.fetch(`${address}/index.m3u8`, { headers });
      return answer.status === 200 && (await answer.text()).split('#EXTINF').length > 3;
    }, 60_000);
    await end(id);
  });

  it('stay in the file of a recording, where they can be burned in too', async () => {
    const { deps, config } = api;
    const segments = (await listSegments(deps, channel)).slice(0, 4);
    const row = { id: newId(), title: 'News', start_at: new Date(), channel_name: 'One' };
    const none = {
      episode_title: null,
      description: null,
      age_rating: null,
      season_number: null,
      episode_number: null,
    };
    for (const one of segments) {
      const from = { bucket: LIVE_BUCKET, key: segmentKey(channel, one) } as const;
      await deps.objects.copy(from, { bucket: PARTS_BUCKET, key: partKey(row.id, one) });
    }
    const target = join(temporaryFolder('live-joined'), 'news.mkv');
    const work = { ...deps, config, signal: new AbortController().signal } as unknown as Work;
    const parts = await listParts(deps, row.id);
    await joinParts(work, { row: { ...row, ...none } as RecordingRow, parts, target });
    const shown = execFileSync('ffprobe', [
      ...['-v', 'error', '-select_streams', 's', '-show_entries', 'stream=codec_name:stream_tags=language'],
      ...['-of', 'csv=p=0', target],
    ]);
    expect(shown.toString().trim()).to.equal('dvb_subtitle,ger');
  });
});
