import { chmod, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { placeFile, sha256Of } from '#platform/place-file.ts';
import { elementsOf } from '#workers/probe/archive/xml.ts';
import { comicInfoOf } from '#workers/saving/comic-info.ts';
import { nfoOf } from '#workers/saving/nfo.ts';
import { xmpOf } from '#workers/saving/xmp.ts';
import { nfoText, readNfo } from '#workers/scan/names/nfo.ts';

describe('files next to media', () => {
  const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'saving-'));
  const own = (...all: Buffer[]) => {
    const known = new Set(all.map(sha256Of));
    return async (hash: string): Promise<boolean> => known.has(hash);
  };
  const [one, two] = [Buffer.from('one'), Buffer.from('two')];

  it('appear whole, and yield to a file that appears meanwhile', async () => {
    const directory = await folder();
    const announce = async (): Promise<void> => undefined;
    const given = { directory, name: 'movie.nfo', bytes: one, announce };
    expect(await placeFile({ ...given, isOwn: own() })).to.include({ kind: 'written' });
    expect(await placeFile({ ...given, isOwn: own(one) })).to.include({ kind: 'same' });
    expect(await placeFile({ ...given, isOwn: own() }), 'equal bytes of somebody else').to.deep.equal({
      kind: 'foreign',
    });
    const path = join(directory, 'movie.nfo');
    const meddling = { announce: () => writeFile(path, 'mine'), isOwn: own(one) };
    expect(await placeFile({ ...given, bytes: two, ...meddling })).to.deep.equal({ kind: 'foreign' });
    expect(await readFile(path, 'utf8')).to.equal('mine');
    const late = { announce: () => writeFile(join(directory, 'late.nfo'), 'mine'), isOwn: own() };
    expect(await placeFile({ ...given, name: 'late.nfo', ...late })).to.deep.equal({ kind: 'foreign' });
    expect((await readdir(directory)).sort()).to.deep.equal(['late.nfo', 'movie.nfo']);
  });

  it('never follow a link, and leave nothing behind where nothing can be written', async () => {
    const directory = await folder();
    await writeFile(join(directory, 'target'), 'x');
    await symlink('target', join(directory, 'movie.nfo'));
    const given = {
      directory,
      name: 'movie.nfo',
      bytes: one,
      isOwn: async () => true,
      announce: async () => undefined,
    };
    expect(await placeFile(given)).to.deep.equal({ kind: 'foreign' });
    const failing = { ...given, name: 'other.nfo', announce: () => Promise.reject(new Error('no database')) };
    expect(await placeFile(failing).catch((error: Error) => error.message)).to.equal('no database');
    expect((await readdir(directory)).sort()).to.deep.equal(['movie.nfo', 'target']);
    await chmod(directory, 0o755);
  });

  it('hold any text as XML that the reader takes', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(text, text, (title, overview) => {
        const bytes = nfoOf({ type: 'movie', values: { title: `T${title}`, overview: `P${overview}` } });
        const read = readNfo(nfoText(bytes ?? Buffer.alloc(0)));
        expect(read?.title?.startsWith('T')).to.equal(true);
        expect(read?.plot?.startsWith('P')).to.equal(true);
      }),
    );
    const read = readNfo(nfoText(nfoOf({ type: 'movie', values: { title: 'a\u0000b\u001Bc\uFFFEd\uD800e' } }) ?? one));
    expect(read?.title).to.match(/^abcd\uFFFD?e$/);
  });

  it('describe comics and photos as their programs know it', () => {
    const comic = comicInfoOf({
      type: 'comic',
      number: '12.5',
      values: {
        ...{
          title: 'Saga & Co',
          authors: ['Vaughan, Brian'],
          genres: ['Space'],
          releasedOn: '2012-03-14',
          parentIndex: 2,
        },
        ...{ series: { title: 'Saga' }, readingDirection: 'rtl', overview: 'War.' },
      },
    });
    const members = Object.fromEntries(
      elementsOf(comic.toString()).map(({ name, text }) => [name.toLowerCase(), text]),
    );
    expect(members).to.include({
      ...{ title: 'Saga & Co', series: 'Saga', number: '12.5', volume: '2', year: '2012', month: '3', day: '14' },
      ...{ writer: 'Vaughan  Brian', manga: 'YesAndRightToLeft', summary: 'War.' },
    });
    const xmp = xmpOf({
      type: 'photo',
      values: {
        ...{ title: 'Beach', tags: ['sea', 'sun'], takenAt: '2024-05-01T10:00:00.000Z', takenAtOffset: 120, rating: 8 },
        ...{ place: { latitude: 52.5, longitude: -13.25 }, people: [{ name: 'Ada', role: 'self' }] },
      },
    }).toString();
    expect(xmp).to.include('<exif:DateTimeOriginal>2024-05-01T12:00:00+02:00</exif:DateTimeOriginal>');
    expect(xmp).to.include('<exif:GPSLatitude>52,30.0000000N</exif:GPSLatitude>');
    expect(xmp).to.include('<exif:GPSLongitude>13,15.0000000W</exif:GPSLongitude>').and.include('<xmp:Rating>4<');
    expect(xmp).to.match(/<dc:subject>\s*<rdf:Bag>\s*<rdf:li>sea<\/rdf:li>\s*<rdf:li>sun/);
  });
});
