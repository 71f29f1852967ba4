import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SubtitleOptions } from '#areas/streaming/public.ts';
import { openTranscodeSession } from '#areas/streaming/public.ts';
import { findSession } from '#areas/streaming/sessions/sessions.store.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { look, optionsFor, type StreamChoice } from '#support/hls-render.ts';
import { film, type Stage, worker } from '#support/hls-session.ts';
import { tool, validateHls } from '#support/hls-validator.ts';
import { eventually } from '#support/stores.ts';
import { sentKey } from '../../../api/areas/streaming/metered.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

describe('playing a transcode session over HTTP', function () {
  this.timeout(120_000);
  let api: Api;
  let viewer: Person;
  let made: string;

  before(async function () {
    this.timeout(600_000);
    ({ made } = await fixtures());
    api = await startApi();
    viewer = await api.given.owner();
    worker({ ...api.deps, environment: {} } as Stage);
  });

  async function open(
    name: string,
    choice: StreamChoice & { subtitles?: SubtitleOptions[] },
  ): Promise<{ id: string; durationMs: number }> {
    copyFileSync(join(made, name), join(api.mediaRoot, name));
    const { fileId, itemId } = await film(api.deps.db, join(api.mediaRoot, name), api.given.storageId);
    const looked = await look(join(api.mediaRoot, name));
    const options = {
      ...optionsFor(looked, choice),
      fileId,
      itemId,
      ...viewer,
      playbackSessionId: newId(),
      subtitles: choice.subtitles ?? [],
    };
    const { id } = await openTranscodeSession(api.deps.db, options);
    return { id, durationMs: looked.durationMs };
  }

  const read = (id: string) => async (path: string) => {
    const response = await api.fetch(`/api/v1/stream/${id}/${path}`, { headers: viewer.headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  };

  const subtitle = (more: Partial<SubtitleOptions>): SubtitleOptions => ({
    ...{ streamId: newId(), format: 'srt', language: 'en', default: false, forced: false, hearingImpaired: false },
    ...more,
  });

  it('counts the bytes of segments for the playback session, and notes how far its viewer read', async () => {
    const { id } = await open('h264-base.mkv', { mode: 'encode' });
    const row = async () => findSession(api.deps.db, id);
    const key = sentKey((await row())?.playback_session_id ?? '');
    let sent = 0;
    for (const n of ['init.mp4', '0.m4s', '1.m4s', '2.m4s', '3.m4s', '4.m4s'])
      sent += (await read(id)(`v0/segments/${n}`)).length;
    await read(id)('v0/index.m3u8'); // a playlist is no segment
    await eventually(async () => (await api.deps.redis.get(key)) === String(sent), 60_000);
    expect(await api.deps.redis.ttl(key)).to.be.within(3500, 3600);
    const last = async () => (await row())?.wanted_segment;
    await api.deps.db('transcode_sessions').where({ id }).update({ wanted_segment: 4 });
    await read(id)('v0/segments/0.m4s');
    expect(await last(), 'somebody may wait for 4').to.equal(4);
    await api.deps
      .db('transcode_sessions')
      .where({ id })
      .update({ wanted_at: new Date(Date.now() - 31_000) });
    await read(id)('v0/segments/2.m4s');
    expect(await last(), 'near').to.equal(4);
    await read(id)('v0/segments/0.m4s');
    expect(await last()).to.equal(0);
  });

  it('counts the sent bytes of a segment that its player broke off', async () => {
    const { id } = await open('h264-base.mkv', { mode: 'encode' });
    const size = 32 << 20;
    await api.deps.objects.put('foyer-transcode', `${id}/v0/0.m4s`, Buffer.alloc(size));
    const key = sentKey((await findSession(api.deps.db, id))?.playback_session_id ?? '');
    const player = new AbortController();
    const { signal } = player;
    const headers = viewer.headers;
    const answer = await api.fetch(`/api/v1/stream/${id}/v0/segments/0.m4s`, { headers, signal });
    const read = (await answer.body?.getReader().read())?.value?.length ?? 0;
    player.abort();
    const counted = await eventually(async () => Number(await api.deps.redis.get(key)));
    expect(counted).to.be.within(read, size - 1);
  });

  it('gives a complete valid presentation with subtitles, which ffmpeg plays to its end', async () => {
    writeFileSync(
      join(api.mediaRoot, 'beside.srt'),
      Buffer.from('1\r\n00:00:03,500 --> 00:00:04,500\r\nCaf\xe9\r\n', 'latin1'),
    );
    const subtitles = [
      subtitle({ streamIndex: 4, default: true }),
      subtitle({ streamIndex: 5, format: 'ass', forced: true }),
      subtitle({ externalPath: 'beside.srt', hearingImpaired: true }),
    ];
    const { id, durationMs } = await open('h264-base.mkv', { mode: 'encode', subtitles });
    const { faults, renditions } = await validateHls(read(id), { durationMs });
    expect(faults).to.deep.equal([]);
    expect(renditions.map((one) => one.path)).to.include('v0/index.m3u8');
    expect((await read(id)('s0/segments/2.vtt')).toString()).to.contain('It is <i>late</i>.');
    expect((await read(id)('s1/segments/1.vtt')).toString()).to.contain('Guten <i>Morgen</i>.');
    expect((await read(id)('s2/segments/1.vtt')).toString()).to.contain('Café');
    expect((await read(id)('s2/segments/0.vtt')).toString()).not.to.contain('Café');
    const master = (await read(id)('master.m3u8')).toString();
    expect(master).to.match(/TYPE=SUBTITLES.*FORCED=YES/);
    expect(master).to.match(/CHARACTERISTICS="public.accessibility.transcribes-spoken-dialog/);
    const headers = `Authorization: ${viewer.headers.authorization}\r\n`;
    const url = `${api.url}/api/v1/stream/${id}/master.m3u8`;
    const progress = await tool('ffmpeg', [
      '-v',
      'error',
      '-headers',
      headers,
      '-i',
      url,
      '-map',
      '0:v:0',
      '-map',
      '0:a:0',
      '-f',
      'null',
      '-progress',
      'pipe:1',
      '-',
    ]);
    const reached = Number([...progress.toString().matchAll(/out_time_us=(\d+)/g)].at(-1)?.[1]);
    expect(reached / 1000).to.be.within(durationMs - 100, durationMs + 100);
  });

  it('answers a seek to the middle first', async () => {
    const { id } = await open('h264-gop40.mp4', { mode: 'encode' });
    const began = await read(id)('v0/segments/15.m4s');
    expect(began.length).to.be.greaterThan(500);
    expect((await read(id)('v0/segments/3.m4s')).length).to.be.greaterThan(500);
    const answer = await api.as(viewer).getTranscodeSession({ params: { id } });
    const [video] = answer.body.renditions;
    expect(video?.ready.some(({ from, to }) => from <= 15 && to >= 15)).to.equal(true);
    expect(video?.ready.some(({ from }) => from === 3)).to.equal(true);
  });

  it('sends a stored segment with ETag, ranges and 304', async () => {
    const { id } = await open('h264-aac-end.mp4', { mode: 'copy', copyAudio: true });
    const whole = await read(id)('v0/segments/1.m4s');
    const url = `/api/v1/stream/${id}/v0/segments/1.m4s`;
    const part = await api.fetch(url, { headers: { ...viewer.headers, range: 'bytes=10-19' } });
    expect(part.status).to.equal(206);
    expect(Buffer.from(await part.arrayBuffer())).to.deep.equal(whole.subarray(10, 20));
    expect(part.headers.get('cache-control')).to.equal('private, max-age=3600');
    const again = await api.fetch(url, {
      headers: { ...viewer.headers, 'if-none-match': part.headers.get('etag') ?? '' },
    });
    expect(again.status).to.equal(304);
  });

  it('returns the same 404 for anonymous callers, unknown ids, and names that the plan lacks', async () => {
    const { id } = await open('h264-aac-end.mp4', { mode: 'encode' });
    const stranger = await api.given.member();
    for (const [person, params] of [
      [stranger, { id }],
      [viewer, { id: newId() }],
    ] as const) {
      expect((await api.as(person).getStreamMaster({ params })).status).to.equal(404);
    }
    for (const [rendition, segment] of [
      ['v1', '0.m4s'],
      ['v0', '4.m4s'],
      ['v0', '0.ts'],
      ['v0', '00.m4s'],
      ['v0', '..'],
      ['s0', '0.vtt'],
    ]) {
      const answer = await api
        .as(viewer)
        .getStreamSegment({ params: { id, rendition: rendition ?? '', segment: segment ?? '' } });
      expect(answer.status, `${rendition}/${segment}`).to.equal(404);
    }
  });

  it('writes the same playlist every time, with an ETag, and carries a ticket on', async () => {
    const { id } = await open('h264-gop40.mp4', { mode: 'encode' });
    const first = await api.as(viewer).getStreamPlaylist({ params: { id, rendition: 'v0' } });
    const second = await api.as(viewer).getStreamPlaylist({ params: { id, rendition: 'v0' } });
    expect(first.body).to.deep.equal(second.body);
    expect(first.headers.get('etag')).to.equal(second.headers.get('etag'));
    const cast = await api.as(viewer).getStreamPlaylist({ params: { id, rendition: 'v0' }, query: { ticket: 'a+b' } });
    expect((cast.body as unknown as Buffer).toString()).to.contain('segments/0.m4s?ticket=a%2Bb');
    expect(cast.headers.get('access-control-allow-origin')).to.equal('*');
  });

  it('stops: the segments are 404 and the record shows it', async () => {
    const { id } = await open('h264-gop40.mp4', { mode: 'encode' });
    await read(id)('v0/segments/0.m4s');
    expect((await api.as(viewer).stopTranscodeSession({ params: { id } })).status).to.equal(204);
    expect((await api.as(viewer).stopTranscodeSession({ params: { id } })).status).to.equal(204);
    expect((await api.as(viewer).getTranscodeSession({ params: { id } })).body.state).to.equal('stopped');
    const answer = await api.as(viewer).getStreamSegment({ params: { id, rendition: 'v0', segment: '0.m4s' } });
    expect(answer.status).to.equal(404);
  });

  it('reports a failed transcode, and a lost source', async () => {
    const { id } = await open('garbage.mkv', { mode: 'encode' }).catch(async () => {
      const opened = await open('h264-aac-end.mp4', { mode: 'encode' });
      copyFileSync(join(made, 'garbage.mkv'), join(api.mediaRoot, 'h264-aac-end.mp4'));
      return opened;
    });
    const failed = await api.fetch(`/api/v1/stream/${id}/v0/segments/0.m4s`, { headers: viewer.headers });
    expect(failed.status).to.equal(500);
    const failure = (await failed.json()) as { error: { code: string; details: object } };
    expect(failure.error.code).to.equal('TRANSCODE_FAILED');
    expect(failure.error.details).to.deep.equal({ reason: 'decode', segment: 0 });
    expect((await api.as(viewer).stopTranscodeSession({ params: { id } })).status).to.equal(204);
    const over = await api.fetch(`/api/v1/stream/${id}/v0/segments/0.m4s`, { headers: viewer.headers });
    expect(over.status).to.equal(404);
    const other = await open('h264-50fps.mp4', { mode: 'encode' });
    await api.deps.db('storages').where({ id: api.given.storageId }).update({ enabled: false });
    const unavailable = await api.fetch(`/api/v1/stream/${other.id}/v0/segments/1.m4s`, { headers: viewer.headers });
    expect(unavailable.status).to.equal(423);
    await api.deps.db('storages').where({ id: api.given.storageId }).update({ enabled: true });
    expect((await read(other.id)('v0/segments/1.m4s')).length).to.be.greaterThan(100);
  });
});
