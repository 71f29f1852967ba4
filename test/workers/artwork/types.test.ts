import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { heic } from '#support/heic-files.ts';
import { writeTrack } from '#support/music-files.ts';
import { rawFile } from '#support/raw-files.ts';
import { zipOf } from '#support/zip-files.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPicturedPlace, type PicturedPlace, painted } from './support.ts';

const shown = async (place: PicturedPlace) =>
  (await place.images()).map(
    ({ title, kind, source, width, height }) => `${title}: ${kind} ${source} ${width}x${height}`,
  );

describe('pictures of other types', function () {
  this.timeout(60_000);

  it('are made of photos, also of HEIC and RAW files, turned and no larger than 2,560 pixels', async () => {
    const place = await newPicturedPlace('photos');
    const large = await painted(4000, 3000, '#c04020');
    await place.write('a.jpg', await sharp(large).withMetadata({ orientation: 6 }).toBuffer());
    await place.write('b.heic', await heic(640, 480));
    await place.write('c.dng', rawFile(await painted(160, 120, '#20c040'), await painted(1600, 1200, '#2040c0')));
    await place.show();
    expect(await shown(place)).to.deep.equal([
      'a: thumb local 1920x2560',
      'b: thumb local 640x480',
      'c: thumb local 1600x1200',
    ]);
    const [photo] = await place.images('a');
    const stored = await place.api.deps.objects.stat('foyer-artwork', photo?.sha256 ?? '');
    expect(stored?.size).to.be.lessThan(large.length);
  });

  it('are covers of tracks, which albums and artists show too', async () => {
    const place = await newPicturedPlace('music');
    const tags = { TALB: 'One', TPE1: 'Ada' };
    const cover = await painted(500, 500, '#c04020');
    await writeTrack(join(place.path, 'Ada/One/1.mp3'), { ...tags, TIT2: 'First' }, cover);
    await writeTrack(join(place.path, 'Ada/One/2.mp3'), { ...tags, TIT2: 'Second' }, cover);
    await place.show();
    await place.fetch(); // the album's is made of those of its tracks
    expect(await shown(place)).to.deep.equal([
      'Ada: square mosaic 1000x1000',
      'First: cover embedded 500x500',
      'One: cover mosaic 1000x1000',
      'Second: cover embedded 500x500',
    ]);
  });

  it('are fronts of books and comics', async () => {
    const books = await newPicturedPlace('books');
    const { real } = await fixtures();
    await mkdir(books.path, { recursive: true });
    await copyFile(join(real, 'books/developers-reference.pdf'), join(books.path, 'pdf.pdf'));
    const opf =
      '<package><metadata><title>Made</title></metadata><manifest><item id="c" href="art/c%201.jpg" media-type="image/jpeg" properties="cover-image"/></manifest></package>';
    await books.write(
      'made.epub',
      zipOf({
        'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        'OPS/book.opf': opf,
        'OPS/art/c 1.jpg': await painted(600, 900, '#c04020'),
      }),
    );
    await books.show();
    const fronts = (await shown(books)).filter((line) => line.includes('embedded'));
    expect(fronts).to.have.lengthOf(2).and.to.include('Made: cover embedded 600x900');
    const comics = await newPicturedPlace('comics');
    const page = (width: number) => painted(width, 900, '#2040c0');
    await comics.write(
      'Saga 1.cbz',
      zipOf({ 'p10.jpg': await page(610), 'p2.jpg': await page(602), 'z/p1.jpg': await page(601) }),
    );
    await comics.show();
    expect(await shown(comics)).to.include('Saga 1: cover embedded 602x900');
  });
});
