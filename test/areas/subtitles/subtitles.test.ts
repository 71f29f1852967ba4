import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AS_MADE } from '#platform/subtitles/timing.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { tool } from '#support/hls-validator.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { handlers } from '#workers/handlers.ts';
import { probeFile } from '#workers/probe/probe.ts';
import { startRuntime } from '#workers/runtime.ts';
import { attachedNames } from '../../../api/areas/subtitles/attached.ts';
import { substationOf, webvttOf } from '../../../api/areas/subtitles/writers.ts';

const SRT = '1\n00:00:01,000 --> 00:00:02,000\n{\\an8}A <i>word</i> & more\n\n2\n00:00:02,500 --> 00:00:02,900\nLast\n';
const ASS = `[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Sign,Foyer,20

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.50,Sign,,0,0,0,,{\\fad(100,100)\\i1}Sign{\\i0}
`;
/** Bytes that begin like a font. */
const FONT = Buffer.concat([Buffer.from([0, 1, 0, 0]), Buffer.alloc(500, 7)]);

describe('subtitles of a film that is played as it is', function () {
  this.timeout(120_000);
  let api: Api;
  let library: GivenLibrary;
  let person: Person;
  let me: TestClient;
  let item: string;
  let fileId: string;

  before(async () => {
    api = await startApi();
    await api.given.owner();
    library = await givenLibrary(api.deps.db, 'movies');
    person = await api.given.member();
    me = api.as(person);
    const runtime = await startRuntime(api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
    const folder = temporaryFolder('subtitles');
    const parts = { 'w.srt': SRT, 'w.ass': ASS, 'f.ttf': FONT, 'no.ttf': '#!/bin/sh' };
    for (const [name, content] of Object.entries(parts)) writeFileSync(join(folder, name), content);
    const path = join(api.mediaRoot, 'Styled.mkv');
    await tool('ffmpeg', [
      ...['-v', 'error', '-f', 'lavfi', '-i', 'color=s=64x36:r=10:d=3'],
      ...['-i', join(folder, 'w.srt'), '-i', join(folder, 'w.ass')],
      ...['-map', '0', '-map', '1', '-map', '2', '-c:v', 'libx264', '-c:s:0', 'srt', '-c:s:1', 'copy'],
      ...['f.ttf', 'no.ttf', 'f.ttf'].flatMap((name) => ['-attach', join(folder, name)]),
      ...['-metadata:s:t', 'mimetype=font/ttf', path],
    ]);
    writeFileSync(join(api.mediaRoot, 'Styled.fr.srt'), Buffer.from(SRT.replace('Last', 'D\xe9j\xe0'), 'latin1'));
    item = await givenItem(api.deps.db, library, { runtime_ms: 3000 });
    const { file } = await probeFile(path, {});
    const inside = file.streams.map(({ kind, codec, ...probe }) => ({ kind, codec, probe }));
    const external = { kind: 'subtitle', codec: 'subrip', language: 'fr', external_path: 'Styled.fr.srt' };
    const pictures = { kind: 'subtitle', codec: 'pgs' };
    fileId = await givenFile(api.deps.db, library, item, {
      ...{ container: 'matroska', duration_ms: 3000, probe: { ...file } },
      streams: [...inside, external, pictures],
    });
    const { size, mtimeMs } = statSync(path);
    const known = { path: 'Styled.mkv', size_bytes: size, modified_ms: mtimeMs };
    await api.deps.db('media_files').where({ id: fileId }).update(known);
  });

  const words = ({ body }: { body: unknown }): string => String(body);
  const text = async (url: string, headers = {}): Promise<string> => {
    const answer = await api.fetch(url, { headers: { ...person.headers, ...headers } });
    return `${answer.status} ${answer.headers.get('content-type')}\n${await answer.text()}`;
  };

  it('have the addresses of its session, fonts too', async () => {
    const plays = {
      direct: [{ containers: ['matroska'], video: [{ codec: 'h264', hdr: [] }], audio: [] }],
      subtitles: { formats: ['ass', 'vtt'], pictures: false },
      switchesAudio: false,
    };
    const { body } = await me.startPlayback({ params: { id: item }, body: { client: plays } });
    expect(body.session?.decision.method, JSON.stringify(body)).to.equal('direct_play');
    expect(body.subtitles.find(({ format }) => format === 'pgs')?.url).to.equal('');
    const urls = body.subtitles.filter(({ format }) => format !== 'pgs').map(({ url }) => url);
    const [srt, ass, french] = await Promise.all(urls.map((url) => text(url)));
    expect(srt).to.equal(
      '200 text/vtt; charset=utf-8\nWEBVTT\n\n00:00:01.000 --> 00:00:02.000 line:0\nA <i>word</i> &amp; more\n\n00:00:02.500 --> 00:00:02.900\nLast\n',
    );
    expect(ass).to.contain('00:00:01.000 --> 00:00:02.500\n<i>Sign</i>');
    expect(french).to.contain('Déjà');
    expect(await text(`${urls[1]}&format=ass`)).to.match(
      /^200 text\/x-ssa.*\n\[Script Info\][\s\S]*Style: Sign,Foyer[\s\S]*fad/,
    );
    expect(body.fonts.map(({ name }) => name)).to.deep.equal(['f.ttf', 'no.ttf', 'f (2).ttf']);
    const font = await api.fetch(body.fonts[2]?.url ?? '', { headers: person.headers });
    expect(Buffer.from(await font.arrayBuffer())).to.deep.equal(FONT);
    expect(Object.fromEntries(font.headers)).to.include({
      'content-type': 'font/ttf',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, max-age=31536000, immutable',
    });
  });

  it('are shifted, and unchanged where the client has them', async () => {
    const params = { id: item, file: '1' };
    const later = await me.getSubtitleFile({ params, query: { offsetMs: 1500 } });
    expect(words(later)).to.contain('00:00:02.500 --> 00:00:03.500');
    const earlier = words(await me.getSubtitleFile({ params, query: { offsetMs: -2000 } }));
    expect(earlier).to.not.contain('word');
    expect(earlier).to.contain('00:00:00.500 --> 00:00:00.900');
    const known = { 'if-none-match': later.headers.get('etag') ?? '' };
    expect((await me.getSubtitleFile({ params, query: { offsetMs: 1500 }, headers: known })).status).to.equal(304);
    expect((await me.getSubtitleFile({ params, headers: known })).status).to.equal(200);
    const styled = await me.getSubtitleFile({
      params: { id: item, file: '2' },
      query: { format: 'ass', offsetMs: 60_000 },
    });
    expect(words(styled)).to.contain('Dialogue: 0,0:01:01.00,0:01:02.50,Sign,,0,0,0,,{\\fad(100,100)\\i1}Sign{\\i0}');
    const plain = words(await me.getSubtitleFile({ params, query: { format: 'ass' } }));
    expect(plain).to.contain('Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,A {\\i1}word{\\i0} & more');
  });

  it('lists the fonts whose bytes are one, and gives no other', async () => {
    const { items } = (await me.listItemFonts({ params: { id: item } })).body;
    expect(items.map(({ name, mime, sizeBytes }) => [name, mime, sizeBytes])).to.deep.equal([
      ['f.ttf', 'font/ttf', FONT.length],
      ['f (2).ttf', 'font/ttf', FONT.length],
    ]);
    for (const name of ['no.ttf', 'f (3).ttf', '../f.ttf', 'list.json'])
      expect((await me.getItemFont({ params: { id: item, name } })).status, name).to.equal(404);
    const bare = await givenItem(api.deps.db, library, {});
    await givenFile(api.deps.db, library, bare, {});
    expect((await me.listItemFonts({ params: { id: bare } })).body.items).to.deep.equal([]);
  });

  it('rejects subtitles that are not its own, pictures, and a file of another film', async () => {
    const subtitle = async (file: string, query = {}) => me.getSubtitleFile({ params: { id: item, file }, query });
    for (const file of ['0', '9', '../Styled.fr.srt', 'Styled.mkv', '01'])
      expect((await subtitle(file)).status, file).to.equal(404);
    const pictures = await subtitle('7');
    expect([pictures.status, errorOf(pictures).code]).to.deep.equal([415, 'MEDIA_UNSUPPORTED_CODEC']);
    const other = await givenItem(api.deps.db, library, {});
    const otherFile = await givenFile(api.deps.db, library, other, {});
    expect((await subtitle('1', { fileId: otherFile })).status).to.equal(404);
    expect((await me.listItemFonts({ params: { id: item }, query: { fileId: otherFile } })).status).to.equal(404);
    expect((await subtitle('1', { offsetMs: 3_600_001 })).status).to.equal(400);
    const child = api.as(await api.given.person('child', { age_limit: 6 }));
    await api.deps.db('items').where({ id: item }).update({ age_years: 16 });
    expect((await child.getSubtitleFile({ params: { id: item, file: '1' } })).status).to.equal(404);
    await api.deps.db('items').where({ id: item }).update({ age_years: null });
  });

  it('reports an unavailable storage where no text was extracted, and a film that cannot be read', async () => {
    const { db } = api.deps;
    writeFileSync(join(api.mediaRoot, 'Broken.avi'), 'nothing');
    const broken = await givenItem(db, library, {});
    const streams = [{ kind: 'subtitle', codec: 'subrip' }];
    const id = await givenFile(db, library, broken, {
      streams,
      probe: { container: 'avi', startMs: 0, streams: [{ index: 0, kind: 'subtitle', codec: 'subrip' }] },
    });
    await db('media_files').where({ id }).update({ path: 'Broken.avi' });
    const params = { id: broken, file: '0' };
    const enabled = async (on: boolean) => db('storages').where({ id: api.given.storageId }).update({ enabled: on });
    await enabled(false);
    const unavailable = await me.getSubtitleFile({ params });
    expect([unavailable.status, errorOf(unavailable).code]).to.deep.equal([423, 'STORAGE_UNAVAILABLE']);
    expect((await me.getSubtitleFile({ params: { id: item, file: '1' } })).status, 'kept').to.equal(200);
    await enabled(true);
    for (const _ of ['first', 'again']) {
      const failed = await me.getSubtitleFile({ params });
      expect([failed.status, errorOf(failed).details]).to.deep.equal([500, { reason: 'decode' }]);
    }
    const jobs = await db('jobs').where({ kind: 'subtitles.extract' }).whereRaw(`payload ->> 'fileId' = ?`, [id]);
    expect(jobs, 'read once').to.have.length(1);
  });
});

describe('names of attached files', () => {
  it('are bare, and numbered when two are alike', () => {
    const file = (index: number, fileName: string) => ({ index, kind: 'attachment' as const, fileName });
    const cover = { index: 2, kind: 'video' as const, attachedPicture: true, fileName: 'cover.jpg' };
    const streams = [file(5, '..'), file(1, 'a.ttf'), cover, file(3, '/etc/a.ttf'), file(4, 'a.ttf')];
    expect(attachedNames(streams).map(({ name, place }) => [name, place])).to.deep.equal([
      ['a.ttf', 0],
      ['a (2).ttf', 2],
      ['a (3).ttf', 3],
    ]);
  });
});

describe('texts in other words', () => {
  it('keep their places, and cannot give codes of their own', async () => {
    const shown = {
      bytes: Buffer.from('1\n00:00:01,000 --> 00:00:02,000\n{x} &lt;b&gt; &#65; <b>bold</b>\ntwo\n'),
      language: null,
      format: 'srt',
      timing: AS_MADE,
    };
    expect((await substationOf(shown)).split('\n').at(-2)).to.equal(
      'Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,(x) <b> A {\\b1}bold{\\b0}\\Ntwo',
    );
    const vtt = 'WEBVTT\n\n00:01.000 --> 00:02.000 line:10% align:start evil:1\nHi\n';
    expect(await webvttOf({ bytes: Buffer.from(vtt), language: null, format: 'webvtt', timing: AS_MADE })).to.equal(
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.000 line:10% align:start\nHi\n',
    );
  });
});
