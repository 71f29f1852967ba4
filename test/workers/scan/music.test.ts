import { copyFile, rename, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Id3, writeTrack } from '#support/music-files.ts';
import { newPlace, type Place } from './support.ts';

const RELEASE = '6fdcf6a2-7d50-3a4f-a6b3-8c8a0f8f1a11';

/** Albums as `artist / album (year)`, each with its tracks as `disc-number title by artists`. */
async function tree({ api, libraryId }: Place): Promise<Record<string, string[]>> {
  const { db } = api.deps;
  const rows = await db('items as t')
    .join('items as al', 'al.id', 't.parent_id')
    .join('items as ar', 'ar.id', 'al.parent_id')
    .where({ 't.library_id': libraryId, 't.type': 'track', 't.trashed_at': null })
    .orderBy(['ar.title', 'al.title', 't.parent_index', 't.index_number', 't.title'])
    .select(
      'ar.title as artist',
      'al.title as album',
      'al.year',
      't.title',
      't.index_number',
      't.parent_index',
      't.details',
    );
  const albums: Record<string, string[]> = {};
  for (const row of rows) {
    const names = (row.details.artists as { name: string }[]).map(({ name }) => name).join(', ');
    const place = `${row.parent_index ?? ''}-${row.index_number ?? ''}`;
    const album = `${row.artist} / ${row.album} (${row.year})`;
    albums[album] = [...(albums[album] ?? []), `${place} ${row.title} by ${names}`];
  }
  return albums;
}

const put = (place: Place, name: string, tags: Id3 = {}): Promise<void> => writeTrack(join(place.path, name), tags);

