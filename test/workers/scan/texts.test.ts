import { writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findSource, versionOf } from '#areas/streaming/files/sources.view.ts';
import { textTrackKey } from '#areas/streaming/public.ts';
import { planOf } from '#areas/streaming/segments/plan.ts';
import { addKept } from '#areas/subtitles/public.ts';
import { CaptionScript, line21, withCaptions } from '#support/captions.ts';
import { tool } from '#support/hls-validator.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { teletextStream } from '#support/teletext.ts';
import { broadcast } from '#support/tuner-box.ts';
import { extractSubtitles } from '#workers/subtitles/extract-job.ts';
import { SessionTexts } from '#workers/transcode/words.ts';
import { newPlace, type Place } from './support.ts';

describe('texts inside a file without an index', function () {
  this.timeout(60_000);
  let place: Place;

  before(async function () {
    this.timeout(600_000);
    place = await newPlace('movies');
  });

  it('are extracted after the scan, so that no session that burns them in waits', async () => {
    const { db, objects } = place.api.deps;
    const folder = temporaryFolder('texts');
    writeFileSync(join(folder, 'words.srt'), '1\n00:00:01,000 --> 00:00:02,000\nGood morning\n');
    await place.put('Plain (2001)/Plain (2001).mkv', 'h264-base.mkv');
    await place.put('Old (2002)/Old (2002).flv', 'h264.flv');
    const old = join(place.path, 'Old (2002)/Old (2002).flv');
    const inputs = ['-i', join(place.made, 'h264.flv'), '-i', join(folder, 'words.srt')];
    await tool('ffmpeg', ['-v', 'error', '-y', ...inputs, '-map', '0', '-map', '1', '-c', 'copy', '-c:s', 'text', old]);
    await place.age();
    await place.scan();
    const file = (await place.files()).find(({ path }) => path.endsWith('.flv'));
    const jobs = await db('jobs').where({ kind: 'subtitles.extract', library_id: place.libraryId }).select('payload');
    expect(jobs.map(({ payload }) => payload)).to.deep.equal([{ fileId: file?.id }]);
    await extractSubtitles({ fileId: file?.id ?? '' }, place.work());
    const source = await findSource(db, file?.id ?? '');
    if (!source?.probe) throw new Error('not read');
    const { container, startMs, streams } = source.probe;
    const { index = -1 } = streams.find(({ kind }) => kind === 'subtitle') ?? {};
    const kept = textTrackKey({ fileId: source.id, version: versionOf(source) }, index);
    const text = Buffer.concat((await (await objects.get('foyer-subtitles', kept)).toArray()) as Buffer[]);
    expect(text.toString()).to.contain('Good morning');

    const burnIn = { streamIndex: index, number: 0, kind: 'text' as const };
    const plan = planOf(
      {
        ...{ playbackSessionId: '', accountId: '', profileId: '', itemId: '', fileId: source.id },
        ...{ mode: 'encode', container: 'fmp4', durationMs: source.durationMs, startMs: 0, audio: [], subtitles: [] },
        video: [
          {
            ...{ streamIndex: 0, action: 'encode', sourceCodec: 'h264', codec: 'h264', width: 160, height: 90 },
            ...{ frameRate: 25, bitrate: 1, toneMap: false, deinterlace: false, burnIn },
          },
        ],
      },
      { storageId: source.storageId, path: source.path, container, startMs, version: versionOf(source) },
    );
    const texts = new SessionTexts(plan, { objects, scratchDir: folder, pathOf: async () => undefined });
    atEnd(() => texts.end());
    const words = await texts.burned('v0', '/there/is/no/such/film');
    expect(words?.file, 'the film was not needed').to.match(/words\.ass$/);
  });

  it('are read of teletext too, for a player as for a playlist', async () => {
    const { api } = place;
    const pages = [
      { atMs: 11_000, lines: [20, 22].map((row) => ({ row, text: row === 20 ? 'Good morning' : 'from the mast' })) },
      { atMs: 13_000, lines: [] },
      { atMs: 15_000, lines: [{ row: 22, text: 'It is late & cold' }] },
      { atMs: 17_000, lines: [] },
    ];
    const words = join(temporaryFolder('teletext'), 'words.ts');
    writeFileSync(words, teletextStream(pages));
    await place.put('Cast (2003)/Cast (2003).ts', 'mpeg2-ac3.ts');
    const film = join(place.path, 'Cast (2003)/Cast (2003).ts');
    const inputs = ['-i', join(place.made, 'mpeg2-ac3.ts'), '-copyts', '-itsoffset', '-8', '-i', words];
    await tool('ffmpeg', [
      '-v',
      'error',
      '-y',
      ...inputs,
      '-map',
      '0:v',
      '-map',
      '0:a',
      '-map',
      '1',
      '-c',
      'copy',
      film,
    ]);
    await place.age();
    await place.scan();
    const file = (await place.files()).find(({ path }) => path.endsWith('.ts'));
    await extractSubtitles({ fileId: file?.id ?? '' }, place.work());
    const viewer = await api.given.admin();
    const started = await api.as(viewer).startPlayback({
      params: { id: file?.item_id ?? '' },
      body: { client: { builtIn: 'chromium' }, subtitleStreamId: (await trackOf(file?.id))?.id },
    });
    expect(started.status, JSON.stringify(started.body)).to.equal(201);
    const { session, subtitles } = started.body;
    expect(session.decision.subtitle?.delivery).to.equal('hls');
    const text = await (await api.fetch(subtitles[0]?.url ?? '', { headers: viewer.headers })).text();
    const shown = [...text.matchAll(/([\d:.]+) --> ([\d:.]+)\n(.+)/g)].map(([, from, to, line]) => [from, to, line]);
    expect(shown.map(([, , line]) => line)).to.deep.equal(['Good morning', 'It is late &amp; cold']);
    expect(shown.map(([from]) => Number(from?.slice(-6))).map((at, _, all) => at - (all[0] ?? 0))).to.deep.equal([
      0, 4,
    ]);
    const cut = session.url.replace(/master\.m3u8.*/, 's0/segments/');
    const segments = await Promise.all(
      [0, 1, 2].map(async (n) => (await api.fetch(`${cut}${n}.vtt`, { headers: viewer.headers })).text()),
    );
    expect(segments.join('')).to.contain('from the mast');
  });

  it('are read of the pictures of a transport stream', async () => {
    const { api } = place;
    const script = new CaptionScript().field(500, line21.popOn('NEWS & SPORT')).field(4000, line21.clear());
    await place.put('Air (2005)/Air (2005).ts', 'mpeg2-ac3.ts');
    const bytes = withCaptions(broadcast('h264'), (atMs) => script.at(atMs));
    writeFileSync(join(place.path, 'Air (2005)/Air (2005).ts'), bytes);
    await place.age();
    await place.scan();
    const file = (await place.files()).find(({ path }) => path.endsWith('Air (2005).ts'));
    await extractSubtitles({ fileId: file?.id ?? '' }, place.work());
    const viewer = await api.given.admin();
    const started = await api.as(viewer).startPlayback({
      params: { id: file?.item_id ?? '' },
      body: { client: { builtIn: 'chromium' }, subtitleStreamId: (await trackOf(file?.id))?.id },
    });
    expect(started.status, JSON.stringify(started.body)).to.equal(201);
    const text = await (await api.fetch(started.body.subtitles[0]?.url ?? '', { headers: viewer.headers })).text();
    const [, from, to, line] = /([\d:.]+) --> ([\d:.]+)\n(.+)/.exec(text) ?? [];
    expect(line).to.equal('NEWS &amp; SPORT');
    expect(Number(from?.slice(-6))).to.be.within(0.9, 1.2); // a picture has two letters
    expect(Number(to?.slice(-6))).to.be.within(3.9, 4.2);
  });

  it('are for the hearing impaired where their cues name sounds and speakers', async () => {
    const { db } = place.api.deps;
    const words = join(temporaryFolder('sounds'), 'words.srt');
    const cues = ['Good morning', '[door slams]', '(sighs)', 'MARY: Hello.'].map(
      (text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},900\n${text}\n`,
    );
    writeFileSync(words, cues.join('\n'));
    await place.put('Loud (2006)/Loud (2006).mp4', 'h264-aac.mp4');
    const film = join(place.path, 'Loud (2006)/Loud (2006).mp4');
    const inputs = ['-i', join(place.made, 'h264-aac.mp4'), '-i', words, '-map', '0:v', '-map', '1'];
    await tool('ffmpeg', ['-v', 'error', '-y', ...inputs, '-c', 'copy', '-c:s', 'mov_text', film]);
    await place.age();
    await place.scan();
    const file = (await place.files()).find(({ path }) => path.endsWith('Loud (2006).mp4'));
    const marked = () => db('media_streams').where({ file_id: file?.id, kind: 'subtitle' }).pluck('hearing_impaired');
    expect(await marked()).to.deep.equal([false]);
    await extractSubtitles({ fileId: file?.id ?? '' }, place.work());
    expect(await marked()).to.deep.equal([true]);
  });

  it('are read of a track of captions', async () => {
    const captions = join(temporaryFolder('captions'), 'words.scc');
    const codes = '9420 9420 9470 9470 c8e5 ecec ef80 942f 942f'; // Hello
    writeFileSync(captions, `Scenarist_SCC V1.0\n\n00:00:01:00\t${codes}\n\n00:00:03:00\t942c 942c\n`);
    await place.put('Captions (2004)/Captions (2004).mov', 'mjpeg-pcm.mov');
    const film = join(place.path, 'Captions (2004)/Captions (2004).mov');
    const inputs = ['-i', join(place.made, 'h264-aac.mp4'), '-i', captions];
    await tool('ffmpeg', ['-v', 'error', '-y', ...inputs, '-map', '0:v', '-map', '1', '-c', 'copy', film]);
    await place.age();
    await place.scan();
    const file = (await place.files()).find(({ path }) => path.endsWith('.mov'));
    await extractSubtitles({ fileId: file?.id ?? '' }, place.work());
    const viewer = await place.api.given.admin();
    const { stream_index } = (await trackOf(file?.id)) ?? {};
    const url = `/api/v1/items/${file?.item_id}/subtitles/${stream_index}`;
    const text = await (await place.api.fetch(url, { headers: viewer.headers })).text();
    expect(text).to.match(/00:01.000 --> 00:00:0[23].*\nHello/);
  });

  const trackOf = (fileId = ''): Promise<{ id: string; stream_index: number } | undefined> =>
    place.api.deps.db('media_streams').where({ file_id: fileId, kind: 'subtitle' }).first('id', 'stream_index');

  it('that the server keeps outlive a change of the film, and its tracks keep their ids', async () => {
    const { db } = place.api.deps;
    await place.put('Kept (2003)/Kept (2003).mkv', 'h264-base.mkv');
    await place.age();
    await place.scan();
    const file = (await place.files()).find(({ path }) => path.endsWith('(2003).mkv'));
    const origin = { source: 'generated' as const, model: 'base', task: 'transcribe' as const };
    const text = { bytes: Buffer.from('x'), format: 'srt' as const, cueCount: 1 };
    const stream = { fileId: file?.id ?? '', language: 'en', forced: false, hearingImpaired: false };
    const id = await addKept(db, text, { ...stream, accountId: null, origin });
    const ids = (): Promise<string[]> => db('media_streams').where({ file_id: file?.id }).orderBy('id').pluck('id');
    const before = await ids();
    expect(before).to.include(id);
    await appendFile(join(place.path, 'Kept (2003)/Kept (2003).mkv'), Buffer.alloc(64));
    await place.age();
    await place.scan();
    expect(await ids()).to.deep.equal(before);
  });
});
