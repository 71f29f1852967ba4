import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findKnownItems } from '#areas/libraries/public.ts';
import { writeTrack } from '#support/music-files.ts';
import { zipOf } from '#support/zip-files.ts';
import type { SavePlace } from '#workers/saving/places.ts';
import { saveMetadata } from '#workers/saving/save.ts';
import { SaveFolder } from '#workers/saving/writing.ts';
import { newSavingPlace, type SavingPlace } from './support.ts';

const FIELDS = {
  title: 'Heat & <Dust> "1"',
  originalTitle: 'Heat',
  sortTitle: 'heat 01',
  overview: 'A thief.\n\nA policeman; ]]> & <b>both</b>.',
  tagline: 'A Los Angeles crime saga',
  releasedOn: '1995-12-15',
  year: 1995,
  ageRating: 'FSK 16',
  rating: 8.3,
  genres: ['Crime', 'Drama'],
  tags: ['heist'],
  studios: ['Regency & Co'],
  countries: ['US'],
  originalLanguage: 'en',
  people: [
    { name: 'Al Pacino', role: 'actor', character: 'Hanna' },
    { name: 'Robert De Niro', role: 'actor', character: 'McCauley' },
    { name: 'Michael Mann', role: 'director' },
    { name: 'Michael Mann', role: 'writer' },
  ],
};

/** The shown values of an item, without what a library makes of its own accord. */
async function valuesOf(place: SavingPlace, title: string): Promise<Record<string, unknown>> {
  const known = await findKnownItems(place.api.deps.db, [await place.idOf(title)], { language: 'en', country: null });
  const values = Object.fromEntries(known[0]?.shown ?? []) as Record<string, unknown>;
  const people = values['people'] as { name: string; role: string; character?: string }[] | undefined;
  return {
    ...values,
    ...(people && { people: people.map(({ name, role, character }) => [name, role, character]) }),
  };
}