describe('library.scan of music', function () {
  this.timeout(60_000);

  it('groups tracks by tags: release id, else album artist, album and folder', async () => {
    const place = await newPlace('music');
    const one = { TALB: 'One', TPE2: 'Ada', TPE1: 'Ada', TDRC: '1999-05-04', TCON: 'Rock; Jazz', TPUB: 'Blue' };
    await put(place, 'Ada/One/CD1/01.mp3', { ...one, TIT2: 'First', TRCK: '1/2', TPOS: '1/2' });
    await put(place, 'Ada/One/CD2/01.mp3', { ...one, TIT2: 'Second', TRCK: '1', TPOS: '2/2', TPE1: ['Ada', 'Bob'] });
    await put(place, 'Ada/Other/One.mp3', { ...one, TIT2: 'Of another pressing', TRCK: '3' });
    const released = { TALB: 'Split', TPE2: 'Cy', 'TXXX:MusicBrainz Album Id': RELEASE };
    await put(place, 'x/a.mp3', { ...released, TIT2: 'A', TRCK: '1' });
    await put(place, 'y/b.mp3', { ...released, TIT2: 'B', TRCK: '2' });
    await put(place, 'Hits/1.mp3', { TALB: 'Hits', TCMP: '1', TPE1: 'Dee', TIT2: 'D', TRCK: '1' });
    await put(place, 'Hits/2.mp3', { TALB: 'Hits', TCMP: '1', TPE1: 'Eve feat. Fay', TIT2: 'E', TRCK: '2' });
    const scan = await place.scan();
    expect(scan).to.deep.include({ state: 'completed', issues: [] });
    expect(scan.counts).to.include({ found: 7, added: 7, probed: 7 });
    expect(await tree(place)).to.deep.equal({
      'Ada / One (1999)': ['1-1 First by Ada', '2-1 Second by Ada, Bob', '-3 Of another pressing by Ada'],
      'Cy / Split (null)': ['-1 A by Cy', '-2 B by Cy'],
      'Various Artists / Hits (null)': ['-1 D by Dee', '-2 E by Eve, Fay'],
    });
    const counts = await place.api.deps.db('libraries').where({ id: place.libraryId }).first();
    expect(counts.item_counts).to.deep.equal({ artist: 3, album: 4, track: 7 });
  });

  it('reads the names of files and folders without tags', async () => {
    const place = await newPlace('music');
    await put(place, 'Björk/1997 - Homogenic/01 - Hunter.mp3');
    await put(place, 'Björk/1997 - Homogenic/02. Jóga.mp3');
    await put(place, 'Nina Simone - Pastel Blues (1965) [FLAC]/A1 Be My Husband.mp3');
    await put(place, 'Nina Simone - Pastel Blues (1965) [FLAC]/B1 Sinnerman.mp3');
    await put(place, 'Mixed/Disc 2/2-03 Ida - Song - Live.mp3');
    await place.scan();
    expect(await tree(place)).to.deep.equal({
      'Björk / Homogenic (1997)': ['-1 Hunter by Björk', '-2 Jóga by Björk'],
      'Ida / Mixed (null)': ['2-3 Song - Live by Ida'],
      'Nina Simone / Pastel Blues (1965)': ['1-1 Be My Husband by Nina Simone', '2-1 Sinnerman by Nina Simone'],
    });
  });

  it('opens no file at the second scan, and one at the next after a change', async () => {
    const place = await newPlace('music');
    const tags = { TALB: 'Kept', TPE1: 'Gil', TRCK: '1' };
    await put(place, 'Gil/Kept/1.mp3', { ...tags, TIT2: 'One' });
    await put(place, 'Gil/Kept/2.mp3', { ...tags, TIT2: 'Two', TRCK: '2' });
    await place.age();
    await place.scan();
    const before = await place.items();
    const second = await place.scan();
    expect(second.counts).to.include({ probed: 0, added: 0, updated: 0, unchanged: 2 });
    expect(await place.items()).to.deep.equal(before);
    await put(place, 'Gil/Kept/2.mp3', { ...tags, TIT2: 'Two, corrected', TRCK: '2' });
    expect((await place.scan()).counts).to.include({ probed: 1, updated: 1, unchanged: 1 });
    expect(await tree(place)).to.deep.equal({
      'Gil / Kept (null)': ['-1 One by Gil', '-2 Two, corrected by Gil'],
    });
    const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id).toSorted();
    expect(ids(await place.items())).to.deep.equal(ids(before));
  });

  it('keeps the items of tracks that move, and moves one whose album tag changes', async () => {
    const place = await newPlace('music');
    await put(place, 'Hal/Old/1.mp3', { TALB: 'Old', TPE1: 'Hal', TIT2: 'One', TRCK: '1' });
    await put(place, 'Hal/Old/2.mp3', { TALB: 'Old', TPE1: 'Hal', TIT2: 'Two', TRCK: '2' });
    await place.scan();
    const tracks = async () =>
      new Map((await place.items()).filter((i) => i.type === 'track').map((i) => [i.title, i.id]));
    const before = await tracks();
    await rename(join(place.path, 'Hal/Old'), join(place.path, 'Hal/New'));
    await put(place, 'Hal/New/2.mp3', { TALB: 'Moved', TPE1: 'Hal', TIT2: 'Two', TRCK: '2' });
    await place.scan();
    expect(await tree(place)).to.have.all.keys('Hal / Old (null)', 'Hal / Moved (null)');
    expect((await tracks()).get('One')).to.equal(before.get('One'));
  });

  it('finds covers next to the tracks, above the discs, and pictures of the artist', async () => {
    const place = await newPlace('music');
    const tags = { TALB: 'Pictured', TPE1: 'Jo' };
    await put(place, 'Jo/Pictured/CD1/1.mp3', { ...tags, TIT2: 'One', TPOS: '1' });
    await put(place, 'Jo/Pictured/CD2/1.mp3', { ...tags, TIT2: 'Two', TPOS: '2' });
    await place.put('Jo/Pictured/Folder.jpg', 'cover.jpg');
    await place.put('Jo/artist.jpg', 'cover.jpg');
    await place.scan();
    const { db } = place.api.deps;
    const pictures = async (type: string) => {
      const { local_artwork: found } = await db('items').where({ library_id: place.libraryId, type }).first();
      return Object.fromEntries(
        Object.entries(found as Record<string, { path: string }>).map(([kind, { path }]) => [
          kind,
          path.split('/').slice(1).join('/'),
        ]),
      );
    };
    expect(await pictures('album')).to.deep.equal({ cover: 'Jo/Pictured/Folder.jpg' });
    expect(await pictures('artist')).to.deep.equal({ square: 'Jo/artist.jpg' });
    await copyFile(join(place.made, 'cover.jpg'), join(place.path, 'Jo/Pictured/disc.png'));
    await utimes(join(place.path, 'Jo/Pictured/disc.png'), new Date(0), new Date(0));
    await place.scan();
    expect(await pictures('album')).to.have.all.keys('cover', 'disc');
  });
});
