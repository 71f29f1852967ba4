import { copyFile, mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { writeTrack } from '#support/music-files.ts';
import { zipOf } from '#support/zip-files.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPlace, type Place } from './support.ts';

const OLD = new Date(Date.now() - 3_600_000);

async function put(place: Place, name: string, content: Buffer | string): Promise<void> {
  const path = join(place.path, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await utimes(path, OLD, OLD);
}

/** An EPUB with this package document. */
function epub(metadata: string): Buffer {
  return zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    'OPS/book.opf': `<?xml version="1.0"?><package xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf"><metadata>${metadata}</metadata></package>`,
  });
}

async function books({ api, libraryId }: Place): Promise<unknown[]> {
  const rows = await api.deps
    .db('items as b')
    .join('items as a', 'a.id', 'b.parent_id')
    .where('b.library_id', libraryId)
    .whereIn('b.type', ['book', 'audiobook', 'comic'])
    .orderBy(['b.type', 'a.title', 'b.parent_index', 'b.index_number', 'b.title'])
    .select('b.type', 'a.title as above', 'b.title', 'b.year', 'b.file_count');
  return rows.map((row) => [row.type, row.above, row.title, row.year, row.file_count]);
}

const kinds = (scan: { issues: { kind: string; path: string }[] }) =>
  scan.issues.map(({ kind, path }) => [kind, path.split('/').at(-1)]).sort((a, b) => (String(a) < String(b) ? -1 : 1));

describe('library.scan of books', function () {
  this.timeout(60_000);

  it('reads EPUB, MOBI, PDF, FictionBook and their names; the formats of a book are one item', async () => {
    const place = await newPlace('books');
    const dune = `<dc:title>Dune</dc:title><dc:creator opf:role="aut">Frank Herbert</dc:creator><dc:language>en</dc:language>
      <dc:date>1965-08-01</dc:date><dc:identifier>urn:isbn:978-0-441-17271-9</dc:identifier><dc:description>&lt;p&gt;A desert &amp;amp; its spice.&lt;/p&gt;</dc:description>
      <dc:publisher>Chilton</dc:publisher><dc:subject>Science Fiction</dc:subject><meta name="calibre:series" content="Dune Chronicles"/><meta name="calibre:series_index" content="1.0"/>`;
    await put(place, 'Herbert/dune.epub', epub(dune));
    await put(place, 'Herbert/Frank Herbert - Dune (1965).txt', 'A beginning is the time');
    await put(place, 'Frank Herbert - Dune Messiah (1969).txt', 'Such a rich store of myths');
    await put(
      place,
      'solaris.fb2',
      '<FictionBook><description><title-info><genre>sf</genre><author><first-name>Stanisław</first-name><last-name>Lem</last-name></author><book-title>Solaris</book-title><lang>pl</lang></title-info></description><body/></FictionBook>',
    );
    await put(place, 'not.epub', 'this is no book');
    const scan = await place.scan();
    expect(kinds(scan)).to.deep.equal([['corrupt', 'not.epub']]);
    expect(await books(place)).to.deep.equal([
      ['book', 'Frank Herbert', 'Dune', 1965, 2],
      ['book', 'Frank Herbert', 'Dune Messiah', 1969, 1],
      ['book', 'Stanisław Lem', 'Solaris', null, 1],
    ]);
    const read = await place.api.deps.db('items').where({ library_id: place.libraryId, title: 'Dune' }).first();
    expect(read.overview).to.equal('A desert & its spice.');
    expect(read.details).to.deep.include({
      publisher: 'Chilton',
      isbn: '9780441172719',
      series: { title: 'Dune Chronicles', number: '1' },
    });
    expect((await place.scan()).counts).to.include({ probed: 0, added: 0, updated: 0 });
  });

  it('reads real files', async () => {
    const place = await newPlace('books');
    const { real } = await fixtures();
    await mkdir(join(place.path, 'Debian'));
    for (const name of ['developers-reference.epub', 'developers-reference.pdf', 'live-manual.ja.epub']) {
      await copyFile(join(real, 'books', name), join(place.path, 'Debian', name));
      await utimes(join(place.path, 'Debian', name), OLD, OLD);
    }
    expect(kinds(await place.scan())).to.deep.equal([]);
    const titles = (await books(place)).map((row) => (row as string[])[2]);
    expect(titles).to.include("Debian Developer's Reference").and.include('Live システムマニュアル');
    const pdf = await place.api.deps
      .db('media_files')
      .where({ library_id: place.libraryId })
      .whereLike('path', '%.pdf')
      .first();
    expect(pdf.probe.book.pages).to.equal(114);
  });

  it('makes one audiobook of the files of a folder, and one of each file with chapters', async () => {
    const place = await newPlace('books');
    const tags = { TALB: 'Emma', TPE1: 'Jane Austen', TCOM: 'A Reader' };
    await writeTrack(join(place.path, 'Austen/Emma/b.mp3'), { ...tags, TIT2: 'Two', TRCK: '2' });
    await writeTrack(join(place.path, 'Austen/Emma/a.mp3'), { ...tags, TIT2: 'Ten', TRCK: '10' });
    await writeTrack(join(place.path, 'Austen/Emma/c.mp3'), { ...tags, TIT2: 'One', TRCK: '1' });
    await writeTrack(join(place.path, 'Mary Shelley/Frankenstein (1818)/01.mp3'), {});
    await writeTrack(join(place.path, 'Mary Shelley/Frankenstein (1818)/02.mp3'), {});
    expect(kinds(await place.scan())).to.deep.equal([]);
    expect(await books(place)).to.deep.equal([
      ['audiobook', 'Jane Austen', 'Emma', null, 3],
      ['audiobook', 'Mary Shelley', 'Frankenstein', 1818, 2],
    ]);
    const parts = (await place.files()).filter(({ path }) => path.includes('Emma'));
    expect(parts.map(({ path, part }) => [path.at(-5), part])).to.deep.equal([
      ['a', 3],
      ['b', 2],
      ['c', 1],
    ]);
    const emma = await place.api.deps.db('items').where({ library_id: place.libraryId, title: 'Emma' }).first();
    expect(emma.details.narrators).to.deep.equal([{ name: 'A Reader' }]);
  });
});

