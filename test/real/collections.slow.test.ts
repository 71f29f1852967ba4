// Collections as large as those of a household, of each type: the right tree, and a second scan that reads nothing.
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { writeTrack } from '#support/music-files.ts';
import { zipOf } from '#support/zip-files.ts';
import { newPlace, type Place } from '../workers/scan/support.ts';

const OLD = new Date(Date.now() - 3_600_000);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const two = (n: number): string => String(n).padStart(2, '0');

async function put(place: Place, name: string, content: Buffer | string): Promise<void> {
  const path = join(place.path, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await utimes(path, OLD, OLD);
}

interface Collection {
  type: string;
  fill: (place: Place) => Promise<void>;
  /** Items by type. */
  counts: Record<string, number>;
  /** Parts of the rows of items by title, with the title of the item above. */
  samples: Record<string, Record<string, unknown>>;
}

const music: Collection = {
  type: 'music',
  async fill(place) {
    for (const artist of upTo(20))
      for (const album of upTo(10)) {
        const folder = `Artist ${artist}/Album ${artist}.${album} (${1980 + album})`;
        await put(place, `${folder}/cover.jpg`, await jpeg(album));
        const tags = { TPE2: `Artist ${artist}`, TALB: `Album ${artist}.${album}`, TDRC: String(1980 + album) };
        for (const track of upTo(10)) {
          const own = { TPE1: `Artist ${artist}`, TIT2: `Song ${artist}.${album}.${track}`, TRCK: `${track}/10` };
          await writeTrack(join(place.path, `${folder}/${two(track)}.mp3`), { ...tags, ...own });
        }
      }
  },
  counts: { artist: 20, album: 200, track: 2000 },
  samples: {
    'Album 7.3': { type: 'album', year: 1983, above: 'Artist 7' },
    'Song 20.10.10': { type: 'track', index_number: 10, above: 'Album 20.10' },
  },
};

async function jpeg(seed: number, taken?: string): Promise<Buffer> {
  const background = { r: seed % 256, g: (seed >> 8) % 256, b: 90 };
  const picture = sharp({ create: { width: 24, height: 16, channels: 3, background } }).jpeg();
  const exif = { IFD0: { Make: `Camera ${seed}` }, IFD2: { DateTimeOriginal: taken ?? '' } };
  return (taken === undefined ? picture : picture.withMetadata({ exif })).toBuffer();
}

const photos: Collection = {
  type: 'photos',
  async fill(place) {
    for (const album of upTo(60))
      for (const photo of upTo(50)) {
        const taken = `2019:${two((album % 12) + 1)}:${two((photo % 28) + 1)} 10:00:00`;
        await put(place, `Trip ${album}/IMG_${album}_${photo}.jpg`, await jpeg(album * 100 + photo, taken));
      }
  },
  counts: { 'photo-album': 60, photo: 3000 },
  samples: { IMG_11_4: { type: 'photo', above: 'Trip 11', taken_at: new Date('2019-12-05T10:00:00Z') } },
};

const books: Collection = {
  type: 'books',
  async fill(place) {
    for (const author of upTo(40))
      for (const book of upTo(5)) {
        const metadata = `<dc:title>Book ${author}.${book}</dc:title><dc:creator>Author ${author}</dc:creator><dc:date>${1900 + book}</dc:date>`;
        const document = `<?xml version="1.0"?><package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>${metadata}</metadata></package>`;
        const container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>';
        const entries = { mimetype: 'application/epub+zip', 'META-INF/container.xml': container, 'b.opf': document };
        await put(place, `Shelf ${author}/${author}-${book}.epub`, zipOf(entries));
      }
  },
  counts: { author: 40, book: 200 },
  samples: { 'Book 33.4': { type: 'book', year: 1904, above: 'Author 33' } },
};

const comics: Collection = {
  type: 'comics',
  async fill(place) {
    const page = await jpeg(1);
    for (const series of upTo(15))
      for (const issue of upTo(20))
        await put(
          place,
          `Series ${series}/Saga of ${series} ${String(issue).padStart(3, '0')} (2012) (Digital).cbz`,
          zipOf({ 'p1.jpg': page, [`${series}-${issue}.jpg`]: page }),
        );
  },
  counts: { 'comic-series': 15, comic: 300 },
  samples: { 'Saga of 9 17': { type: 'comic', index_number: 17, year: 2012, above: 'Saga of 9' } },
};

const games: Collection = {
  type: 'games',
  async fill(place) {
    const platforms = ['snes', 'nes', 'gb', 'gba', 'n64'].map((one) => [one, { gb: 'gb', n64: 'z64' }[one] ?? one]);
    for (const [folder, extension] of platforms)
      for (const game of upTo(100))
        await put(
          place,
          `${folder}/Quest ${game}, The (USA) (Rev 1).${extension === 'snes' ? 'sfc' : extension}`,
          `${folder} ${game}`,
        );
  },
  counts: { game: 500 },
  samples: { 'The Quest 42': { type: 'game' } },
};

const courses: Collection = {
  type: 'courses',
  async fill(place) {
    for (const course of upTo(40))
      for (const section of upTo(5))
        for (const lesson of upTo(4))
          await put(
            place,
            `Course ${course}/${two(section)} - Part ${section}/${two(lesson)} Lesson ${course}.${section}.${lesson}.md`,
            `# ${course} ${section} ${lesson}`,
          );
  },
  counts: { course: 40, section: 200, lesson: 800 },
  samples: { 'Lesson 40.5.3': { type: 'lesson', index_number: 3, above: 'Part 5' } },
};

describe('collections of a household', function () {
  this.timeout(600_000);

  for (const { type, fill, counts, samples } of [music, photos, books, comics, games, courses])
    it(`become the right tree, and a second scan reads nothing: ${type}`, async () => {
      const place = await newPlace(type);
      await fill(place);
      await place.age();
      const scan = await place.scan();
      expect(scan.issues).to.deep.equal([]);
      const { db } = place.api.deps;
      const items = await db('items as i')
        .leftJoin('items as p', 'p.id', 'i.parent_id')
        .where('i.library_id', place.libraryId)
        .select('i.*', 'p.title as above');
      const found = Object.entries(Object.groupBy(items, (item) => item.type as string));
      expect(Object.fromEntries(found.map(([one, own]) => [one, own?.length]))).to.deep.equal(counts);
      for (const [title, want] of Object.entries(samples))
        expect(items.find((item) => item.title === title)).to.deep.include(want);
      const again = await place.scan();
      expect(again.counts).to.include({ probed: 0, added: 0, updated: 0 });
    });
});
