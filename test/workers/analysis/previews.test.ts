import { expect } from 'chai';
import sharp from 'sharp';
import { announceSettings, saveSettings } from '#platform/settings.ts';
import { eventually } from '#support/stores.ts';
import { makePreviews } from '#workers/analysis/previews.ts';
import { sweepObjects } from '#workers/objects-sweep.ts';
import { Postponed } from '#workers/work.ts';
import { type AnalysedPlace, newAnalysedPlace } from './support.ts';

const COLOURS = ['red', 'lime', 'blue', 'white'];
const RGB = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
];

/** A colour every ten seconds, a keyframe every two. */
const coloured = (size: string): string[] => [
  ...COLOURS.flatMap((colour) => ['-f', 'lavfi', '-i', `color=${colour}:size=${size}:rate=5:duration=10`]),
  ...['-filter_complex', `concat=n=${COLOURS.length}`, '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10'],
];

describe('analysis.previews', function () {
  this.timeout(120_000);
  let place: AnalysedPlace;
  before(async () => {
    place = await newAnalysedPlace('movies');
    await place.film('Colours (2001)/Colours (2001).mkv', coloured('640x360'));
    await place.film('Tall (2002)/Tall (2002).mp4', coloured('180x320'));
    await place.scan();
  });

  const trickplay = async (title: string) =>
    place.admin.getTrickplay({ params: { fileId: await place.fileId(title) } });

  it('makes sheets of keyframes ten seconds apart, which Streaming serves', async () => {
    expect((await trickplay('Colours')).status).to.equal(404);
    const answer = await place.analyse();
    expect(answer['queued']).to.deep.include({ previewThumbnails: 2 });
    expect(await place.states('previewThumbnails')).to.deep.equal(['done', 'done']);
    const { body } = await trickplay('Colours');
    expect(body).to.include({ intervalMs: 10_000, durationMs: 40_000 });
    const { sizeBytes, ...size } = body.widths[0] ?? {};
    expect(size).to.deep.equal({
      ...{ width: 320, height: 180, columns: 4, rows: 1, thumbs: 4, sheets: 1, mime: 'image/webp' },
    });
    const sheet = await place.admin.getTrickplaySheet({ params: { fileId: body.fileId, sheet: '320-0.webp' } });
    expect(sheet.headers.get('content-type')).to.equal('image/webp');
    const bytes = sheet.body as unknown as Buffer;
    expect(bytes.length).to.equal(sizeBytes);
    const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect(info).to.include({ width: 1280, height: 180 });
    for (const [i, colour] of RGB.entries()) {
      const at = (90 * info.width + i * 320 + 160) * 3;
      for (const channel of [0, 1, 2])
        expect(data[at + channel], `${COLOURS[i]} ${channel}`).to.be.closeTo(colour[channel] as number, 12);
    }
  });

  it('keeps the shape of an upright film', async () => {
    expect((await trickplay('Tall')).body.widths[0]).to.include({ width: 320, height: 568, columns: 4 });
  });

  it('queues nothing that is done, and a changed file again', async () => {
    const again = await place.analyse();
    expect(again['queued']).to.deep.include({ previewThumbnails: 0 });
    const { db } = place.api.deps;
    await db('media_files')
      .where({ id: await place.fileId('Tall') })
      .update({ size_bytes: 1 });
    const changed = await place.admin.analyzeLibrary({ params: { id: place.libraryId } });
    expect(changed.body.queued).to.deep.include({ previewThumbnails: 1 });
    expect(changed.body.waiting).to.be.greaterThan(0);
  });

  it('names the switch of an analysis that is off, and none that does not apply', async () => {
    const films = await newAnalysedPlace('movies', { previewThumbnails: false }, place.api);
    expect((await films.analyse())['off']).to.deep.equal([{ name: 'previewThumbnails', by: 'library' }]);
    const music = await newAnalysedPlace('music', {}, place.api);
    const { body } = await music.admin.analyzeLibrary({ params: { id: music.libraryId } });
    expect(body).to.deep.include({ queued: {}, off: [], creditsFromChapters: 0 });
    const { admin, libraryId } = films;
    const { db, redis, settings } = place.api.deps;
    const turn = async (on: boolean) => {
      await saveSettings(db, { 'analysis.preview_thumbnails': on }, null);
      await announceSettings(redis);
      await eventually(async () => settings.get('analysis.preview_thumbnails') === on);
    };
    await turn(false);
    const off = (await admin.analyzeLibrary({ params: { id: libraryId } })).body.off;
    expect(off).to.deep.equal([{ name: 'previewThumbnails', by: 'server' }]);
    await turn(true);
  });

  it('waits while the storage is unreachable, and passes over a file that took three workers along', async () => {
    const films = await newAnalysedPlace('movies', {}, place.api);
    await films.put('Heat (1995)/Heat (1995).mkv');
    await films.scan();
    await films.admin.analyzeLibrary({ params: { id: films.libraryId } });
    const { db } = films.api.deps;
    await db('storages').update({ state: 'unreachable' });
    const failure = await makePreviews({ libraryId: films.libraryId }, films.work()).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Postponed).and.include({ waitsFor: 'storage' });
    await db('storages').update({ state: 'available' });
    await db('analyses')
      .where({ file_id: await films.fileId('Heat') })
      .update({ due_at: new Date(0), tries: 3 });
    await makePreviews({ libraryId: films.libraryId }, films.work());
    expect(await films.states('previewThumbnails')).to.deep.equal(['not-found']);
  });

  it('ends at the checkpoint of a file when its queue is still, and repeats none', async () => {
    const films = await newAnalysedPlace('movies', {}, place.api);
    for (const name of ['A (2001)', 'B (2002)', 'C (2003)']) await films.put(`${name}/${name}.mkv`);
    await films.scan();
    await films.admin.analyzeLibrary({ params: { id: films.libraryId } });
    const pause = new AbortController();
    const work = { ...films.work(pause.signal), keep: async () => pause.abort('paused') };
    await makePreviews({ libraryId: films.libraryId }, work).catch((reason: unknown) =>
      expect(reason).to.equal('paused'),
    );
    const states = await films.states('previewThumbnails');
    expect(states.filter((state) => state === 'queued')).to.have.length(2);
    const made = new Set<string>();
    const put = films.api.deps.objects.put.bind(films.api.deps.objects);
    const objects = { ...films.api.deps.objects, put: async (...args: Parameters<typeof put>) => made.add(args[1]) };
    await makePreviews({ libraryId: films.libraryId }, { ...films.work(), objects: objects as never });
    expect(made.size).to.equal(2);
    expect(await films.states('previewThumbnails'), 'films shorter than an interval').to.deep.equal(
      Array(3).fill('done'),
    );
  });

  it('deletes the thumbnails of a library: hidden at once, their objects in the background, queued ones cancelled', async () => {
    const { objects, db } = place.api.deps;
    const key = `trickplay/${await place.fileId('Colours')}/320-0.webp`;
    expect(await objects.stat('foyer-derived', key)).to.not.equal(undefined);
    await place.admin.analyzeLibrary({ params: { id: place.libraryId } });
    const { body } = await place.admin.deleteTrickplay({ params: { id: place.libraryId } });
    expect(body).to.deep.equal({ removed: 2 });
    expect((await trickplay('Colours')).status).to.equal(404);
    expect(await place.states('previewThumbnails')).to.deep.equal([]);
    const job = await db('jobs').where({ kind: 'objects.sweep' }).first<{ payload: object }>('payload');
    expect(job.payload).to.deep.equal({ only: 'trickplay' });
    await sweepObjects({ only: 'trickplay' }, place.work());
    expect(await objects.stat('foyer-derived', key)).to.equal(undefined);
    expect(await db('trickplay').whereNotNull('removed_at')).to.deep.equal([]);
    expect((await place.admin.deleteTrickplay({ params: { id: place.libraryId } })).body).to.deep.equal({ removed: 0 });
  });
});