describe('library.scan of comics', function () {
  this.timeout(60_000);

  it('reads ComicInfo.xml, else names, and counts pages', async () => {
    const place = await newPlace('comics');
    const page = Buffer.from('a page');
    const info = (members: Record<string, string>) =>
      `<ComicInfo>${Object.entries(members)
        .map(([name, text]) => `<${name}>${text}</${name}>`)
        .join('')}</ComicInfo>`;
    await put(
      place,
      'Saga/Saga 012 (2013) (Digital).cbz',
      zipOf({
        'p1.jpg': page,
        'p2.jpg': page,
        'ComicInfo.xml': info({
          Series: 'Saga',
          Number: '12',
          Writer: 'Brian K. Vaughan',
          Year: '2013',
          Month: '4',
          Manga: 'YesAndRightToLeft',
        }),
      }),
    );
    await put(place, 'Saga/Saga 002.cbz', zipOf({ 'a/p1.png': page, '__MACOSX/a/._p1.png': page }));
    await put(place, 'Akira Vol. 2.cbz', zipOf({ 'p.webp': page }));
    await put(place, 'empty.cbz', zipOf({ 'readme.txt': page }));
    await put(place, 'slip.cbz', zipOf({ '../../p.jpg': page }));
    await put(place, 'bomb.cbz', zipOf({ 'p.jpg': Buffer.alloc(8 << 20) }, 'deflated'));
    const scan = await place.scan();
    expect(kinds(scan)).to.deep.equal([
      ['corrupt', 'empty.cbz'],
      ['corrupt', 'slip.cbz'],
      ['unsafe-archive', 'bomb.cbz'],
    ]);
    expect(await books(place)).to.deep.equal([
      ['comic', 'Akira', 'Akira, Vol. 2', null, 1],
      ['comic', 'Saga', 'Saga 2', null, 1],
      ['comic', 'Saga', 'Saga 12', 2013, 1],
    ]);
    const saga = await place.api.deps.db('items').where({ library_id: place.libraryId, title: 'Saga 12' }).first();
    expect(saga.details).to.deep.equal({
      authors: [{ name: 'Brian K. Vaughan' }],
      number: '12',
      pages: 2,
      readingDirection: 'rtl',
    });
    expect((await place.scan()).counts).to.include({ probed: 0, added: 0, updated: 0 });
  });
});
