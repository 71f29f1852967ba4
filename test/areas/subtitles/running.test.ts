import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { addKept, type KeptText, putKeptText } from '#areas/subtitles/public.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, clientFor, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { probedFilm } from '#support/probed-film.ts';
import { replicaOf } from '#support/replica.ts';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const bytes = Buffer.from('1\n00:00:01,000 --> 00:00:03,000\nFound elsewhere\n');
const TEXT: KeptText = { bytes, format: 'srt', cueCount: 1 };

describe('texts that come and go while people watch', function () {
  this.timeout(120_000);
  let api: Api;
  let owner: Person;
  let viewer: Person;
  let me: TestClient;
  let other: TestClient;
  let itemId: string;
  let fileId: string;

  before(async function () {
    this.timeout(600_000);
    const { made } = await fixtures();
    api = await startApi();
    owner = await api.given.owner();
    viewer = await api.given.member();
    me = api.as(viewer);
    other = clientFor((await replicaOf(api)).url, viewer.headers);
    worker({ ...api.deps, environment: {} } as Stage);
    const path = join(api.mediaRoot, 'Film.mkv');
    copyFileSync(join(made, 'h264-multi.mkv'), path);
    ({ itemId, fileId } = await probedFilm(api, await givenLibrary(api.deps.db, 'movies'), path));
    await putKeptText(api.deps.objects, TEXT);
  });

  const keep = (accountId: string, source: 'fetched' | 'generated' = 'fetched'): Promise<string> =>
    api.deps.db.transaction((trx) =>
      addKept(trx, TEXT, {
        ...{ fileId, language: 'de', forced: false, hearingImpaired: false, accountId },
        origin:
          source === 'fetched'
            ? { source, provider: 'folder', providerFile: '1', release: 'Film' }
            : { source, model: 'base', task: 'transcribe' },
      }),
    );
  const words = async (url: string): Promise<string> => {
    const answer = await api.fetch(url, { headers: viewer.headers });
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer.text();
  };
  const textLines = (master: string): string[] => master.split('\n').filter((line) => line.includes('TYPE=SUBTITLES'));

  it('join the session at its end, and nothing is encoded again', async () => {
    const { db, objects } = api.deps;
    const client = { builtIn: 'chromium' };
    const started = await me.startPlayback({ params: { id: itemId }, body: { client } });
    expect(started.status, JSON.stringify(started.body)).to.equal(201);
    const { session } = started.body;
    expect(session.decision.method).to.not.equal('direct_play');
    const stream = session.transcodeSessionId ?? '';
    const base = `/api/v1/stream/${stream}`;
    const before = textLines(await words(session.url));
    const master = (await words(session.url)).split('\n');
    const variant = master.find((line) => /^v\d\//.test(line)) ?? '';
    const rendition = variant.split('/')[0];
    await eventually(
      async () => (await api.fetch(`${base}/${rendition}/segments/0.m4s`, { headers: viewer.headers })).ok,
      60_000,
    );
    const made = await objects.stat('foyer-transcode', `${stream}/${rendition}/0.m4s`);

    const streamId = await keep(viewer.accountId);
    const change = async (client: TestClient, body = {}) =>
      (await client.changePlayback({ params: { id: session.id }, body })).body;
    const after = await change(other);
    expect(after.session.transcodeSessionId).to.equal(stream);
    expect(after.session.url).to.not.equal(session.url);
    expect((await change(me)).session.url, 'nothing new').to.equal(after.session.url);
    const lines = textLines(await words(after.session.url));
    expect(lines.slice(0, -1)).to.deep.equal(before);
    const added = /URI="(s\d+)\/index/.exec(lines.at(-1) ?? '')?.[1];
    expect(added).to.equal(`s${before.length}`);
    expect(after.subtitles.find((one) => one.streamId === streamId)?.file).to.equal(`${streamId}.srt`);
    const kept = await words(after.subtitles.find((one) => one.streamId === streamId)?.url ?? '');
    expect(kept).to.contain('00:00:01.000 --> 00:00:03.000\nFound elsewhere');

    const playlist = await words(`${base}/${added}/index.m3u8`);
    const first = /segments\/0\.vtt\?v=\S+/.exec(playlist)?.[0] ?? '';
    expect(await words(`${base}/${added}/${first}`)).to.contain('00:00:01.000 --> 00:00:03.000\nFound elsewhere');
    await me.setSubtitleTiming({ params: { id: itemId, streamId }, body: { offsetMs: 2500 } });
    const corrected = await change(other);
    expect(corrected.session.transcodeSessionId).to.equal(stream);
    expect(corrected.session.url).to.not.equal(after.session.url);
    const moved = /segments\/1\.vtt\?v=\S+/.exec(await words(`${base}/${added}/index.m3u8`))?.[0] ?? '';
    expect(await words(`${base}/${added}/${moved}`)).to.contain('00:00:03.500 --> 00:00:05.500\nFound elsewhere');
    const cache = async (address: string): Promise<string | null> =>
      (await api.fetch(`${base}/${added}/${address}`, { headers: viewer.headers })).headers.get('cache-control');
    expect(await cache(moved)).to.equal('private, max-age=3600');
    expect(await cache(first), 'an old version').to.equal('private, no-cache');

    const chosen = await change(me, { subtitleStreamId: streamId });
    expect(chosen.session.transcodeSessionId).to.equal(stream);
    expect(textLines(await words(chosen.session.url)).at(-1)).to.contain('DEFAULT=YES');
    expect((await me.removeSubtitle({ params: { id: itemId, file: streamId } })).status).to.equal(204);
    const gone = await change(other);
    expect(gone.session).to.include({ transcodeSessionId: stream });
    expect(gone.session.decision.subtitle).to.equal(undefined);
    expect(textLines(await words(gone.session.url))).to.deep.equal(before);
    expect(await words(`${base}/${added}/segments/0.vtt`)).to.not.contain('Found');
    expect(await db('subtitle_syncs').where({ file_id: fileId })).to.deep.equal([]);

    const next = await keep(viewer.accountId);
    const again = textLines(await words((await change(me)).session.url));
    expect(again.at(-1), 'a number is not used again').to.contain(`URI="s${before.length + 1}/`);
    await me.removeSubtitle({ params: { id: itemId, file: next } });
    expect(await objects.stat('foyer-transcode', `${stream}/${rendition}/0.m4s`)).to.deep.equal(made);
    const sessions = await db('transcode_sessions').select('restarts');
    expect(sessions).to.deep.equal([{ restarts: 0 }]);
  });

  it('begin another encoding where they are drawn into the picture', async () => {
    const sound = [{ codec: 'aac', maxChannels: 2 }];
    const hls = {
      segments: ['fmp4'],
      video: [{ codec: 'h264', hdr: [] }],
      audio: sound,
      audioRenditions: false,
      webvtt: false,
    };
    const body = { client: { hls, direct: [], subtitles: { formats: [], pictures: false } } };
    const streamId = await keep(viewer.accountId);
    const start = { params: { id: itemId }, body: { ...body, subtitleStreamId: streamId } };
    const started = await me.startPlayback(start);
    expect(started.status, JSON.stringify(started.body)).to.equal(201);
    const { session } = started.body;
    expect(session.decision.subtitle?.delivery).to.equal('burn-in');
    const change = async () => (await other.changePlayback({ params: { id: session.id }, body: {} })).body.session;
    expect((await change()).transcodeSessionId, 'as it was').to.equal(session.transcodeSessionId);
    await me.setSubtitleTiming({ params: { id: itemId, streamId }, body: { offsetMs: 1000 } });
    const changed = await change();
    expect(changed.transcodeSessionId).to.not.equal(session.transcodeSessionId);
    const row = await api.deps.db('transcode_sessions').where({ id: changed.transcodeSessionId }).first('plan');
    expect(row?.plan.video[0].burnIn).to.deep.include({ timing: { offsetMs: 1000, rate: 1, pieces: [] } });
    await me.removeSubtitle({ params: { id: itemId, file: streamId } });
  });

  it('are removed by who fetched them within a week, and by administrators', async () => {
    const admin = api.as(owner);
    const remove = async (by: TestClient, streamId: string) =>
      by.removeSubtitle({ params: { id: itemId, file: streamId } });
    const mine = await keep(viewer.accountId);
    const tracks = async (by: TestClient) =>
      (await by.getItem({ params: { id: itemId } })).body.files?.[0]?.streams ?? [];
    const may = async (by: TestClient, id: string) => (await tracks(by)).find((one) => one.id === id)?.mayRemove;
    const stranger = api.as(await api.given.member());
    expect([await may(me, mine), await may(stranger, mine), await may(admin, mine)]).to.deep.equal([true, false, true]);
    const refused = await remove(stranger, mine);
    expect([refused.status, errorOf(refused).code]).to.deep.equal([403, 'FORBIDDEN']);
    await api.deps
      .db('kept_subtitles')
      .where({ stream_id: mine })
      .update({ added_at: new Date(Date.now() - 8 * 86_400_000) });
    expect([await may(me, mine), (await remove(me, mine)).status]).to.deep.equal([false, 403]);
    expect((await remove(admin, mine)).status).to.equal(204);
    expect((await remove(admin, mine)).status, 'a second time').to.equal(404);
    const heard = await keep(viewer.accountId, 'generated');
    expect(errorOf(await remove(admin, heard)).details).to.deep.equal({ reason: 'generated' });
    const inside = (await tracks(me)).find((one) => one.source === 'embedded')?.id ?? '';
    expect(errorOf(await remove(admin, inside)).details).to.deep.equal({ reason: 'not-fetched' });
  });
});