describe('metadata.save of values', function () {
  this.timeout(120_000);

  it('writes what a person edits, and another library reads the same values from it', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.scan();
    expect(await place.save(), 'a first scan writes nothing').to.include({ written: 0 });
    await place.edit('Heat', FIELDS);
    expect(await place.save()).to.include({ written: 1, foreign: 0 });
    expect(await place.filesIn('Heat (1995)')).to.deep.equal(['movie.nfo']);
    expect(await place.text('Heat (1995)/movie.nfo')).to.include(
      '<title>Heat &amp; &lt;Dust&gt; &quot;1&quot;</title>',
    );
    const other = await newSavingPlace('movies', {});
    await other.put('Heat (1995)/Heat (1995).mkv');
    await other.write('Heat (1995)/movie.nfo', await readFile(join(place.path, 'Heat (1995)/movie.nfo')));
    await other.scan();
    expect(await valuesOf(other, FIELDS.title)).to.deep.equal(await valuesOf(place, FIELDS.title));
    expect(await other.layers(FIELDS.title)).to.include('nfo');
  });

  it('is not read back by a scan, wherever the file was moved to, unless a person changed it', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    await place.put('Ran (1985)/Ran (1985).mkv');
    await place.scan();
    await place.edit('Ran', { overview: 'Of Foyer' });
    await place.save();
    const before = await place.api.deps
      .db('items')
      .where({ id: await place.idOf('Ran') })
      .first();
    const counts = (await place.scan()).counts;
    expect(counts).to.include({ added: 0, updated: 0, probed: 0 });
    expect(
      await place.api.deps
        .db('items')
        .where({ id: await place.idOf('Ran') })
        .first(),
    ).to.deep.equal(before);
    expect(await place.layers('Ran')).to.not.include('nfo');
    expect(await place.save(), 'nothing to write after a scan').to.include({ written: 0, same: 0 });

    await rename(join(place.path, 'Ran (1985)'), join(place.path, 'Ran (1985) [remux]'));
    await place.scan();
    expect(await place.layers('Ran')).to.not.include('nfo');
    const path = join(place.path, 'Ran (1985) [remux]/movie.nfo');
    await utimes(path, new Date(), new Date());
    await place.scan();
    expect(await place.layers('Ran'), 'another time, the same bytes').to.not.include('nfo');

    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('Of Foyer', 'Of a person'));
    await place.scan();
    expect(await place.layers('Ran')).to.include('nfo');
    await place.edit('Ran', { tagline: 'New' });
    expect(await place.save()).to.include({ written: 0, foreign: 1 });
    expect(await readFile(path, 'utf8'))
      .to.include('Of a person')
      .and.not.include('New');
  });

  it('writes its own file again, and never one that was there', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    await place.put('Up (2009)/Up (2009).mkv');
    await place.put('Her (2013)/Her (2013).mkv');
    await place.write('Her (2013)/Her (2013).nfo', Buffer.from('<movie><title>Her</title><plot>Mine</plot></movie>'));
    await place.scan();
    for (const title of ['Up', 'Her']) await place.edit(title, { tagline: 'One' });
    expect(await place.save()).to.include({ written: 1, foreign: 1 });
    await place.edit('Up', { tagline: 'Two' });
    expect(await place.save()).to.include({ written: 1 });
    expect(await place.text('Up (2009)/movie.nfo')).to.include('Two');
    expect(await place.filesIn('Her (2013)')).to.deep.equal(['Her (2013).nfo']);
    expect(await place.text('Her (2013)/Her (2013).nfo')).to.include('Mine');
    await rm(join(place.path, 'Up (2009)/movie.nfo'));
    await mkdir(join(place.path, 'Up (2009)/movie.nfo'));
    await place.edit('Up', { tagline: 'Three' });
    expect(await place.save(), 'a folder of this name').to.include({ foreign: 1 });
  });

  it('writes shows, seasons and episodes, which another library reads', async () => {
    const place = await newSavingPlace('shows', { saveNfo: true });
    await place.put('Dark/Season 01/Dark S01E01.mkv');
    await place.put('Dark/Season 01/Dark S01E02.mkv');
    await place.put('Dark/Season 02/Dark S02E01.mkv');
    await place.scan();
    await place.edit('Dark', { overview: 'A town', externalIds: { tmdb: '70523' } });
    await place.edit('Season 1', { overview: 'The first' });
    await place.edit('Episode 2', { title: 'Lügen', releasedOn: '2017-12-01' });
    expect(await place.save()).to.include({ written: 3 });
    expect(await place.filesIn('Dark')).to.include('tvshow.nfo');
    expect(await place.filesIn('Dark/Season 01')).to.deep.equal(['Dark S01E02.nfo', 'season.nfo']);
    expect(await place.text('Dark/tvshow.nfo')).to.include('<uniqueid type="tmdb" default="true">70523</uniqueid>');
    expect(await place.text('Dark/Season 01/Dark S01E02.nfo')).to.include('<season>1</season>');
    const other = await newSavingPlace('shows', {});
    for (const name of ['Dark S01E01.mkv', 'Dark S01E02.mkv']) await other.put(`Dark/Season 01/${name}`);
    for (const name of ['tvshow.nfo', 'Season 01/Dark S01E02.nfo'])
      await other.write(`Dark/${name}`, await readFile(join(place.path, 'Dark', name)));
    await other.scan();
    expect(await valuesOf(other, 'Dark')).to.deep.include({ overview: 'A town', externalIds: { tmdb: '70523' } });
    expect(await valuesOf(other, 'Lügen')).to.deep.include({ releasedOn: '2017-12-01' });
  });

  it('gives each of several films of a folder its own file, and the library folder none of a show', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    await place.put('Alien (1979).mkv');
    await place.put('Aliens (1986).mkv');
    await place.scan();
    await place.edit('Alien', { tagline: 'In space' });
    await place.save();
    expect(await place.filesIn('')).to.deep.equal(['Alien (1979).nfo']);
    const shows = await newSavingPlace('shows', { saveNfo: true });
    await shows.put('Dark S01E01.mkv');
    await shows.scan();
    await shows.edit('Dark', { tagline: 'Wann' });
    expect(await shows.save()).to.include({ written: 0, failed: 0 });
    expect(await shows.filesIn('')).to.deep.equal([]);
  });

  it('writes nothing on a storage that is read-only, and later on one that is gone', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    await place.put('Jaws (1975)/Jaws (1975).mkv');
    await place.scan();
    const storage = place.api.deps.db('storages').where({ id: place.api.given.storageId });
    await place.edit('Jaws', { tagline: 'Safe' });
    await storage.clone().update({ state: 'unavailable' });
    expect(await place.save()).to.deep.equal({ postponed: 1 });
    await storage.clone().update({ state: 'available', read_only: true });
    expect(await place.save()).to.include({ readOnly: 1, written: 0 });
    await storage.clone().update({ read_only: false });
    expect(await place.filesIn('Jaws (1975)')).to.deep.equal([]);
    await place.edit('Jaws', { tagline: 'Again' });
    expect(await place.save()).to.include({ written: 1 });
  });

  it('writes nothing in other libraries, and everything when the setting is turned on', async () => {
    const place = await newSavingPlace('movies', {});
    await place.put('Big (1988)/Big (1988).mkv');
    await place.scan();
    await place.edit('Big', { tagline: 'Small' });
    const { db } = place.api.deps;
    const jobs = () => db('jobs').where({ kind: 'metadata.save', library_id: place.libraryId }).select('payload');
    expect(await db('pending_saves').where({ library_id: place.libraryId })).to.deep.equal([]);
    expect(await jobs()).to.deep.equal([]);
    const body = { settings: { saveNfo: true } };
    await place.api.as(place.editor).updateLibrary({ params: { id: place.libraryId }, body } as never);
    const [job] = await jobs();
    expect(job?.payload).to.deep.equal({ libraryId: place.libraryId, all: ['nfo'] });
    await saveMetadata({ libraryId: place.libraryId, all: ['nfo'] }, place.work());
    expect(await place.save()).to.include({ written: 1 });
  });

  it('knows a file as its own that two processes write at once', async () => {
    const place = await newSavingPlace('movies', {});
    await place.put('Tron (1982)/Tron (1982).mkv');
    const { db, storageId } = { db: place.api.deps.db, storageId: place.api.given.storageId };
    const directory = `${place.path.split('/').at(-1)}/Tron (1982)`;
    const at = { storageId, directory, absolute: join(place.path, 'Tron (1982)') } as SavePlace;
    const library = { id: place.libraryId, type: 'movies' };
    for (const n of [1, 2, 3, 4, 5]) {
      const write = async () => (await SaveFolder.open(db, library, at)).write(`${n}.nfo`, Buffer.from(`<movie>${n}`));
      expect((await Promise.all([write(), write(), write()])).sort()).to.deep.equal(['same', 'same', 'written']);
    }
    const rows = await db('saved_files').where({ library_id: place.libraryId }).whereNotNull('modified_ms');
    expect(rows).to.have.length(5);
  });

  it('stops at once when the setting is turned off', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    for (const title of ['One', 'Two', 'Three']) await place.put(`${title} (2001)/${title} (2001).mkv`);
    await place.scan();
    for (const title of ['One', 'Two', 'Three']) await place.edit(title, { tagline: 'x' });
    const { db } = place.api.deps;
    await db.raw(`create function off() returns trigger language plpgsql as $$ begin
      update libraries set settings = '{}' where id = new.library_id; return new; end $$`);
    await db.raw('create trigger off after insert on saved_files for each row execute function off()');
    const done = await place.save();
    await db.raw('drop trigger off on saved_files; drop function off');
    expect(done['written']).to.equal(1);
  });

  it('takes no half of a file: what a kill left behind is hidden', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    await place.put('Cube (1997)/Cube (1997).mkv');
    await place.scan();
    const left = [randomUUID(), randomUUID()].map((id) => join(place.path, `Cube (1997)/.foyer-${id}.tmp`));
    for (const path of [...left, join(place.path, 'Cube (1997)/.foyer-mine.tmp')]) await appendFile(path, '<movie>');
    const [old = '', young = ''] = left;
    await utimes(old, new Date(0), new Date(0));
    await place.edit('Cube', { tagline: 'Out' });
    expect(await place.save()).to.include({ written: 1 });
    expect((await place.scan()).issues).to.deep.equal([]);
    expect([existsSync(old), existsSync(young)], 'a save that may still run keeps its file').to.deep.equal([
      false,
      true,
    ]);
    await utimes(young, new Date(0), new Date(0));
    await place.edit('Cube', { tagline: 'In' });
    await place.save();
    expect(await place.filesIn('Cube (1997)')).to.deep.equal(['.foyer-mine.tmp', 'movie.nfo']);
  });

  it('writes custom values that everyone sees, and an edit of them alone is written', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    const admin = place.api.as(place.editor);
    const options = ['dvd', 'vhs'].map((value) => ({ value, label: value }));
    for (const field of [
      { key: 'shelf', kind: 'text' as const },
      { key: 'media', kind: 'choices' as const, options },
      { key: 'price', kind: 'number' as const, audience: 'editors' as const },
    ])
      expect(
        (await admin.createCustomField({ body: { label: field.key, itemTypes: ['movie'], ...field } })).status,
      ).to.equal(201);
    await place.put('Rope (1948)/Rope (1948).mkv');
    await place.scan();
    await place.edit('Rope', { custom: { shelf: 'A & B', media: ['vhs', 'dvd'], price: 3 } });
    expect(await place.save()).to.include({ written: 1 });
    const text = await place.text('Rope (1948)/movie.nfo');
    expect(text).to.include('<field key="shelf">A &amp; B</field>').and.not.include('price');
    expect(text.match(/key="media">\w+/g)).to.deep.equal(['key="media">vhs', 'key="media">dvd']);
    await place.edit('Rope', { custom: { shelf: null } });
    expect(await place.save()).to.include({ written: 1 });
    expect(await place.text('Rope (1948)/movie.nfo')).to.not.include('shelf');
    await place.scan();
    expect(await place.layers('Rope')).to.not.include('nfo');
  });

  it('renews its file when media or their folder are renamed, and removes the former one only while it is its own', async () => {
    const place = await newSavingPlace('movies', { saveNfo: true });
    for (const name of ['Alien (1979)', 'Brazil (1985)', 'Contact (1997)']) await place.put(`${name}.mkv`);
    await place.scan();
    for (const title of ['Alien', 'Brazil', 'Contact']) await place.edit(title, { tagline: `Of ${title}` });
    expect(await place.save()).to.include({ written: 3 });
    await writeFile(join(place.path, 'Contact (1997).nfo'), '<movie><title>Contact</title><plot>Mine</plot></movie>');
    const move = (from: string, to: string) => rename(join(place.path, from), join(place.path, to));
    await move('Alien (1979).mkv', 'Alien (1979) [remux].mkv');
    await move('Contact (1997).mkv', 'Contact (1997) [remux].mkv');
    await mkdir(join(place.path, 'Brazil (1985)'));
    await move('Brazil (1985).mkv', 'Brazil (1985)/Brazil (1985).mkv');
    await place.scan();
    expect(await place.save()).to.include({ written: 3 });
    expect(await place.filesIn('')).to.deep.equal([
      ...['Alien (1979) [remux].nfo', 'Brazil (1985)', 'Contact (1997) [remux].nfo', 'Contact (1997).nfo'],
    ]);
    expect(await place.text('Contact (1997).nfo')).to.include('Mine');
    expect(await place.text('Brazil (1985)/movie.nfo')).to.include('Of Brazil');
    await place.put('Brazil (1985)/Other (1990).mkv');
    await move('Brazil (1985)', 'Terry');
    await place.scan();
    await place.edit('Brazil', { tagline: 'Again' });
    await place.save();
    expect(await place.filesIn('Terry'), 'no longer alone in the folder that was renamed').to.deep.equal([
      'Brazil (1985).nfo',
    ]);
    expect((await place.scan()).counts).to.include({ added: 0, updated: 0 });
  });
});

