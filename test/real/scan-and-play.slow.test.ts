// Real and made films under the names a household gives them, scanned and played to their end by the whole server.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { OperationId, TestClient } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { measure, type Played, play, type Span, spanOf } from './frames.ts';
import { type Household, startHousehold } from './household.ts';
import { damaged, episodes, fixtureName, hopeless, layMedia, placeOf, playable, real } from './layout.ts';

type Body<N extends OperationId> = Awaited<ReturnType<TestClient[N]>>['body'];
type Item = Body<'getItem'>;
type Started = Body<'startPlayback'>;
type Stream = Item['files'][number]['streams'][number];

const ONE_KEYFRAME = 'h264-gop40.mp4';
const LIBRARIES = { Movies: 'movies', Shows: 'shows', Broken: 'movies', Names: 'movies' };

describe('a household with every sort of file', function () {
  this.timeout(300_000);
  let home: Household;
  const libraries = new Map<string, string>();
  const scans = new Map<string, Body<'getScan'>>();

  before(async () => {
    home = await startHousehold(LIBRARIES, layMedia);
    const found = await eventually(async () => {
      const { body } = await home.owner.listLibraries();
      return body.length === 4 && body.every((one) => one.lastScan?.state === 'completed') && body;
    }, 120_000);
    for (const { id, name, lastScan } of found) {
      libraries.set(name, id);
      const scan = await home.owner.getScan({ params: { id: lastScan?.id ?? '' }, query: { include: 'issues' } });
      scans.set(name, scan.body);
    }
  });
  after(async () => home?.stop());

  const known = new Map<string, Promise<Item[]>>();
  const listed = (library: string): Promise<Item[]> => {
    const items = known.get(library) ?? list(library);
    known.set(library, items);
    return items;
  };
  const list = async (library: string): Promise<Item[]> => {
    const query = { limit: 100 };
    const { body } = await home.owner.listLibraryItems({ params: { id: libraries.get(library) ?? '' }, query });
    expect(body.page.hasMore).to.equal(false);
    return Promise.all(
      body.items.map(async ({ id }) => {
        const item = await home.owner.getItem({ params: { id }, query: { include: 'chapters,extras' } });
        expect(item.status).to.equal(200);
        return item.body;
      }),
    );
  };
  const itemOf = async (library: string, title: string): Promise<Item> => {
    const item = (await listed(library)).find((one) => one.title === title);
    if (!item) throw new Error(`no ${title} in ${library}`);
    return item;
  };
  const issues = (library: string) =>
    (scans.get(library)?.issues ?? []).map(({ kind, path, detail }) => [kind, path, detail?.split(':')[0]]);
  const start = async (id: string, more: Record<string, unknown> = {}): Promise<Started> => {
    const answer = await home.owner.startPlayback({
      params: { id },
      body: { client: { builtIn: 'hls' }, startMs: 0, ...more },
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const stop = async ({ session }: Started): Promise<void> => {
    expect((await home.owner.endPlaybackSession({ params: { id: session.id } })).status).to.be.oneOf([200, 204]);
  };
  const playItem = async (id: string, more: Record<string, unknown> = {}, copy = false): Promise<Played> => {
    const started = await start(id, more);
    const url = home.url + started.session.url;
    const from = typeof more.startMs === 'number' ? more.startMs / 1000 : undefined;
    if (from !== undefined) {
      const master = await (await fetch(url, { headers: home.headers })).text();
      const offset = Number(/#EXT-X-START:TIME-OFFSET=([\d.]+)/.exec(master)?.[1]);
      expect(offset, master).to.be.closeTo(from, 0.001);
    }
    const played = await play({ url, headers: home.headers, copy, ...(from === undefined ? {} : { from }) });
    await stop(started);
    return played;
  };

  describe('scanned', () => {
    for (const [file, tracks] of Object.entries(playable)) {
      it(`knows ${file}`, async () => {
        const { title, year } = fixtureName(file);
        const item = await itemOf('Movies', title);
        expect(item).to.include({ type: 'movie', title, year });
        const [media, ...others] = item.files;
        expect(others).to.deep.equal([]);
        expect([media?.container, ...(media?.streams ?? []).map(trackWord)].join(' ')).to.equal(tracks);
        await expectDuration(item.files[0], join(home.media, placeOf('Movies', file)));
      });
    }

    it('knows real films, their versions, extra and external subtitles', async () => {
      const bunny = await itemOf('Movies', 'Big Buck Bunny');
      expect(bunny).to.include({ year: 2008, type: 'movie' });
      expect(bunny.files.map(({ edition, container }) => [edition, container])).to.deep.equal([
        ['720p', 'mp4'],
        ['480p', 'mp4'],
      ]);
      expect(bunny.files.map(({ streams }) => streams.map(trackWord).join(' '))).to.deep.equal([
        'video:h264 audio:aac:en subtitle:subrip:de:forced subtitle:ass:en',
        'video:h264 audio:aac',
      ]);
      await expectDuration(bunny.files[0], join(home.media, real.film));
      await expectDuration(bunny.files[1], join(home.media, real.clip));
      const [trailer, ...others] = bunny.extras?.items ?? [];
      expect(others).to.deep.equal([]);
      expect(trailer).to.include({ title: 'Official', extraKind: 'trailer', runtimeMs: 55_125 });
      const bikes = await itemOf('Movies', 'Bikes');
      expect(bikes).to.include({ year: 2016 });
      expect(bikes.files[0]?.streams.map(trackWord)).to.deep.equal(['video:h264']);
      expect((await listed('Movies')).length).to.equal(Object.keys(playable).length + 2);
    });

    it('knows chapters', async () => {
      const chapters = async (file: string) =>
        (await itemOf('Movies', fixtureName(file).title)).chapters?.items.map((one) => [one.title, one.startMs]);
      expect(await chapters('h264-multi.mkv')).to.deep.equal([
        ['Opening', 0],
        ['Middle', 6500],
        ['Credits', 15_250],
      ]);
      expect(await chapters('h264-aac.mp4')).to.deep.equal([
        ['One', 0],
        ['Zwei – é', 4000],
      ]);
      expect(await chapters('h264-aac-end.mp4')).to.deep.equal([]);
    });

    it('knows shows, seasons, double and special episodes, dates and extras', async () => {
      const show = await itemOf('Shows', 'Test Show');
      expect(show).to.include({ type: 'show', year: 2019 });
      expect(show.extras?.items.map((one) => [one.title, one.extraKind])).to.deep.equal([['Outtakes', 'other']]);
      expect(await episodesOf(show.id)).to.deep.equal([
        ['Season 1', 1, 'Pilot', 1, undefined],
        ['Season 1', 1, 'Double', 2, 3],
        ['Season 2', 2, 'Return', 1, undefined],
        ['Specials', 0, 'Making of', 1, undefined],
      ]);
      const talk = await itemOf('Shows', 'Daily Talk');
      expect((await episodesOf(talk.id)).map(([season, , title]) => [season, title])).to.deep.equal([
        ['Season 2020', '2020-03-04'],
      ]);
      const pilot = await episodeOf(show.id, 'Pilot');
      expect(pilot.files[0]?.streams.filter((one) => one.external).map(trackWord)).to.deep.equal([
        'subtitle:subrip:pt-BR:impaired',
      ]);
      expect(scans.get('Shows')?.counts).to.include({ found: Object.keys(episodes).length - 1, missing: 0 });
    });

    const treeOf = async (id: string) => (await home.owner.getItemTree({ params: { id } })).body.children ?? [];
    const episodesOf = async (id: string) =>
      (await treeOf(id)).flatMap((season) =>
        (season.children ?? []).map((one) => [season.title, season.index, one.title, one.index, one.indexEnd]),
      );
    const episodeOf = async (id: string, title: string): Promise<Item> => {
      const all = (await treeOf(id)).flatMap((season) => season.children ?? []);
      const found = all.find((one) => one.title === title);
      return (await home.owner.getItem({ params: { id: found?.id ?? '' } })).body;
    };

    it('reports the fault of each bad file, and makes no item of it', async () => {
      const stated = [...Object.entries(hopeless), ...Object.entries(damaged)];
      expect(issues('Broken')).to.have.deep.members(
        stated.map(([file, fault]) => ['corrupt', placeOf('Broken', file), fault]),
      );
      const titles = (await listed('Broken')).map((one) => one.title);
      expect(titles).to.have.members(Object.keys(damaged).map((file) => fixtureName(file).title));
    });

    it('refuses links out of the folder', async () => {
      expect(issues('Movies')).to.have.deep.members([
        ['link-outside', 'Movies/Outside (2000).mkv', undefined],
        ['link-outside', 'Movies/Folder outside (2001)', undefined],
      ]);
      expect(issues('Shows')).to.deep.equal([]);
    });

    it('takes names of any script and sign', async () => {
      const films = (await listed('Names')).map(({ title, year }) => [title, year]);
      expect(films).to.have.deep.members([
        [`It's "quoted"`, 2001],
        ['Two lines', 2002],
        ['Emoji 🎬👩‍🚀', 2003],
        ['فيلم عربي', 2004],
        ['千と千尋の神隠し', 2001],
        ['dash first', 2005],
        ['%d percent $HOME `x`', 2006],
        ['Café decomposed', 2007],
        ['Semi;colon, comma: and \\backslash', 2008],
        ['leading and trailing space', 2009],
      ]);
      expect(issues('Names').map(([kind]) => kind)).to.deep.equal(['bad-encoding']);
    });

    it('probes nothing again when nothing changed', async () => {
      for (const [name, id] of libraries) {
        const requested = await home.owner.startScan({ params: { id }, body: { mode: 'full' } });
        expect(requested.status).to.equal(202);
        const scan = await eventually(async () => {
          const { body } = await home.owner.getScan({ params: { id: requested.body.id } });
          return body.state === 'completed' && body;
        }, 60_000);
        expect(scan.counts, name).to.include({ added: 0, updated: 0, moved: 0, missing: 0, probed: 0 });
      }
    });
  });

  describe('played by HLS', () => {
    for (const file of Object.keys(playable)) {
      it(`plays ${file} from its beginning and from its middle to its end`, async () => {
        const item = await itemOf('Movies', fixtureName(file).title);
        const [source, played] = await Promise.all([
          play({ url: join(home.media, placeOf('Movies', file)) }),
          playItem(item.id),
        ]);
        const endsMs = item.runtimeMs ?? 0;
        expectWhole(source, played, { endsMs });
        if (file === ONE_KEYFRAME) return; // ffmpeg continues at the next keyframe, and there is none
        const middleMs = Math.round(endsMs / 2);
        expectTail(source, await playItem(item.id, { startMs: middleMs }), { fromMs: middleMs, endsMs });
      });
    }

    it('plays names of any script and sign', async () => {
      const source = await play({ url: join(home.media, 'Names', `It's "quoted" (2001).mkv`) });
      for (const { id, title } of await listed('Names')) {
        expectWhole(source, await playItem(id), { what: title });
      }
    });

    it('plays damaged films as far as they go, without hanging', async () => {
      for (const item of await listed('Broken')) {
        const { video } = await playItem(item.id);
        expect(video.length, item.title).to.be.greaterThan(50);
      }
    });

    it('plays the real short films', async () => {
      const [bunny, bikes] = [await itemOf('Movies', 'Big Buck Bunny'), await itemOf('Movies', 'Bikes')];
      const trailer = bunny.extras?.items[0]?.id ?? '';
      const clip = { fileId: bunny.files[1]?.id };
      expectWhole(await play({ url: join(home.media, real.trailer) }), await playItem(trailer));
      expectWhole(await play({ url: join(home.media, real.clip) }), await playItem(bunny.id, clip));
      expectWhole(await play({ url: join(home.media, real.bikes) }), await playItem(bikes.id));
    });
  });

  describe('the whole film of ten minutes', () => {
    const bunny = () => itemOf('Movies', 'Big Buck Bunny');

    it('is copied packet by packet from its first to its last', async () => {
      const { id, files } = await bunny();
      const fileId = files[0]?.id;
      const dry = await home.owner.startPlayback({
        params: { id },
        body: { client: { builtIn: 'hls' }, fileId, dryRun: true },
      });
      expect(dry.body.session.decision).to.include({ method: 'direct_stream' });
      const source = await play({ url: join(home.media, real.film), copy: true });
      const played = await playItem(id, { fileId }, true);
      expect(played.words).to.equal('');
      expectWhole(source, played);
      expect(played.video.length).to.equal(source.video.length);
      expect(sums(played.video)).to.equal(sums(source.video));
      expect(played.audio.length).to.be.closeTo(source.audio.length, 2);
    });

    // By the segments themselves: ffmpeg 5.1 finds no place in fMP4 HLS by -ss, not even in its own.
    it('is encoded from near its end to its end', async () => {
      const { id, files } = await bunny();
      const more = { fileId: files[0]?.id, quality: await smallest(id), startMs: 580_000 };
      const started = await start(id, more);
      const read = reader(started);
      for (const rendition of ['v0', 'a0']) {
        const parts = [await read(`${rendition}/segments/init.mp4`)];
        for (let n = 290; n <= 297; n++) parts.push(await read(`${rendition}/segments/${n}.m4s`));
        const file = join(home.folder, `tail-${rendition}.mp4`);
        writeFileSync(file, Buffer.concat(parts));
        const span = spanOf((await play({ url: file, from: 0 })).video);
        expect(span.from).to.be.within(579.95, 580.05);
        expect(span.to).to.be.closeTo(596.46, 0.06);
        expect(span.step).to.be.below(2 * span.unit + 0.001);
      }
      await stop(started);
    });

    it('is encoded at once wherever one seeks', async () => {
      const { id, files } = await bunny();
      const started = await start(id, { fileId: files[0]?.id, quality: await smallest(id) });
      expect(started.session.decision.method).to.equal('transcode');
      const read = reader(started);
      const { body } = await home.owner.getTranscodeSession({
        params: { id: started.session.transcodeSessionId ?? '' },
      });
      for (const part of [0.5, 0.1, 0.9]) {
        const n = Math.floor(body.segmentCount * part);
        const [head, segment] = [await read('v0/segments/init.mp4'), await read(`v0/segments/${n}.m4s`)];
        const file = join(home.folder, `${n}.mp4`);
        writeFileSync(file, Buffer.concat([head, segment]));
        const { video } = await play({ url: file });
        expect(video.length).to.be.within(47, 49);
      }
      await stop(started);
    });

    const reader =
      (started: Started) =>
      async (path: string): Promise<Buffer> => {
        const base = `${home.url}${started.session.url.replace(/master\.m3u8.*/, '')}`;
        const answer = await fetch(base + path, { headers: home.headers });
        expect(answer.status, path).to.equal(200);
        return Buffer.from(await answer.arrayBuffer());
      };

    const smallest = async (id: string): Promise<string> => {
      const { session } = await start(id);
      await stop({ session } as Started);
      const encoded = session.decision.alternatives.filter((one) => one.method === 'transcode');
      return encoded.sort((a, b) => a.bitrate - b.bitrate)[0]?.quality ?? '';
    };
  });

  describe('played directly', () => {
    const address = async () => {
      const bunny = await itemOf('Movies', 'Big Buck Bunny');
      return `${home.url}/api/v1/files/${bunny.files[1]?.id}/stream`;
    };
    const get = async (headers: Record<string, string> = {}, method = 'GET') =>
      fetch(await address(), { method, headers: { ...home.headers, ...headers } });
    const bytes = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
    const sha = (data: Buffer) => createHash('sha256').update(data).digest('hex');
    let original: Buffer;
    before(() => {
      original = readFileSync(join(home.media, real.clip));
    });

    it('gives the bytes of the file', async () => {
      const answer = await get();
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('video/mp4');
      expect(answer.headers.get('accept-ranges')).to.equal('bytes');
      expect(sha(await bytes(answer))).to.equal(sha(original));
    });

    it('gives ranges, in one part and in several', async () => {
      for (const [range, part] of [
        ['bytes=0-0', original.subarray(0, 1)],
        ['bytes=1000-1999', original.subarray(1000, 2000)],
        ['bytes=-500', original.subarray(-500)],
        [`bytes=${original.length - 10}-${original.length + 10}`, original.subarray(-10)],
      ] as [string, Buffer][]) {
        const answer = await get({ range });
        expect(answer.status, range).to.equal(206);
        expect(sha(await bytes(answer)), range).to.equal(sha(part));
      }
      const several = await get({ range: 'bytes=0-9,20-29' });
      expect(several.status).to.equal(206);
      expect(several.headers.get('content-type')).to.match(/^multipart\/byteranges/);
      const body = await bytes(several);
      expect(body.includes(original.subarray(0, 10)) && body.includes(original.subarray(20, 30))).to.equal(true);
    });

    it('keeps to If-Range, HEAD, 304 and 416', async () => {
      const head = await get({}, 'HEAD');
      expect(head.status).to.equal(200);
      expect(head.headers.get('content-length')).to.equal(String(original.length));
      const etag = head.headers.get('etag') ?? '';
      expect(etag).to.match(/^"/);
      expect((await bytes(await get({ range: 'bytes=5-9', 'if-range': etag }))).length).to.equal(5);
      expect((await bytes(await get({ range: 'bytes=5-9', 'if-range': '"other"' }))).length).to.equal(original.length);
      expect((await get({ 'if-none-match': etag })).status).to.equal(304);
      const beyond = await get({ range: `bytes=${original.length}-` });
      expect(beyond.status).to.equal(416);
      expect(beyond.headers.get('content-range')).to.equal(`bytes */${original.length}`);
    });
  });
});

function trackWord({ kind, codec, language, hdr, forced, hearingImpaired }: Stream): string {
  return [kind, codec, language, hdr, forced && 'forced', hearingImpaired && 'impaired'].filter(Boolean).join(':');
}

async function expectDuration(file: Item['files'][number] | undefined, path: string): Promise<void> {
  const { durationMs, frameMs } = await measure(path);
  expect(file?.durationMs).to.be.closeTo(durationMs, frameMs);
}

const sums = (units: Played['video']): string => units.map((unit) => unit.sum).join(' ');

/** The same time from first to last as the source, to a frame, and no hole over one frame that the source does not have. */
function expectWhole(source: Played, played: Played, { endsMs = 0, what = '' } = {}): void {
  for (const kind of ['video', 'audio'] as const) {
    if (source[kind].length === 0) continue;
    const [requested, got] = [spanOf(source[kind]), spanOf(played[kind])];
    const frame = slackOf(requested, got);
    // Sound that sets in late is led in by silence.
    const first = kind === 'audio' ? Math.min(0, requested.from) : requested.from;
    expect(got.from, `${what} ${kind} begins`).to.be.within(first - frame, requested.from + frame);
    expect(got.to, `${what} ${kind} ends`).to.be.within(
      requested.to - frame,
      Math.max(endOf(source), endsMs / 1000) + frame,
    );
    expect(got.step, `${what} ${kind} gap`).to.be.at.most(Math.max(requested.step, 2 * got.unit) + 0.002);
  }
}

/** From where one sought to the end; ffmpeg may begin at the keyframe after. */
function expectTail(source: Played, played: Played, { fromMs = 0, endsMs = 0 }): void {
  const from = fromMs / 1000;
  for (const kind of ['video', 'audio'] as const) {
    if (source[kind].length === 0) continue;
    const [requested, got] = [spanOf(source[kind]), spanOf(played[kind])];
    const frame = slackOf(requested, got);
    expect(got.from, `${kind} begins`).to.be.within(
      Math.max(from, requested.from) - frame,
      Math.max(from, requested.from) + frame,
    );
    expect(got.to, `${kind} ends`).to.be.within(requested.to - frame, Math.max(endOf(source), endsMs / 1000) + frame);
    expect(got.step, `${kind} gap`).to.be.at.most(Math.max(requested.step, 2 * got.unit) + 0.002);
  }
}

/** Where the longer of both ends: the shorter is filled up to there with silence or its last picture. */
const endOf = ({ video, audio }: Played): number =>
  Math.max(...[video, audio].filter((units) => units.length > 0).map((units) => spanOf(units).to));

const slackOf = (a: Span, b: Span): number => Math.max(a.unit, b.unit) + 0.002;
