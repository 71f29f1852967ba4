import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newPlace, type Place } from './support.ts';

interface Shown {
  title: string;
  poster: string | undefined;
}

async function shown(place: Place, type: string): Promise<Shown[]> {
  const rows = await place.api.deps.db('items').where({ library_id: place.libraryId, type, availability: null });
  return rows.map(({ title, local_artwork: { poster } }) => ({
    title,
    poster: poster?.path.slice(poster.path.indexOf('/') + 1),
  }));
}

/** Two directories that describe one item each in its own way, the first in the order of a listing first. */
const SHARED: Readonly<Record<string, { item: string; first: string; second: string; nfo: string; root: string }>> = {
  movies: { item: 'movie', first: 'A/Up (2009)', second: 'B/Up (2009)', nfo: 'movie.nfo', root: 'movie' },
  shows: { item: 'show', first: 'A/Lost', second: 'B/Lost', nfo: 'tvshow.nfo', root: 'tvshow' },
};

async function fill(place: Place, type: string, which: 'first' | 'second'): Promise<void> {
  const { [which]: directory, nfo, root } = SHARED[type] as (typeof SHARED)[string];
  const video = which === 'first' ? 'tiny.mkv' : 'h264-base.mkv';
  const number = which === 'first' ? 1 : 2;
  const name = type === 'movies' ? `Up (2009) - ${number}080p` : `Lost S01E0${number}`;
  await place.put(`${directory}/${name}.mkv`, video);
  await writeFile(join(place.path, directory, nfo), `<${root}><title>The ${which}</title></${root}>`);
  await writeFile(join(place.path, directory, 'poster.jpg'), which);
}

describe('an item that several directories describe', function () {
  this.timeout(120_000);

  for (const [type, { item, first, second }] of Object.entries(SHARED)) {
    it(`takes title and pictures from the first of them, whichever changed last: ${item}`, async () => {
      const place = await newPlace(type);
      await fill(place, type, 'second');
      await place.scan();
      await fill(place, type, 'first');
      await place.scan();
      const expected = [{ title: 'The first', poster: `${first}/poster.jpg` }];
      expect(await shown(place, item)).to.deep.equal(expected);
      await writeFile(join(place.path, second, 'poster.jpg'), 'another one');
      await place.scan();
      expect(await shown(place, item)).to.deep.equal(expected);
    });

    it(`takes them from the second when the first is gone: ${item}`, async () => {
      const place = await newPlace(type, { guardMinimum: 1000 });
      await fill(place, type, 'first');
      await fill(place, type, 'second');
      await place.scan();
      await rm(join(place.path, first), { recursive: true });
      await place.scan();
      expect(await shown(place, item)).to.deep.equal([{ title: 'The second', poster: `${second}/poster.jpg` }]);
    });
  }

  it('knows pictures of a show in a folder without videos, and that they went', async () => {
    const place = await newPlace('shows');
    await fill(place, 'shows', 'second');
    await place.put('A/Lost/poster.jpg', 'tiny.mkv');
    await place.scan();
    expect(await shown(place, 'show')).to.deep.equal([{ title: 'The second', poster: 'A/Lost/poster.jpg' }]);
    await rm(join(place.path, 'A/Lost'), { recursive: true });
    await place.scan();
    expect(await shown(place, 'show')).to.deep.equal([{ title: 'The second', poster: 'B/Lost/poster.jpg' }]);
  });

  it('gives pictures of a folder to the episodes below it, under any name', async () => {
    const place = await newPlace('shows');
    await place.put('Box/Lost.S01.1080p/Lost S01E01.mkv');
    await place.scan();
    await writeFile(join(place.path, 'Box/tvshow.nfo'), '<tvshow><title>Named</title></tvshow>');
    await place.scan();
    expect((await shown(place, 'show')).map(({ title }) => title)).to.deep.equal(['Named']);
  });

  it('labels the version that stays when the other one moved to another library', async () => {
    const [one, other] = [await newPlace('movies'), await newPlace('movies')];
    await one.put('Up (2009)/Up (2009).mkv');
    await one.put('Up (2009)/Up (2009) - 480p.mkv', 'h264-base.mkv');
    await one.age();
    await one.scan();
    await rename(join(one.path, 'Up (2009)/Up (2009) - 480p.mkv'), join(other.path, 'Up (2009).mkv'));
    await one.age();
    await other.scan();
    await one.scan();
    expect((await one.files()).map(({ edition }) => edition)).to.deep.equal([null]);
  });

  it('continues when a known file is no media any more', async () => {
    const place = await newPlace('movies');
    await place.put('Up (2009)/Up (2009).mkv');
    await place.scan();
    await writeFile(join(place.path, 'Up (2009)/Up (2009).mkv'), 'not a film');
    const { state } = await place.scan();
    const [file] = await place.files();
    expect([state, file?.probe_fault]).to.deep.equal(['completed', 'not-media']);
  });

  it('takes an edited title although the only new episode is no media', async () => {
    const place = await newPlace('shows');
    const folder = join(place.path, 'Lost');
    await place.put('Lost/Lost S01E01.mkv');
    await writeFile(join(folder, 'tvshow.nfo'), '<tvshow><title>Before</title></tvshow>');
    await place.scan();
    await writeFile(join(folder, 'tvshow.nfo'), '<tvshow><title>After</title></tvshow>');
    await writeFile(join(folder, 'Lost S01E02.mkv'), 'no media');
    await place.scan();
    expect((await shown(place, 'show')).map(({ title }) => title)).to.deep.equal(['After']);
  });
});
