import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { settleArtwork, shownOf, takeIn } from '#areas/artwork/public.ts';
import { insertImage } from '#kernel/images.ts';
import { createPictures } from '#platform/pictures.ts';
import { painted } from '../artwork/support.ts';
import { newSavingPlace, type SavingPlace } from './support.ts';

/** Gives an item a picture, as one that a person uploaded. */
async function give(place: SavingPlace, [title, kind]: readonly [string, string], bytes: Buffer): Promise<string> {
  const { db } = place.api.deps;
  const [pictures, owner] = [createPictures(undefined), { kind: 'item' as const, id: await place.idOf(title) }];
  const open = (given: { bytes: Buffer; type: string }) =>
    pictures.take(given, {
      accepts: ['jpeg', 'png', 'webp'],
      minSide: 1,
      maxSide: 5000,
      maxPixels: 1e8,
      maxFrames: 10,
    });
  const taken = await takeIn({ ...place.work(), open } as never, { bytes, type: '' });
  const id = await insertImage(db, { ...taken, source: 'upload', kind, owner, byAccountId: null } as never);
  await db.transaction((transaction) => settleArtwork(transaction, [owner.id]));
  return id;
}

describe('metadata.save of pictures', function () {
  this.timeout(120_000);

  it("writes the shown pictures under Kodi's names, once, and a scan does not see them", async () => {
    const place = await newSavingPlace('movies', { saveArtwork: true });
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.show();
    const poster = await painted(400, 600, '#c04020');
    await give(place, ['Heat', 'poster'], poster);
    await give(
      place,
      ['Heat', 'backdrop'],
      await sharp(await painted(640, 360, '#2040c0'))
        .webp()
        .toBuffer(),
    );
    await give(
      place,
      ['Heat', 'logo'],
      await sharp(await painted(300, 100, '#20c040'))
        .ensureAlpha(0.5)
        .webp()
        .toBuffer(),
    );
    await place.save();
    expect(await place.filesIn('Heat (1995)')).to.include.members(['clearlogo.png', 'fanart.jpg', 'poster.jpg']);
    expect(await place.filesIn('Heat (1995)')).to.not.include('movie.nfo');
    const bytes = (name: string): Promise<Buffer> => readFile(join(place.path, 'Heat (1995)', name));
    expect(Buffer.compare(await bytes('poster.jpg'), poster)).to.equal(0);
    expect((await sharp(await bytes('fanart.jpg')).metadata()).format).to.equal('jpeg');
    const images = await place.images('Heat');
    const before = await place.artworkOf('Heat');
    await place.show();
    expect(await place.images('Heat')).to.deep.equal(images);
    expect(await place.artworkOf('Heat')).to.deep.equal(before);
    expect(await place.save()).to.include({ written: 0, foreign: 0 });
  });

  it('replaces its own picture by the next choice, and leaves one that was there', async () => {
    const place = await newSavingPlace('movies', { saveArtwork: true });
    await place.put('Ran (1985)/Ran (1985).mkv');
    await place.put('Ran II (1986)/Ran II (1986).mkv');
    const mine = await place.picture('Ran II (1986)/folder.jpg');
    await place.show();
    await give(place, ['Ran', 'poster'], await painted(400, 600, '#c04020'));
    await place.save();
    const later = await painted(400, 600, '#00ff00');
    await give(place, ['Ran', 'poster'], later);
    await place.save();
    expect(Buffer.compare(await readFile(join(place.path, 'Ran (1985)/poster.jpg')), later)).to.equal(0);
    const before = await place.images('Ran');
    const time = new Date(Date.now() - 7_200_000); // as a restored copy
    await utimes(join(place.path, 'Ran (1985)/poster.jpg'), time, time);
    await place.show();
    expect(await place.images('Ran'), 'its own picture').to.deep.equal(before);
    const { db } = place.api.deps;
    const id = await give(place, ['Ran II', 'poster'], await painted(400, 600, '#0000ff'));
    const owner = await place.idOf('Ran II');
    await db('artwork_choices').insert({
      owner_kind: 'item',
      owner_id: owner,
      kind: 'poster',
      image_ids: [id],
      locked: true,
    } as never);
    await db.transaction((transaction) => settleArtwork(transaction, [owner]));
    expect((await shownOf(db, owner, ['poster'])).get('poster')).to.deep.equal([id]);
    await place.save();
    expect(await place.filesIn('Ran II (1986)'))
      .to.include('folder.jpg')
      .and.not.include('poster.jpg');
    expect(Buffer.compare(await readFile(join(place.path, 'Ran II (1986)/folder.jpg')), mine)).to.equal(0);
  });

  it('puts the pictures of seasons into the folder of the show, and stills next to episodes', async () => {
    const place = await newSavingPlace('shows', { saveArtwork: true });
    await place.put('Dark/Season 01/Dark S01E01.mkv');
    await place.put('Dark/Specials/Dark S00E05.mkv');
    await place.scan();
    const bytes = await painted(400, 600, '#c04020');
    await give(place, ['Dark', 'poster'], bytes);
    await give(place, ['Season 1', 'poster'], bytes);
    await give(place, ['Specials', 'banner'], bytes);
    const still = place.api.deps.db('items').where({ library_id: place.libraryId, type: 'episode', parent_index: 1 });
    const episode = await still.first('title');
    await give(place, [episode?.title ?? '', 'still'], bytes);
    await place.save();
    expect(await place.filesIn('Dark')).to.include.members([
      ...['poster.jpg', 'season01-poster.jpg', 'season-specials-banner.jpg'],
    ]);
    expect(await place.filesIn('Dark/Season 01')).to.deep.equal(['Dark S01E01-thumb.jpg']);
    expect((await place.scan()).counts).to.include({ added: 0, updated: 0 });
    expect((await place.images('Dark')).every(({ source }) => source === 'upload')).to.equal(true);
  });
});
