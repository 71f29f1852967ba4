// Whole collections of each type, made up: the right tree from the files alone, and nothing at the second scan.
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { trackBytes } from '#support/music-files.ts';
import { zipOf } from '#support/zip-files.ts';
import { newPlace, type Place } from './support.ts';

const OLD = new Date(Date.now() - 3_600_000);

async function put({ path: root }: Place, name: string, content: Buffer | string): Promise<void> {
  const path = join(root, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await utimes(path, OLD, OLD);
}

const epub = (title: string, author: string): Buffer =>
  zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
    'b.opf': `<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>${title}</dc:title><dc:creator>${author}</dc:creator></metadata></package>`,
  });

const comic = (series: string, number: number): Buffer =>
  zipOf({
    'ComicInfo.xml': `<ComicInfo><Series>${series}</Series><Number>${number}</Number><Writer>Ann ${series}</Writer></ComicInfo>`,
    '1.jpg': `${series} ${number}`,
  });

interface Collection {
  type: string;
  /** Writes the files. */
  fill: (place: Place) => Promise<void>;
  /** Number of items by type. */
  tree: Record<string, number>;
  /** Credited people, by role. */
  people?: Record<string, number>;
  /** One item: its title, and that of its parent. */
  one: readonly [type: string, title: string, above: string | null];
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

const COLLECTIONS: readonly Collection[] = [
  {
    type: 'music',
    async fill(place) {
      const cover = await sharp({ create: { width: 90, height: 90, channels: 3, background: '#204060' } })
        .jpeg()
        .toBuffer();
      for (const n of upTo(2000)) {
        const [album, artist] = [`Album ${Math.floor(n / 10)}`, `Artist ${Math.floor(n / 50)}`];
        const tags = { TIT2: `Song ${n}`, TPE1: artist, TPE2: artist, TALB: album, TRCK: String((n % 10) + 1) };
        const bytes = await trackBytes(tags, n % 10 === 0 ? cover : undefined);
        const name = `${artist}/${album}/${String((n % 10) + 1).padStart(2, '0')} Song ${n}.mp3`;
        await put(place, name, Buffer.concat([bytes, Buffer.from(name)]));
      }
    },
    tree: { artist: 40, album: 200, track: 2000 },
    people: { artist: 40 },
    one: ['track', 'Song 1234', 'Album 123'],
  },
  {
    type: 'photos',
    async fill(place) {
      for (const n of upTo(3000)) {
        const background = { r: n % 256, g: Math.floor(n / 256), b: 90 };
        const exif = { IFD2: { DateTimeOriginal: `20${10 + (n % 10)}:05:06 07:08:09` } };
        const picture = sharp({ create: { width: 32, height: 32, channels: 3, background } });
        await put(
          place,
          `Trip ${Math.floor(n / 100)}/IMG_${1000 + n}.jpg`,
          await picture.withExif(exif).jpeg().toBuffer(),
        );
      }
    },
    tree: { 'photo-album': 30, photo: 3000 },
    one: ['photo', 'IMG_2234', 'Trip 12'],
  },
  {
    type: 'books',
    async fill(place) {
      for (const n of upTo(200))
        await put(place, `Author ${n % 20}/Book ${n}.epub`, epub(`Book ${n}`, `Author ${n % 20}`));
    },
    tree: { author: 20, book: 200 },
    people: { author: 20 },
    one: ['book', 'Book 123', 'Author 3'],
  },
  {
    type: 'comics',
    async fill(place) {
      for (const n of upTo(300)) {
        const [series, number] = [`Series ${Math.floor(n / 30)}`, (n % 30) + 1];
        await put(place, `${series}/${series} ${String(number).padStart(3, '0')}.cbz`, comic(series, number));
      }
    },
    tree: { 'comic-series': 10, comic: 300 },
    people: { author: 10 },
    one: ['comic', 'Series 4 7', 'Series 4'],
  },
  {
    type: 'games',
    async fill(place) {
      for (const n of upTo(500))
        await put(
          place,
          `${['SNES', 'Game Boy', 'PlayStation'][n % 3]}/Game ${n} (USA).${['sfc', 'gb', 'chd'][n % 3]}`,
          `rom ${n}`,
        );
    },
    tree: { game: 500 },
    one: ['game', 'Game 123', null],
  },
  {
    type: 'courses',
    async fill(place) {
      for (const n of upTo(40 * 6)) {
        const [course, lesson] = [Math.floor(n / 6), n % 6];
        const section = lesson < 3 ? '01 Begin' : '02 Go on';
        await place.put(`Course ${course}/${section}/0${(lesson % 3) + 1} Lesson ${n}.mkv`);
      }
    },
    tree: { course: 40, section: 80, lesson: 240 },
    one: ['lesson', 'Lesson 123', 'Go on'],
  },
];

describe('collections of each type', function () {
  this.timeout(300_000);
  for (const { type, fill, tree, people, one } of COLLECTIONS)
    it(`become the right tree: ${JSON.stringify(tree)}`, async () => {
      const place = await newPlace(type);
      const { db } = place.api.deps;
      const own = { library_id: place.libraryId };
      await fill(place);
      await place.age();
      const first = await place.scan();
      expect([first.state, first.issues]).to.deep.equal(['completed', []]);
      const counted = await db('items').where(own).groupBy('type').select('type', db.raw('count(*)::int as n'));
      expect(Object.fromEntries(counted.map((row) => [row.type, row.n]))).to.deep.equal(tree);
      const credits = await db('credits as c')
        .join('items as i', 'i.id', 'c.item_id')
        .where('i.library_id', place.libraryId)
        .groupBy('c.role')
        .select('c.role', db.raw('count(distinct c.person_id)::int as n'));
      expect(Object.fromEntries(credits.map((row) => [row.role, row.n]))).to.deep.equal(people ?? {});
      const [kind, title, above] = one;
      const found = await db('items as i')
        .leftJoin('items as a', 'a.id', 'i.parent_id')
        .where({ 'i.library_id': place.libraryId, 'i.type': kind, 'i.title': title })
        .select('a.title as above', 'i.size_bytes', 'i.file_count');
      expect(found.map((row) => row.above)).to.deep.equal([above]);
      expect(found[0]).to.include({ file_count: 1 });
      expect(Number(found[0]?.size_bytes)).to.be.at.least(1);
      const before = await db('libraries').where({ id: place.libraryId }).first('change_seq', 'item_counts');
      const second = await place.scan();
      expect(second.counts).to.include({ probed: 0, added: 0, updated: 0, moved: 0, missing: 0 });
      expect(await db('libraries').where({ id: place.libraryId }).first('change_seq', 'item_counts')).to.deep.equal(
        before,
      );
    });
});
