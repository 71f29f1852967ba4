import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newPlace } from './support.ts';

async function touch(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  const old = new Date(Date.now() - 3_600_000);
  await utimes(path, old, old);
}

describe('library.scan of shows', function () {
  this.timeout(120_000);

  it('makes shows, seasons, episodes and extras', async () => {
    const place = await newPlace('shows');
    await place.put('Firefly (2002)/tvshow.nfo', 'en.srt');
    await touch(
      join(place.path, 'Firefly (2002)/tvshow.nfo'),
      '<tvshow><title>Firefly</title><plot>Space.</plot></tvshow>',
    );
    await place.put('Firefly (2002)/poster.jpg', 'cover.jpg');
    await place.put('Firefly (2002)/Season 1/Firefly S01E01 Serenity.mkv');
    await place.put('Firefly (2002)/Season 1/Firefly S01E02-E03.mkv', 'h264-base.mkv');
    await place.put('Firefly (2002)/Specials/Firefly S00E01.mkv', 'h264-allintra.mkv');
    await place.put('Firefly (2002)/Extras/Gag Reel.mkv', 'vp9-opus.webm');
    await place.put('Firefly (2002)/Season 1/notes.mkv', 'tiny.mp4');
    const scan = await place.scan();
    expect(scan.issues.map((i) => [i.kind, i.path.split('/').at(-1)])).to.deep.equal([
      ['unrecognised-name', 'notes.mkv'],
    ]);
    const items = await place.items();
    expect(items.map((i) => [i.type, i.title, i.parent, i.parent_index, i.index_number])).to.deep.equal([
      ['episode', 'Episode 1', 'Specials', 0, 1],
      ['episode', 'Episode 2', 'Season 1', 1, 2],
      ['episode', 'Serenity', 'Season 1', 1, 1],
      ['season', 'Season 1', 'Firefly', null, 1],
      ['season', 'Specials', 'Firefly', null, 0],
      ['show', 'Firefly', null, null, null],
      ['video', 'Gag Reel', null, null, null],
    ]);
    const { db } = place.api.deps;
    const show = await db('items').where({ library_id: place.libraryId, type: 'show' }).first();
    expect(show).to.include({ overview: 'Space.', year: 2002 });
    expect(show.local_artwork.poster.path).to.match(/poster\.jpg$/);
    expect(await db('items').where({ extra_of: show.id }).pluck('title')).to.deep.equal(['Gag Reel']);
    expect((await db('libraries').where({ id: place.libraryId }).first()).item_counts).to.deep.equal({
      episode: 3,
      season: 2,
      show: 1,
    });
    const double = items.find((i) => i.title === 'Episode 2');
    expect(await db('items').where({ id: double?.id }).first()).to.include({ index_end: 3, grandparent_id: show.id });
  });

  it('moves a show with everything in it', async () => {
    const place = await newPlace('shows');
    await place.put('Frefly/Season 1/S01E01.mkv');
    await place.put('Frefly/Season 1/S01E02.mkv', 'h264-base.mkv');
    await place.scan();
    const before = await place.items();
    await rename(join(place.path, 'Frefly'), join(place.path, 'Firefly (2002)'));
    const scan = await place.scan();
    expect(scan.counts).to.include({ moved: 2, added: 0, missing: 0 });
    const after = await place.items();
    expect(after.map((i) => i.id).sort()).to.deep.equal(before.map((i) => i.id).sort());
    expect(after.find((i) => i.type === 'show')).to.include({ title: 'Firefly', year: 2002 });
  });

  it('marks a show missing when all of it is gone', async () => {
    const place = await newPlace('shows');
    await place.put('A/Season 1/A S01E01.mkv');
    await place.put('B/Season 1/B S01E01.mkv', 'h264-base.mkv');
    await place.scan();
    await rm(join(place.path, 'A'), { recursive: true });
    await place.scan();
    const items = await place.items();
    expect(
      items
        .filter((i) => i.availability === 'missing')
        .map((i) => i.type)
        .sort(),
    ).to.deep.equal(['episode', 'season', 'show']);
  });
});