describe('metadata.save of other types', function () {
  this.timeout(120_000);

  it('writes albums and artists into their own folders, and comics next to each other', async () => {
    const music = await newSavingPlace('music', { saveNfo: true });
    for (const [n, title] of ['One', 'Two'].entries())
      await writeTrack(join(music.path, `Cure/Faith/0${n + 1} ${title}.mp3`), {
        ...{ TPE1: 'Cure', TPE2: 'Cure', TALB: 'Faith', TIT2: title, TRCK: String(n + 1) },
      });
    await music.scan();
    await music.edit('Faith', { overview: 'Grey' });
    await music.edit('Cure', { overview: 'Of Crawley' });
    expect(await music.save()).to.include({ written: 2 });
    expect(await music.text('Cure/Faith/album.nfo')).to.include('<review>Grey</review>');
    expect(await music.text('Cure/artist.nfo')).to.include('<biography>Of Crawley</biography>');
    const comics = await newSavingPlace('comics', { saveNfo: true });
    for (const number of ['01', '02'])
      await comics.write(`Saga/Saga ${number}.cbz`, zipOf({ '1.jpg': Buffer.from(comics.libraryId + number) }));
    await comics.scan();
    await comics.edit('Saga 2', { overview: 'War' });
    await comics.save();
    expect(await comics.filesIn('Saga')).to.deep.equal(['Saga 02.ComicInfo.xml']);
    expect(await comics.text('Saga/Saga 02.ComicInfo.xml')).to.include('<Number>2</Number>');
  });
});
